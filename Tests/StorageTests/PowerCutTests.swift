// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import TestSupport
import Testing

/// The files of a database as a power cut leaves them.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct PowerCutTests {
    private let folder: TemporaryFolder
    private let file: String
    private let commits: Int64 = 40

    init() throws {
        folder = try temporaryFolder("powercut")
        file = folder.file("shelf.sqlite")
    }

    /// Two rows a commit, and none half there.
    private func fill(_ storage: any Storage) async throws {
        for id in 1...commits {
            try await storage.write { transaction in
                try transaction.execute(Shelf.insert, Shelf.values(id, "jar \(id)"))
                try transaction.execute(Shelf.insertTaking, [.integer(id), .integer(1)])
            }
        }
    }

    private func reopened(_ copy: String) async throws -> [Int64] {
        let storage = try await SQLiteStorage.open(file: copy, migrations: Shelf.migrations)
        let pairs = Statement(
            "pairs",
            """
            SELECT jars.id AS jar, takings.jar_id AS taken FROM jars
            FULL JOIN takings ON takings.jar_id = jars.id ORDER BY jars.id NULLS FIRST
            """)
        let ids = try await storage.read { transaction in
            try transaction.query(pairs, []).map { row in
                let jar = try row.integer("jar")
                #expect(try row.integer("taken") == jar)
                return jar
            }
        }
        try await storage.close()
        return ids
    }

    @Test func `every commit that was answered is there`() async throws {
        let storage = try await SQLiteStorage.open(file: file, migrations: Shelf.migrations)
        try await fill(storage)
        let copy = folder.file("copy.sqlite")
        try FileManager.default.copyItem(atPath: file, toPath: copy)
        try FileManager.default.copyItem(atPath: file + "-wal", toPath: copy + "-wal")
        try await storage.close()
        #expect(try await reopened(copy) == Array(1...commits))
    }

    @Test(arguments: Seeds.all)
    func `a log cut anywhere holds the first commits, whole`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed)
        try await SQLiteStorage.open(file: file, migrations: Shelf.migrations).close()
        let storage = try await SQLiteStorage.open(file: file, migrations: Shelf.migrations)
        try await fill(storage)
        let database = try Data(contentsOf: URL(fileURLWithPath: file))
        let log = try Data(contentsOf: URL(fileURLWithPath: file + "-wal"))
        try await storage.close()
        for round in 0..<10 {
            let copy = folder.file("copy\(round).sqlite")
            let count = generator.integer(in: 0...log.count)
            try database.write(to: URL(fileURLWithPath: copy))
            try log.prefix(count).write(to: URL(fileURLWithPath: copy + "-wal"))
            let ids = try await reopened(copy)
            #expect(ids == (0..<Int64(ids.count)).map { $0 + 1 }, "cut at \(count)")
        }
    }
}
