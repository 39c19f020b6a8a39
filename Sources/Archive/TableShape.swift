// SPDX-License-Identifier: Apache-2.0

import Storage

/// The columns and key of a table in a database.
struct TableShape: Sendable {
    struct Column: Sendable {
        let name: String
        let type: SQLType
    }

    /// The number of rows that are read or written at once.
    static let rowsMax: Int64 = 500

    let name: String
    private(set) var columns: [Column] = []
    /// The columns of the primary key, in its order.
    private var keyPlaces: [Int64: Column] = [:]

    /// Returns every table of a database except that of the migrations. A table
    /// comes after those that it refers to. Throws a fault for a table that
    /// cannot be copied.
    static func all(_ reading: any Reading, _ dialect: Dialect) throws -> [TableShape] {
        var tables: [TableShape] = []
        for row in try reading.query(dialect.columns, []) {
            let name = try row.text("table_name")
            if tables.last?.name != name { tables.append(TableShape(name: name)) }
            let column = try row.text("column_name")
            guard let type = SQLType(rawValue: try row.text("column_type")) else {
                throw StorageFault(
                    .unreadable,
                    "column \(column) of \(name) is of a type that no table of ours has")
            }
            tables[tables.count - 1].add(
                Column(name: column, type: type), place: try row.integer("key_place"))
        }
        for table in tables where table.key.isEmpty {
            throw StorageFault(.unreadable, "table \(table.name) has no primary key")
        }
        return tables
    }

    private init(name: String) { self.name = name }

    private mutating func add(_ column: Column, place: Int64) {
        columns.append(column)
        if place > 0 { keyPlaces[place] = column }
    }

    private var key: [Column] { keyPlaces.sorted { $0.key < $1.key }.map(\.value) }

    /// Calls `body` with all rows, in the order of the primary key, one page at
    /// a time.
    func forEachPage(_ reading: any Reading, _ body: ([[SQLValue]]) throws -> Void) throws {
        var after: [SQLValue]?
        while true {
            let rows = try page(reading, after: after)
            guard let last = rows.last else { return }
            try body(rows)
            guard rows.count == Self.rowsMax else { return }
            after = key.compactMap { key in
                columns.firstIndex { $0.name == key.name }.map { last[$0] }
            }
        }
    }

    private func page(_ reading: any Reading, after: [SQLValue]?) throws -> [[SQLValue]] {
        let keys = key.map { Self.quoted($0.name) }.joined(separator: ", ")
        let places = key.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let limit = after == nil ? "$1" : "$\(key.count + 1)"
        let statement = Statement(
            "archive.\(after == nil ? "first" : "next").\(name)",
            (after == nil ? [] : key.map(\.type)) + [.integer],
            "SELECT \(columns.map { Self.quoted($0.name) }.joined(separator: ", ")) "
                + "FROM \(Self.quoted(name)) "
                + (after == nil ? "" : "WHERE (\(keys)) > (\(places)) ")
                + "ORDER BY \(keys) LIMIT \(limit)")
        let values = (after ?? []) + [.integer(Self.rowsMax)]
        return try reading.query(statement, values).map { row in
            try columns.map { try row.value($0.name) }
        }
    }

    /// Returns the statement that inserts rows with values in the order of
    /// `names`, and the types of the values. Throws a fault if the table lacks
    /// a column.
    func insertion(of names: [String]) throws -> (Statement, [SQLType]) {
        let types = try names.map { name in
            guard let column = columns.first(where: { $0.name == name }) else {
                throw StorageFault(.unreadable, "table \(self.name) has no column \(name)")
            }
            return column.type
        }
        let list = names.map(Self.quoted).joined(separator: ", ")
        let places = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let statement = Statement(
            "archive.insert.\(name)", types,
            "INSERT INTO \(Self.quoted(name)) (\(list)) VALUES (\(places))")
        return (statement, types)
    }

    var hasRows: Statement {
        Statement("archive.any.\(name)", "SELECT 1 AS found FROM \(Self.quoted(name)) LIMIT 1")
    }

    var counting: Statement {
        Statement("archive.count.\(name)", "SELECT count(*) AS row_count FROM \(Self.quoted(name))")
    }

    var clearing: Statement {
        Statement("archive.clear.\(name)", "DELETE FROM \(Self.quoted(name))")
    }

    private static func quoted(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }
}
