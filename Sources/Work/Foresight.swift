// SPDX-License-Identifier: Apache-2.0

import Storage

/// What a piece of inner work will write, worked out before its customer's line is
/// locked. It holds as long as the line's basis is the same.
struct Foresight<Basis: Equatable & Sendable>: Sendable {
    let basis: Basis
    let writes: [BoundStatement]
}

/// Records what a commit would write. What it reads comes from a state before it. A class,
/// because the line that it stands in is a value.
final class Draft: Writing {
    /// Why something cannot be foreseen: it reads what it has written, or more than
    /// `SELECT` does.
    struct Unforeseeable: Error {}

    private let reading: any Reading
    private(set) var writes: [BoundStatement] = []

    init(_ reading: any Reading) { self.reading = reading }

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        try check(statement)
        return try reading.query(statement, values)
    }

    func queryAll(
        _ queries: [(statement: Statement, values: [SQLValue])]
    ) throws -> [[Row]] {
        for query in queries { try check(query.statement) }
        return try reading.queryAll(queries)
    }

    func execute(_ statement: Statement, _ values: [SQLValue]) throws {
        writes.append(BoundStatement(statement, values))
    }

    func insertMany(_ statement: Statement, _ rows: [[SQLValue]]) throws {
        for row in rows { try execute(statement, row) }
    }

    func claim(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        throw Unforeseeable()
    }

    func databaseTime() throws -> Int64 { throw Unforeseeable() }

    private func check(_ statement: Statement) throws {
        guard writes.isEmpty, statement.sql.hasPrefix("SELECT") else { throw Unforeseeable() }
    }
}
