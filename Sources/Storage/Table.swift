// SPDX-License-Identifier: Apache-2.0

/// A table of a schema. Its columns are defined only here. The DDL, the
/// statements that write or list whole rows, the copies and the check of a
/// backup are made from it. Other queries are written by hand.
public struct Table: Sendable {
    public struct Column: Sendable {
        public let name: String
        public let rule: ValueRule

        /// Returns the column's value in a row. SQLite has no booleans, so
        /// integers are converted.
        public func value(in row: Row) throws -> SQLValue {
            let value = try row.value(name)
            return rule.type == .boolean && value != .null
                ? .boolean(try row.boolean(name)) : value
        }
    }

    /// Columns with their rules, in the order of the DDL.
    public struct Columns: ExpressibleByDictionaryLiteral, Sendable {
        let all: [Column]

        public init(dictionaryLiteral columns: (String, ValueRule)...) {
            all = columns.map(Column.init)
        }

        private init(_ all: [Column]) { self.all = all }

        /// Combines columns that several tables have with others.
        public static func + (first: Columns, second: Columns) -> Columns {
            Columns(first.all + second.all)
        }
    }

    /// Values by column, for ``row(_:)``.
    public struct Values: ExpressibleByDictionaryLiteral, Sendable {
        let all: [(String, SQLValue)]

        public init(dictionaryLiteral values: (String, SQLValue)...) { all = values }

        init(_ all: [(String, SQLValue)]) { self.all = all }
    }

    /// How SQLite stores the rows. PostgreSQL has only one way.
    public enum Form: Sendable {
        /// In the tree of the primary key (`WITHOUT ROWID`), so that a write
        /// touches one page less.
        case tree
        /// With row ids, for long rows.
        case rows
    }

    public struct Index: Sendable {
        let name: String
        let columns: [String]
        let isUnique: Bool
        let condition: String?

        public init(_ name: String, on columns: [String], where condition: String? = nil) {
            self.init(name, columns, isUnique: false, condition)
        }

        public static func unique(
            _ name: String, on columns: [String], where condition: String? = nil
        ) -> Index { Index(name, columns, isUnique: true, condition) }

        private init(
            _ name: String, _ columns: [String], isUnique: Bool, _ condition: String?
        ) {
            self.name = name
            self.columns = columns
            self.isUnique = isUnique
            self.condition = condition
        }
    }

    public let name: String
    /// The primary key, in its order.
    public let key: [String]
    /// In the order of the DDL.
    public let columns: [Column]
    /// Whether a backup contains its rows.
    public let isInBackup: Bool
    /// The most rows in a backup.
    public let rowsMax: Int
    /// The rows of other tables that a row must find in a backup.
    public let references: [Reference]
    /// A rule that concerns several values of a row in a backup. Returns the
    /// broken rule, or nil.
    public let check: (@Sendable (Row) -> BrokenRule?)?
    /// `CREATE TABLE` and `CREATE INDEX`, for a ``Migration``.
    public let ddl: [String]
    private let places: [String: Int]

    /// Columns that name a row of another table in the same database. A backup
    /// whose rows name a missing one is refused. Only for rows that no program
    /// deletes before those that name them.
    public struct Reference: Sendable {
        /// In the order of ``targetColumns``. A row with a null in one of them
        /// refers to nothing. If there are none, the other table must have any
        /// row.
        public let columns: [String]
        public let target: String
        public let targetColumns: [String]
        /// SQL about the row `t`: which rows refer. Nil for all.
        public let condition: String?

        /// Without `targetColumns`, the columns have the same names in both
        /// tables.
        public init(
            _ columns: [String], to target: String, _ targetColumns: [String]? = nil,
            where condition: String? = nil
        ) {
            (self.columns, self.target) = (columns, target)
            self.targetColumns = targetColumns ?? columns
            self.condition = condition
        }
    }

    /// A statement that finds a row whose ``Reference`` is missing.
    public struct Missing: Sendable {
        public let table: String
        public let reference: Reference
        public let statement: Statement

        /// The last column, for messages.
        public var column: String { reference.columns.last ?? "a row" }

        fileprivate init(_ table: String, _ reference: Reference) {
            (self.table, self.reference) = (table, reference)
            let pairs = zip(reference.columns, reference.targetColumns)
            let same = ["1 = 1"] + pairs.map { "o.\($1) = t.\($0)" }
            let conditions =
                ["1 = 1"] + reference.columns.map { "t.\($0) IS NOT NULL" }
                + (reference.condition.map { ["(\($0))"] } ?? [])
            statement = Statement(
                "\(table).missing.\(reference.target).\(reference.columns.last ?? "")", [],
                """
                SELECT 1 AS missing FROM \(table) t
                WHERE \(conditions.joined(separator: " AND "))
                    AND NOT EXISTS (SELECT 1 FROM \(reference.target) o
                        WHERE \(same.joined(separator: " AND "))) LIMIT 1
                """)
        }
    }

    /// For each reference, the statement that finds a row without its other.
    public var missing: [Missing] { references.map { Missing(name, $0) } }

    /// `constraints` are table constraints in SQL. PostgreSQL splits a table if
    /// its key begins with `customer_id`.
    public init(
        _ name: String, key: [String], as form: Form = .rows,
        _ columns: Columns, constraints: [String] = [],
        indexes: [Index] = [], references: [Reference] = [], isInBackup: Bool = true,
        rowsMax: Int = .max, check: (@Sendable (Row) -> BrokenRule?)? = nil
    ) {
        self.name = name
        self.key = key
        self.columns = columns.all
        self.isInBackup = isInBackup
        self.rowsMax = rowsMax
        self.references = references
        self.check = check
        places = Dictionary(
            uniqueKeysWithValues: self.columns.enumerated().map { ($1.name, $0) })
        precondition(key.allSatisfy(places.keys.contains), "the key of \(name) has its columns")
        ddl =
            [Self.creation(name, key, form, self.columns, constraints)]
            + indexes.map { $0.creation(on: name) }
    }

