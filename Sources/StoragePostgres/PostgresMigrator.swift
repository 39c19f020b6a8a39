// SPDX-License-Identifier: Apache-2.0

import Storage

/// Brings a schema to the last migration, in one commit, while it holds a
/// lock that every process takes first.
struct PostgresMigrator {
    /// "shop" in ASCII, so that no other program's lock is meant.
    private static let lockClass = 0x7368_6F70

    private let connection: PostgresConnection
    private let schema: String

    init(_ connection: PostgresConnection, schema: String) {
        self.connection = connection
        self.schema = schema
    }

    func migrate(to migrations: [Migration]) throws {
        try connection.command("BEGIN")
        do {
            // Whoever waits for another process's migrations, and whoever
            // takes them, may wait longer than a customer would.
            try connection.command(
                "SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0")
            try connection.command(
                "SELECT pg_advisory_xact_lock(\(Self.lockClass), hashtext('\(schema)'))")
            // A database that was migrated may be one that we may only read.
            let exists = try connection.command(
                "SELECT 1 FROM pg_namespace WHERE nspname = '\(schema)'")
            if exists.isEmpty { try connection.command("CREATE SCHEMA \"\(schema)\"") }
            try connection.command("SET LOCAL search_path = \"\(schema)\"")
            for migration in try MigrationHistory(taken: try taken(), known: migrations).pending {
                try take(migration)
            }
        } catch {
            if !connection.isLost { try connection.command("ROLLBACK") }
            throw error
        }
        try connection.grip.beginCommit()
        guard try connection.command("COMMIT").first == "COMMIT" else {
            throw StorageFault(.engine, "the migrations of \(schema) were rolled back")
        }
    }

    private func taken() throws -> [MigrationHistory.Step] {
        let table = try connection.command(
            "SELECT 1 FROM pg_tables WHERE schemaname = '\(schema)' "
                + "AND tablename = 'schema_migrations'")
        guard !table.isEmpty else {
            try connection.command(
                """
                CREATE TABLE schema_migrations (
                    number BIGINT NOT NULL PRIMARY KEY, name TEXT COLLATE "C" NOT NULL,
                    checksum TEXT COLLATE "C" NOT NULL
                )
                """)
            return []
        }
        let numbers = try column("number")
        let names = try column("name")
        let checksums = try column("checksum")
        return zip(numbers, zip(names, checksums)).map { number, rest in
            MigrationHistory.Step(number: Int(number) ?? 0, name: rest.0, checksum: rest.1)
        }
    }

    private func column(_ name: String) throws -> [String] {
        try connection.command("SELECT \(name) FROM schema_migrations ORDER BY number")
            .map { $0 ?? "" }
    }

    private func take(_ migration: Migration) throws {
        for statement in migration.statements {
            do { try connection.command(PostgresDDL.translate(statement)) } catch let error
                as ServerError
            {
                throw error.fault(in: "migration \(migration.number), \(migration.name)")
            }
        }
        let name = migration.name.replacing("'", with: "''")
        try connection.command(
            "INSERT INTO schema_migrations (number, name, checksum) "
                + "VALUES (\(migration.number), '\(name)', '\(migration.checksum)')")
    }
}
