// SPDX-License-Identifier: Apache-2.0

public import Storage

/// The contents of a database at one moment, for people.
public struct DatabaseInventory: Sendable {
    public let steps: [MigrationHistory.Step]
    /// The number of rows in each table.
    public let rows: [String: Int64]
    public let bytes: Int64
    /// The engine's facts about itself.
    public let facts: [String: String]

    /// Counts every row, which takes time in a large database.
    public init(_ reading: any Reading, _ dialect: Dialect) throws {
        steps = try MigrationHistory.steps(reading)
        var rows: [String: Int64] = [:]
        for table in try TableShape.all(reading, dialect) {
            rows[table.name] = try reading.first(table.counting)?.integer("row_count")
        }
        self.rows = rows
        bytes = try reading.first(dialect.size)?.integer("bytes") ?? 0
        var facts: [String: String] = [:]
        for row in try reading.query(dialect.facts, []) {
            facts[try row.text("name")] = try row.text("value")
        }
        self.facts = facts
    }
}