    /// Returns column names, separated by commas, for a `SELECT`. `alias` is
    /// the table's.
    public func list(_ alias: String? = nil, without left: Set<String> = []) -> String {
        columns.map(\.name).filter { !left.contains($0) }
            .map { name in alias.map { "\($0).\(name)" } ?? name }
            .joined(separator: ", ")
    }

    /// Returns the type of a column. An unknown name is a bug.
    public func type(_ column: String) -> SQLType { self[column].rule.type }

    /// Returns a column by its name. An unknown name is a bug.
    public subscript(column: String) -> Column { columns[place(column)] }

    private func place(_ column: String) -> Int {
        guard let place = places[column] else {
            preconditionFailure("table \(name) has no column \(column)")
        }
        return place
    }

    /// Returns a whole row for a statement of ``Statement/insert(_:into:_:)``.
    /// A column that is not named is null. An unknown name, or a missing column
    /// that must not be null, is a bug.
    public func row(_ parts: Values...) -> [SQLValue] {
        var row = [SQLValue](repeating: .null, count: columns.count)
        // Most callers name the columns in their order, which saves a search.
        var next = 0
        for part in parts {
            for (column, value) in part.all {
                let isNext = next < columns.count && columns[next].name == column
                let place = isNext ? next : place(column)
                row[place] = value
                next = place + 1
            }
        }
        for place in row.indices {
            guard case .null = row[place] else { continue }
            let column = columns[place]
            precondition(column.rule.isOptional, "\(name).\(column.name) is not null")
        }
        return row
    }

    /// Returns the values of a row that was read, by column.
    public func values(_ row: Row) throws -> Values {
        Values(try columns.map { ($0.name, try $0.value(in: row)) })
    }

    private static func creation(
        _ name: String, _ key: [String], _ form: Form, _ columns: [Column],
        _ constraints: [String]
    ) -> String {
        let lines =
            columns.map { column in
                let null = column.rule.isOptional ? "" : " NOT NULL"
                return "\(column.name) \(column.rule.type.rawValue.uppercased())\(null)"
            } + ["PRIMARY KEY (\(key.joined(separator: ", ")))"] + constraints
        return "CREATE TABLE \(name) (\n    " + lines.joined(separator: ",\n    ") + "\n) "
            + (form == .tree ? "WITHOUT ROWID, STRICT" : "STRICT")
    }
}

extension Table.Index {
    fileprivate func creation(on table: String) -> String {
        let unique = isUnique ? "UNIQUE " : ""
        let whole = "CREATE \(unique)INDEX \(name) ON \(table) (\(columns.joined(separator: ", ")))"
        return condition.map { "\(whole) WHERE \($0)" } ?? whole
    }
}

extension Table {
    /// Returns `a = excluded.a, …` for the columns that an insert replaces on a
    /// conflict. Nil for all except the key.
    public func replaced(_ names: [String]? = nil) -> String {
        (names ?? columns.map(\.name).filter { !key.contains($0) })
            .map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    }

    /// Returns `a = $1 AND …` for the key. Its values begin at `parameter`.
    fileprivate func keyCondition(from parameter: Int = 1) -> String {
        key.enumerated().map { "\($1) = $\($0 + parameter)" }.joined(separator: " AND ")
    }

    fileprivate var keyTypes: [SQLType] { key.map(type) }
}

/// Statements on whole rows, or on the row with a key.
extension Statement {
    /// Inserts a whole row: see ``Table/row(_:)``. `ending` follows the values,
    /// and defines what happens on a conflict and what is returned.
    public static func insert(
        _ name: String, into table: Table, _ ending: String = ""
    ) -> Statement {
        let places = table.columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        return Statement(
            name, table.columns.map(\.rule.type),
            "INSERT INTO \(table.name) (\(table.list())) VALUES (\(places)) \(ending)")
    }

    /// Inserts a whole row, or replaces the one with the same key.
    public static func put(_ name: String, into table: Table) -> Statement {
        insert(
            name, into: table,
            "ON CONFLICT (\(table.key.joined(separator: ", "))) DO UPDATE SET \(table.replaced())")
    }

    /// Sets columns of the row with a key. The key's values come first, then
    /// the columns'.
    public static func set(_ name: String, _ columns: [String], of table: Table) -> Statement {
        let first = table.key.count + 1
        let sets = columns.enumerated().map { "\($1) = $\($0 + first)" }
        return Statement(
            name, table.keyTypes + columns.map(table.type),
            "UPDATE \(table.name) SET \(sets.joined(separator: ", ")) "
                + "WHERE \(table.keyCondition())")
    }

    /// Returns the whole row with a key.
    public static func one(_ name: String, of table: Table) -> Statement {
        Statement(
            name, table.keyTypes,
            "SELECT \(table.list()) FROM \(table.name) WHERE \(table.keyCondition())")
    }

    /// Deletes the row with a key.
    public static func remove(_ name: String, from table: Table) -> Statement {
        Statement(
            name, table.keyTypes, "DELETE FROM \(table.name) WHERE \(table.keyCondition())")
    }

    /// Returns every row, in the order of the key.
    public static func list(_ name: String, of table: Table) -> Statement {
        Statement(
            name,
            "SELECT \(table.list()) FROM \(table.name) ORDER BY \(table.key.joined(separator: ", "))"
        )
    }
}
