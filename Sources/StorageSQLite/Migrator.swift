// SPDX-License-Identifier: Apache-2.0

import GRDB
import Storage

/// Brings a database to the last migration in one commit. Rejects a database
/// that other migrations were applied to.
struct Migrator {
    private let connection: Database

    init(_ connection: Database) {
        self.connection = connection
    }

    func migrate(to migrations: [Migration]) throws {
        try connection.inTransaction(.immediate) {
            let history = try MigrationHistory(taken: takenSteps(), known: migrations)
            for migration in history.pending { try take(migration) }
            return .commit
        }
    }

    private func takenSteps() throws -> [MigrationHistory.Step] {
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
        return rows.map {
            MigrationHistory.Step(
                number: $0["number"], name: $0["name"], checksum: $0["checksum"])
        }
    }

    private func take(_ migration: Migration) throws {
        do {
            for statement in migration.statements {
                try connection.execute(sql: try SQLiteDDL.translate(statement))
            }
            for row in migration.firstRows { try connection.execute(sql: row) }
        } catch {
            throw StorageFault(error, in: "migration \(migration.number), \(migration.name)")
        }
        try connection.execute(
            sql: "INSERT INTO schema_migrations (number, name, checksum) VALUES (?, ?, ?)",
            arguments: [migration.number, migration.name, migration.checksum])
    }
}
