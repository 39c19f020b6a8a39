// SPDX-License-Identifier: Apache-2.0

/// What differs between engines for whoever copies whole databases: their
/// names, and how each tells which tables it has.
public struct Dialect: Sendable {
    /// `SQLite`, `PostgreSQL`.
    public let engine: String
    /// Every table's columns, tables in the order of their making (so that
    /// one which is referred to comes first) and columns in theirs:
    /// `table_name`, `column_name`, `column_type` (one of ``SQLType``, else
    /// anything), `key_place` (1, 2… in the primary key, else 0).
    public let columns: Statement
    /// What an operator may want to know of the engine: `name`, `value`, both texts.
    public let facts: Statement
    /// `bytes` that the database takes.
    public let size: Statement

    public init(engine: String, columns: Statement, facts: Statement, size: Statement) {
        self.engine = engine
        self.columns = columns
        self.facts = facts
        self.size = size
    }
}

extension MigrationHistory {
    /// What a database has taken, in order.
    public static let taken = Statement(
        "migrations.taken", "SELECT number, name, checksum FROM schema_migrations ORDER BY number")

    /// Reads what a database has taken. Throws where it is none of ours.
    public static func steps(_ reading: any Reading) throws -> [Step] {
        try reading.query(taken, []).map { row in
            Step(
                number: Int(try row.integer("number")), name: try row.text("name"),
                checksum: try row.text("checksum"))
        }
    }
}
