// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A table whose rows a snapshot has.
struct SnapshotTable: Sendable {
    /// What a snapshot leaves out, and why.
    static let left: Set<String> = [
        // What a load makes anew: the realm's own row, the clock, and the numbers that
        // are used up.
        "realm", "clocks", "number_marks",
        // What stays as it is: keys, the audit, and the snapshots themselves.
        "server_keys", "audit", "snapshots", "snapshot_pages",
        // What would happen twice: calls that are owed, and a jump's work.
        "errands", "jumps",
        // Every device signs in again.
        "sessions",
        // A realm with snapshots has one database.
        "clusters", "arrivals",
    ]

    /// Columns that a snapshot leaves out. A secret stays the realm's, and a branch begins
    /// without one: a secret selects the realm that answers a merchant's server.
    static let leftColumns: Set<String> = ["shared_secret"]

    /// A table comes after those that it refers to.
    static let all = RealmSchema.tables.map(\.table).filter { !left.contains($0.name) }
        .map(SnapshotTable.init)

    /// What a load deletes besides.
    static let cleared = ["errands", "jumps", "sessions"].map {
        Statement("snapshots.clear.\($0)", "DELETE FROM \($0)")
    }

    let table: Table
    private let first: Statement
    private let next: Statement
    private let put: Statement
    private let clear: Statement
    private let rowsMax: Int64

    init(_ table: Table) {
        self.table = table
        let (name, keys) = (table.name, table.key.joined(separator: ", "))
        let places = table.key.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        first = Statement(
            "snapshots.first.\(name)", [.integer],
            "SELECT \(table.list()) FROM \(name) ORDER BY \(keys) LIMIT $1")
        next = Statement(
            "snapshots.next.\(name)", table.key.map(table.type) + [.integer],
            """
            SELECT \(table.list()) FROM \(name) WHERE (\(keys)) > (\(places))
            ORDER BY \(keys) LIMIT $\(table.key.count + 1)
            """)
        put = Statement.put("snapshots.put.\(name)", into: table)
        clear = Statement("snapshots.clear.\(name)", "DELETE FROM \(name)")
        // Files and images are large.
        rowsMax = table.columns.contains { $0.rule.type == .blob } ? 4 : 500
    }

    var statements: [Statement] { [first, next, put, clear] }

    var columnNames: String { table.list() }

    /// Calls `body` with all rows, one page at a time.
    func forEachPage(
        _ reading: any Reading, _ body: ([[SQLValue]]) throws -> Void
    ) throws {
        var rows = try reading.query(first, [.integer(rowsMax)])
        while let last = rows.last {
            try body(
                try rows.map { row in
                    try table.columns.map {
                        Self.leftColumns.contains($0.name) ? .null : try $0.value(in: row)
                    }
                })
            guard rows.count == Int(rowsMax) else { return }
            let key = try table.key.map { try table[$0].value(in: last) }
            rows = try reading.query(next, key + [.integer(rowsMax)])
        }
    }

    /// Deletes what the realm has, except customers, whose rows other commits may be
    /// waiting for.
    func clear(_ writing: any Writing) throws {
        if table.name == RealmSchema.customers.name { return }
        try writing.execute(clear, [])
    }

    func put(_ rows: [[SQLValue]], _ writing: any Writing) throws {
        try writing.insertMany(put, rows)
    }
}
