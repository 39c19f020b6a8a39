// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import TestSupport
import Testing

@Suite(.unforgiven, .timeLimit(.minutes(5))) struct MigrationTests {
    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        folder = try temporaryFolder("migrations")
        file = folder.file("shelf.sqlite")
    }

    private func open(_ migrations: [Migration]) async throws -> SQLiteStorage {
        try await SQLiteStorage.open(file: file, migrations: migrations)
    }

    @Test func `opening again keeps what was there and takes only new steps`() async throws {
        let first = try await open(Array(Shelf.migrations.prefix(1)))
        try await first.putJar(1, "a")
        try await first.close()
        let second = try await open(Shelf.migrations)
        try await second.write { try $0.execute(Shelf.insertTaking, [.integer(1), .integer(1)]) }
        try await second.close()
        let third = try await open(Shelf.migrations)
        #expect(try await third.count() == 1)
        let steps = Statement("steps", "SELECT * FROM schema_migrations ORDER BY number")
        let names = try await third.read { try $0.query(steps, []).map { try $0.text("name") } }
        #expect(names == ["jars", "takings"])
        try await third.close()
    }

    @Test func `an edited step is refused`() async throws {
        try await open(Shelf.migrations).close()
        var edited = Shelf.migrations
        edited[1] = Migration(2, "takings", [edited[1].statements[0]])
        let met = try await fault { try await open(edited) }
        #expect(met?.code == .unreadable)
        #expect(met?.reason.contains("migration 2 (takings) is not the one") == true)
    }

    @Test func `a database newer than the program is refused`() async throws {
        try await open(Shelf.migrations).close()
        let met = try await fault { try await open(Array(Shelf.migrations.prefix(1))) }
        #expect(met?.code == .unreadable)
        #expect(met?.reason.contains("newer version of the program") == true)
    }

    @Test func `a failing step leaves the schema as it was`() async throws {
        try await open(Shelf.migrations).close()
        let broken =
            Shelf.migrations + [
                Migration(3, "broken", ["ALTER TABLE jars ADD COLUMN color TEXT", "NO SUCH VERB"])
            ]
        let met = try await fault { try await open(broken) }
        #expect(met?.code == .engine)
        #expect(met?.reason.contains("migration 3, broken") == true)
        let storage = try await open(Shelf.migrations)
        try await storage.putJar(1, "a")
        try await storage.close()
    }

    @Test func `another program's database is refused`() async throws {
        let other = Migration(1, "other", ["CREATE TABLE other (a INTEGER NOT NULL) STRICT"])
        let storage = try await open([other])
        try await storage.write { transaction in
            try transaction.execute(Statement("drop", "DROP TABLE schema_migrations"), [])
        }
        try await storage.close()
        let met = try await fault { try await open(Shelf.migrations) }
        #expect(met?.code == .unreadable)
        #expect(met?.reason.contains("another program's") == true)
    }

    @Test func `a file that is no database is refused`() async throws {
        var generator = SeededGenerator(7)
        try Data(generator.bytes(8192)).write(to: URL(fileURLWithPath: file))
        #expect(try await fault { try await open(Shelf.migrations) }?.code == .unreadable)
    }

    @Test func `tables must be strict, and booleans are checked`() async throws {
        let loose = Migration(1, "loose", ["CREATE TABLE a (b INTEGER NOT NULL)"])
        let met = try await fault { try await open([loose]) }
        #expect(met?.reason.contains("STRICT") == true)
        let added = Migration(3, "flag", ["ALTER TABLE jars ADD COLUMN cracked BOOLEAN"])
        let storage = try await SQLiteStorage.open(
            file: nil, migrations: Shelf.migrations + [added])
        try await storage.putJar(1, "a")
        let crack = Statement("crack", [.integer], "UPDATE jars SET cracked = $1")
        let refused = try await fault {
            try await storage.write { try $0.execute(crack, [.integer(2)]) }
        }
        #expect(refused?.code == .constraint)
    }
}
