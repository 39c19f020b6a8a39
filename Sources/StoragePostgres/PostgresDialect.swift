// SPDX-License-Identifier: Apache-2.0

public import Storage

extension PostgresStorage {
    /// PostgreSQL's statements for listing the tables of a schema. Partitions
    /// count as part of their table.
    public static let dialect = Dialect(
        engine: "PostgreSQL",
        columns: Statement(
            "postgres.columns",
            """
            SELECT CAST(t.relname AS TEXT) AS table_name, CAST(c.attname AS TEXT) AS column_name,
                CASE c.atttypid WHEN 20 THEN 'integer' WHEN 25 THEN 'text' WHEN 17 THEN 'blob'
                    WHEN 16 THEN 'boolean' ELSE 'other' END AS column_type,
                CAST(coalesce(array_position(CAST(k.indkey AS int2[]), c.attnum) + 1, 0)
                    AS BIGINT) AS key_place
            FROM pg_class t
            JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = current_schema()
            JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped
            LEFT JOIN pg_index k ON k.indrelid = t.oid AND k.indisprimary
            WHERE t.relkind IN ('r', 'p') AND NOT t.relispartition
                AND t.relname <> 'schema_migrations'
            ORDER BY t.oid, c.attnum
            """),
        facts: Statement(
            "postgres.facts",
            """
            SELECT CAST(s.name AS TEXT) AS name, current_setting(s.name) AS value
            FROM (VALUES ('server_version'), ('fsync'), ('full_page_writes'),
                ('synchronous_commit'), ('synchronous_standby_names'),
                ('default_transaction_read_only'), ('max_connections')) AS s (name)
            """),
        size: Statement(
            "postgres.size",
            """
            SELECT CAST(coalesce(sum(pg_total_relation_size(t.oid)), 0) AS BIGINT) AS bytes
            FROM pg_class t
            JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = current_schema()
            WHERE t.relkind IN ('r', 'p')
            """))
}

extension PostgresDatabase {
    /// Opens an existing schema for reading, without migrating it. Returns nil
    /// if there is none.
    public func existing(_ name: String) async throws -> PostgresStorage? {
        precondition(Self.isName(name), "a schema is named by letters, digits and _")
        let found = try await run(schema: "") { runner in
            try runner.connection.command(
                "SELECT nspname FROM pg_namespace WHERE nspname = '\(name)'")
        }
        return found.isEmpty ? nil : PostgresStorage(self, schema: name, limitsReads: false)
    }
}
