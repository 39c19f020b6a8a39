// SPDX-License-Identifier: Apache-2.0

/// What differs between engines for code that copies whole databases: the
/// engine's name, and the statements that list its tables.
public struct Dialect: Sendable {
    /// `SQLite`, `PostgreSQL`.
    public let engine: String
    /// Lists the columns of every table. Tables are in the order of their
    /// creation (so that a referenced table comes first), columns in the order
    /// of their table. The result has `table_name`, `column_name`,
    /// `column_type` (one of ``SQLType``, or any other text) and `key_place`
    /// (1, 2… in the primary key, otherwise 0).
    public let columns: Statement
    /// Facts about the engine that interest an operator: `name` and `value`,
    /// both text.
    public let facts: Statement
    /// The size of the database, as `bytes`.
    public let size: Statement

    public init(engine: String, columns: Statement, facts: Statement, size: Statement) {
        self.engine = engine
        self.columns = columns
        self.facts = facts
        self.size = size
    }
}

extension MigrationHistory {
    /// The migrations that were applied to a database, in order.
    public static let taken = Statement(
        "migrations.taken", "SELECT number, name, checksum FROM schema_migrations ORDER BY number")

    /// Reads the migrations that were applied to a database. Throws if the
    /// database was not created by this program.
    public static func steps(_ reading: any Reading) throws -> [Step] {
        try reading.query(taken, []).map { row in
            Step(
                number: Int(try row.integer("number")), name: try row.text("name"),
                checksum: try row.text("checksum"))
        }
    }
}
