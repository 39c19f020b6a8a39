// SPDX-License-Identifier: Apache-2.0

import Storage

/// A table of house rows that is copied.
struct HouseCopy: Sendable {
    let name: String
    private let keyCount: Int
    /// The columns, with the key's first.
    let columns: [Table.Column]
    let list: Statement
    let upsert: Statement
    let remove: Statement

    init(of table: Table, without left: Set<String>) {
        name = table.name
        keyCount = table.key.count
        let rest = table.columns.filter { !table.key.contains($0.name) && !left.contains($0.name) }
        columns = table.key.map { table[$0] } + rest
        let names = columns.map(\.name).joined(separator: ", ")
        let keys = table.key.joined(separator: ", ")
        let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        list = Statement(
            "house.\(name).list", "SELECT \(names) FROM \(name) ORDER BY \(keys)")
        upsert = Statement(
            "house.\(name).put", columns.map(\.rule.type),
            """
            INSERT INTO \(name) (\(names)) VALUES (\(places))
            ON CONFLICT (\(keys)) DO UPDATE SET \(table.replaced(rest.map(\.name)))
            """)
        remove = .remove("house.\(name).remove", from: table)
    }

    func read(_ reading: any Reading) throws -> [[SQLValue]] {
        try reading.query(list, []).map { row in try columns.map { try $0.value(in: row) } }
    }

    /// Writes the rows that differ. Does not delete any.
    func put(_ rows: [[SQLValue]], _ writing: any Writing) throws {
        let known = Set(try read(writing))
        let changed = rows.filter { !known.contains($0) }
        if !changed.isEmpty { try writing.insertMany(upsert, changed) }
    }

    func removeOthers(than rows: [[SQLValue]], _ writing: any Writing) throws {
        let kept = Set(rows.map { Array($0.prefix(keyCount)) })
        for row in try read(writing) {
            let key = Array(row.prefix(keyCount))
            if !kept.contains(key) { try writing.execute(remove, key) }
        }
    }

    /// Every table that is copied. A table comes after those that it refers to.
    static let all = RealmSchema.tables.compactMap(\.copy)

    /// The copied columns of the realm's row, in the order of `Houses.set`.
    static let realmColumns = [
        "catalogue_revision", "generation",
    ]
}
