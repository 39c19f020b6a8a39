// SPDX-License-Identifier: Apache-2.0

import CForgetfulDisk
import Foundation
import GRDB
import Storage
import TestSupport
import Testing

@testable import StorageSQLite

/// The power fails before any write or sync of a workload, and what was not
/// synced is lost, kept or torn.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct PowerLossTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try temporaryFolder("powerloss")
        #expect(forgetful_disk_register() == 0)
    }

    /// What one life of a database was told.
    private struct Life {
        var acknowledged: Set<Int64> = []
        var operations = 0
        var syncs = 0
        var bytesAtRisk = 0
    }

    /// Four writers, each writing jar and taking in one commit, until the
    /// power fails or all is written; then the power fails.
    private func live(
        _ file: String, failing: Int, seed: UInt64, movesLog: Bool = false
    ) async throws -> Life {
        forgetful_disk_insert(file, failing)
        var options = SQLiteOptions(vfs: String(cString: forgetful_disk_name))
        if movesLog { (options.logPagesMin, options.logPagesRest) = (3, 1) }
        var life = Life()
        if let storage = try? await SQLiteStorage.open(
            file: file, migrations: Shelf.migrations, options: options)
        {
            life.acknowledged = await withTaskGroup(of: [Int64].self) { group in
                for writer in 0..<Int64(4) {
                    group.addTask { await Self.write(storage, writer) }
                }
                return await group.reduce(into: []) { $0.formUnion($1) }
            }
            life.operations = forgetful_disk_operations(file)
            life.syncs = forgetful_disk_syncs(file)
            try? await storage.close()
        }
        life.bytesAtRisk = forgetful_disk_settle(file, seed)
        return life
    }

    private static func write(_ storage: any Storage, _ writer: Int64) async -> [Int64] {
        var acknowledged: [Int64] = []
        for number in 0..<Int64(5) {
            let id = writer * 100 + number
            do {
                try await storage.write { transaction in
                    try transaction.execute(Shelf.insert, Shelf.values(id, "jar \(id)"))
                    try transaction.execute(Shelf.insertTaking, [.integer(id), .integer(1)])
                }
            } catch {
                return acknowledged
            }
            acknowledged.append(id)
        }
        return acknowledged
    }

    /// The jars that are there, each with its taking; the file is sound.
    private func reopened(_ file: String) async throws -> Set<Int64> {
        let storage = try await SQLiteStorage.open(file: file, migrations: Shelf.migrations)
        let check = PortStatement("check", "SELECT * FROM pragma_integrity_check")
        let jars = PortStatement("jars.ids", "SELECT id FROM jars ORDER BY id")
        let takings = PortStatement("takings.ids", "SELECT jar_id AS id FROM takings ORDER BY id")
        let answer = try await storage.read { transaction in
            #expect(try transaction.first(check)?.text("integrity_check") == "ok")
            let ids = try transaction.query(jars, []).map { try $0.integer("id") }
            #expect(try transaction.query(takings, []).map { try $0.integer("id") } == ids)
            return Set(ids)
        }
        try await storage.close()
        return answer
    }

    /// Also while the log is moved into the database beside the writes.
    @Test(arguments: [false, true])
    func `wherever the power fails, what was acknowledged is there`(movesLog: Bool) async throws {
        let whole = try await live(
            folder.file("whole.sqlite"), failing: -1, seed: 0, movesLog: movesLog)
        #expect(whole.acknowledged.count == 20)
        #expect(try await reopened(folder.file("whole.sqlite")) == whole.acknowledged)

        var bytesAtRisk = 0
        for failing in 0...whole.operations {
            let file = folder.file("cut\(failing).sqlite")
            let life = try await live(
                file, failing: failing, seed: UInt64(failing), movesLog: movesLog)
            bytesAtRisk += life.bytesAtRisk
            let there = try await reopened(file)
            #expect(life.acknowledged.isSubset(of: there), "power failed before \(failing)")
        }
        #expect(bytesAtRisk > 0)
    }

    @Test(arguments: Seeds.all)
    func `a second life goes on where the first was cut`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed)
        let file = folder.file("shelf.sqlite")
        var acknowledged: Set<Int64> = []
        for _ in 0..<6 {
            let life = try await live(
                file, failing: generator.integer(in: 0...120), seed: generator.next())
            acknowledged.formUnion(life.acknowledged)
            #expect(acknowledged.isSubset(of: try await reopened(file)))
        }
    }

    @Test func `the disk detects a missing sync`() throws {
        var lost = 0
        for seed in UInt64(0)..<8 {
            let file = folder.file("normal\(seed).sqlite")
            forgetful_disk_insert(file, 60)
            var configuration = Configuration()
            configuration.journalMode = .wal
            let database = try DatabaseQueue(
                path: "file:\(file)?vfs=\(String(cString: forgetful_disk_name))",
                configuration: configuration)
            var acknowledged = 0
            // GRDB's own choice in this mode is NORMAL.
            do {
                try database.write { try $0.execute(sql: "CREATE TABLE jars (id INTEGER)") }
                while acknowledged < 100 {
                    try database.write { try $0.execute(sql: "INSERT INTO jars VALUES (1)") }
                    acknowledged += 1
                }
            } catch is DatabaseError {}
            try? database.close()
            #expect(acknowledged > 0 && acknowledged < 100)
            forgetful_disk_settle(file, seed)
            let left = try DatabaseQueue(path: file)
            let count = try left.read { connection in
                try connection.tableExists("jars")
                    ? Int.fetchOne(connection, sql: "SELECT count(*) FROM jars") ?? 0 : 0
            }
            lost += max(0, acknowledged - count)
            try left.close()
        }
        #expect(lost > 0)
    }
}
