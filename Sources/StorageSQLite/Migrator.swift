// SPDX-License-Identifier: Apache-2.0

import GRDB
import Storage

/// Brings a database to the last migration, in one commit, and refuses one
/// whose past is not ours.
struct Migrator {
    private let connection: Database

    init(_ connection: Database) {
        self.connection = connection
    }

    func migrate(to migrations: [Migration]) throws {
        for (index, migration) in migrations.enumerated() {
            precondition(
                migration.number == index + 1, "migrations are numbered from 1 without gaps")
        }
        try connection.inTransaction(.immediate) {
            let taken = try takenSteps()
            try checkPast(taken, migrations)
            for migration in migrations.dropFirst(taken.count) { try take(migration) }
            return .commit
        }
    }

    private struct Taken {
        let number: Int
        let name: String
        let checksum: String
    }

    private func takenSteps() throws -> [Taken] {
        if try !connection.tableExists("schema_migrations") {
            let foreign = try String.fetchOne(
                connection, sql: "SELECT name FROM sqlite_schema ORDER BY name LIMIT 1")
            if let foreign {
                throw StorageFault(
                    .unreadable,
                    "the database holds \(foreign) and no schema_migrations: it is another "
                        + "program's; choose another file")
            }
            try connection.execute(
                sql: """
                    CREATE TABLE schema_migrations (
                        number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL,
                        checksum TEXT NOT NULL
                    ) STRICT
                    """)
        }
        let rows = try GRDB.Row.fetchAll(
            connection, sql: "SELECT number, name, checksum FROM schema_migrations ORDER BY number")
        return rows.map { Taken(number: $0["number"], name: $0["name"], checksum: $0["checksum"]) }
    }

    private func checkPast(_ taken: [Taken], _ known: [Migration]) throws {
        for (index, step) in taken.enumerated() {
            guard index < known.count, step.number == known[index].number else {
                throw StorageFault(
                    .unreadable,
                    "the database has taken migration \(step.number) (\(step.name)), and this "
                        + "program knows \(known.count): use a newer version of the program")
            }
            guard step.checksum == known[index].checksum else {
                throw StorageFault(
                    .unreadable,
                    "migration \(step.number) (\(step.name)) is not the one this database took: "
                        + "a released migration is never edited; add a new one")
            }
        }
    }

    private func take(_ migration: Migration) throws {
        for statement in migration.statements {
            do {
                try connection.execute(sql: try SQLiteDDL.translate(statement))
            } catch {
                throw StorageFault(error, in: "migration \(migration.number), \(migration.name)")
            }
        }
        try connection.execute(
            sql: "INSERT INTO schema_migrations (number, name, checksum) VALUES (?, ?, ?)",
            arguments: [migration.number, migration.name, migration.checksum])
    }
}

extension Migration {
    /// A 64-bit FNV-1a hash of name and statements, in hexadecimal: it
    /// guards against an accidental edit, not against an enemy.
    var checksum: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for text in [name] + statements {
            for byte in Array(text.utf8) + [0] {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
