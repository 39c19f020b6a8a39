// SPDX-License-Identifier: Apache-2.0

import CSlowSync
import Foundation
import Storage
import StorageSQLite

/// Group commit where a sync costs what it does on other disks: 1 and 5 ms
/// more than here. Whoever waits shares the next sync, so that rows a second
/// rise with those who write at the same time.
struct GroupBench {
    private static let insert = Statement(
        "groups.insert", [.text], "INSERT INTO rows (name) VALUES ($1)")
    let pairs = 7

    func run() async throws -> (figures: [Pairs], notes: [String]) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-groups-\(getpid())")
        defer {
            slow_sync_microseconds(0)
            try? FileManager.default.removeItem(at: folder)
        }
        let storage = try await SQLiteStorage.open(
            file: folder.appendingPathComponent("rows.sqlite").path,
            migrations: [
                Migration(1, "rows", ["CREATE TABLE rows (name TEXT NOT NULL PRIMARY KEY) STRICT"])
            ])
        var figures: [Pairs] = []
        var notes: [String] = []
        for milliseconds in [1, 5] {
            for writers in [8, 64] {
                let (figure, note) = try await measure(storage, milliseconds, writers)
                figures.append(figure)
                notes.append(note)
            }
        }
        try await storage.close()
        return (figures, notes)
    }

    /// Writers at the same time against one, as many rows for each sync that
    /// one would have had.
    private func measure(
        _ storage: SQLiteStorage, _ milliseconds: Int, _ writers: Int
    ) async throws -> (Pairs, String) {
        slow_sync_microseconds(milliseconds * 1000)
        defer { slow_sync_microseconds(0) }
        let each = max(20, 200 / milliseconds)
        let sync = "a sync takes \(milliseconds) ms more"
        // Near a half: those who were answered together come back while the
        // others' commit is under way, so that two groups take turns.
        var figure = Pairs(
            "rows a second, \(writers) writers / \(writers) times one, \(sync)", atLeast: nil)
        var rates: [Double] = []
        var shares: [Double] = []
        for number in 1...pairs {
            progress("groups, \(sync), \(writers) writers, pair \(number) of \(pairs)")
            let one = try await secondsAwaited { try await write(storage, 1, each) }
            let syncs = slow_sync_count()
            let all = try await secondsAwaited { try await write(storage, writers, each) }
            shares.append(Double(writers * each) / Double(slow_sync_count() - syncs))
            rates.append(Double(writers * each) / all)
            figure.add(bare: one, ours: all)
        }
        let note = String(
            format: "%@, %d writers: %.0f rows a second, %.1f rows a sync", sync, writers,
            rates.sorted()[pairs / 2], shares.sorted()[pairs / 2])
        return (figure, note)
    }

    private func write(_ storage: SQLiteStorage, _ writers: Int, _ each: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<writers {
                group.addTask {
                    for _ in 0..<each {
                        let name = UUID().uuidString
                        try await storage.write { try $0.execute(Self.insert, [.text(name)]) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
