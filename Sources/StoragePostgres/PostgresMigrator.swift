// SPDX-License-Identifier: Apache-2.0

import Storage

/// Brings a schema to the last migration in one commit, under a lock that every
/// migrating process takes first.
struct PostgresMigrator {
    /// "shop" in ASCII, so that the lock does not collide with another
    /// program's.
    private static let lockClass = 0x7368_6F70

    private let connection: PostgresConnection
    private let schema: String
    /// The number of parts into which the tables of a new schema are split. Nil
    /// if none was requested.
    private let wanted: Int?

    init(_ connection: PostgresConnection, schema: String, partitions: Int?) {
        self.connection = connection
        self.schema = schema
        wanted = partitions
    }

    func migrate(to migrations: [Migration]) throws {
        try connection.command("BEGIN")
        do {
            // Migrating, and waiting for another process that migrates, may
            // take longer than a customer would wait.
            try connection.command(
                "SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0")
            try connection.command(
                "SELECT pg_advisory_xact_lock(\(Self.lockClass), hashtext('\(schema)'))")
            // A migrated database may be one that this process may only read.
            let exists = try connection.command(
                "SELECT 1 FROM pg_namespace WHERE nspname = '\(schema)'")
            if exists.isEmpty { try connection.command("CREATE SCHEMA \"\(schema)\"") }
            let partitions = try partitions()
            try connection.command("SET LOCAL search_path = \"\(schema)\"")
            for migration in try MigrationHistory(taken: try taken(), known: migrations).pending {
                try take(migration, partitions)
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

    /// The partitions that the schema was created with, which its comment
    /// records.
    private func partitions() throws -> PostgresPartitions {
        if let wanted, try !hasHistory() {
            let partitions = PostgresPartitions(count: wanted)
            try connection.command("COMMENT ON SCHEMA \"\(schema)\" IS '\(partitions.comment)'")
            return partitions
        }
        let comment = try connection.command(
            "SELECT obj_description(oid) FROM pg_namespace WHERE nspname = '\(schema)'")
        return PostgresPartitions(comment: comment.first ?? nil)
    }

    private func hasHistory() throws -> Bool {
        let table = try connection.command(
            "SELECT 1 FROM pg_tables WHERE schemaname = '\(schema)' "
                + "AND tablename = 'schema_migrations'")
        return !table.isEmpty
    }

    private func taken() throws -> [MigrationHistory.Step] {
        guard try hasHistory() else {
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

    private func take(_ migration: Migration, _ partitions: PostgresPartitions) throws {
        let statements = migration.statements.flatMap {
            partitions.statements($0, migration: migration.number)
        }
        for statement in statements + migration.firstRows {
            do { try connection.command(statement) } catch let error
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
