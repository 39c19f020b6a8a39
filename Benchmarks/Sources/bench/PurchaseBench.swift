// SPDX-License-Identifier: Apache-2.0

import CSlowSync
import Commerce
import Foundation
import Live
import Shop
import Storage
import StorageSQLite
import StoreWire

/// Durable purchases through HTTP, against a bare handler with the same SQL
/// and one signature, and against durable commits of one row.
struct PurchaseBench {
    let requests = 3840
    let pairs = 7

    func run() async throws -> [Pairs] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-purchases-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try await BenchWorld.start(in: folder)
        var figures: [Pairs] = []
        for connections in [1, 64] {
            figures.append(try await againstBareHandler(world, connections))
        }
        figures.append(try await againstCommits(world, folder))
        figures.append(try await againstSlowerCommits(world, folder))
        await world.stop()
        return figures
    }

    private func againstBareHandler(_ world: BenchWorld, _ connections: Int) async throws -> Pairs {
        var figure = Pairs(
            "purchase through HTTP / bare handler, \(connections) connection(s)", atLeast: 0.6)
        _ = try load(world.store, connections)
        _ = try load(world.bare, connections)
        for number in 1...pairs {
            progress("purchases, \(connections) connection(s), pair \(number) of \(pairs)")
            let bare = try load(world.bare, connections)
            figure.add(bare: bare, ours: try load(world.store, connections))
            progress(rates(bare, figure.seconds.last ?? 0))
        }
        return figure
    }

    private func againstCommits(_ world: BenchWorld, _ folder: URL) async throws -> Pairs {
        try await againstCommits(
            world, folder,
            Pairs("purchase through HTTP / durable commit of one row, 1 connection", atLeast: nil))
    }

    /// Where a sync costs both a millisecond more, as on other disks.
    private func againstSlowerCommits(_ world: BenchWorld, _ folder: URL) async throws -> Pairs {
        slow_sync_microseconds(1000)
        defer { slow_sync_microseconds(0) }
        return try await againstCommits(
            world, folder, Pairs("the same where a sync takes 1 ms more", atLeast: 0.5))
    }

    private func againstCommits(
        _ world: BenchWorld, _ folder: URL, _ figure: Pairs
    ) async throws -> Pairs {
        let rows = try await RowCommits(folder: folder)
        var figure = figure
        for number in 1...pairs {
            progress("\(figure.name), pair \(number) of \(pairs)")
            let bare = try await secondsAwaited { try await rows.commit(requests) }
            figure.add(bare: bare, ours: try load(world.store, 1))
            progress(rates(bare, figure.seconds.last ?? 0))
        }
        return figure
    }

    private func rates(_ bare: Double, _ ours: Double) -> String {
        String(
            format: "    %.0f a second bare, %.0f ours", Double(requests) / bare,
            Double(requests) / ours)
    }

    private func load(_ end: BenchWorld.End, _ connections: Int) throws -> Double {
        try LoadProcess.run(
            port: end.port, connections: connections, requests: requests, token: end.token,
            path: end.path, run: UInt32.random(in: .min ... .max))
    }
}

/// Commits of one row each, synced, one after the other.
private struct RowCommits {
    let storage: SQLiteStorage
    private static let insert = Statement(
        "rows.insert", [.text], "INSERT INTO rows (name) VALUES ($1)")

    init(folder: URL) async throws {
        storage = try await SQLiteStorage.open(
            file: folder.appendingPathComponent("rows.sqlite").path,
            migrations: [
                Migration(1, "rows", ["CREATE TABLE rows (name TEXT NOT NULL PRIMARY KEY) STRICT"])
            ])
    }

    func commit(_ count: Int) async throws {
        for _ in 0..<count {
            let name = UUID().uuidString
            try await storage.write { try $0.execute(Self.insert, [.text(name)]) }
        }
    }
}
