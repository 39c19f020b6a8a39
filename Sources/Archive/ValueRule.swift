// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Storage

/// A rule for one value of an archive. The SHA-256 at an archive's end is not a
/// signature, so every value is checked like foreign input.
public struct ValueRule: Sendable {
    /// The rule in words, for messages.
    public let words: String
    private let holds: @Sendable (SQLValue) -> Bool

    public init(_ words: String, _ holds: @escaping @Sendable (SQLValue) -> Bool) {
        self.words = words
        self.holds = holds
    }

    public func admits(_ value: SQLValue) -> Bool { holds(value) }

    /// The same rule, but null is allowed too.
    public var optional: ValueRule {
        ValueRule("\(words); or null") { $0 == .null || self.holds($0) }
    }

    public static func integer(_ range: ClosedRange<Int64>) -> ValueRule {
        ValueRule("a number from \(range.lowerBound) to \(range.upperBound)") { value in
            guard case .integer(let number) = value else { return false }
            return range.contains(number)
        }
    }

    /// True or false. SQLite stores them as 1 and 0.
    public static let flag = ValueRule("true or false") { value in
        switch value {
        case .boolean, .integer(0), .integer(1): true
        default: false
        }
    }

    public static func text(
        _ words: String, _ holds: @escaping @Sendable (String) -> Bool
    ) -> ValueRule {
        ValueRule(words) { value in
            guard case .text(let text) = value else { return false }
            return holds(text)
        }
    }

    /// Text without U+0000.
    public static func text(bytes range: ClosedRange<Int>) -> ValueRule {
        text("\(range.lowerBound) to \(range.upperBound) bytes of UTF-8 without U+0000") {
            range.contains($0.utf8.count) && !$0.utf8.contains(0)
        }
    }

    public static func word(_ words: [String]) -> ValueRule {
        text("one of " + words.sorted().map { "`\($0)`" }.joined(separator: ", ")) {
            words.contains($0)
        }
    }

    public static func blob(
        bytes range: ClosedRange<Int>, _ words: String = "",
        _ holds: @escaping @Sendable ([UInt8]) -> Bool = { _ in true }
    ) -> ValueRule {
        ValueRule("\(range.lowerBound) to \(range.upperBound) bytes\(words)") { value in
            guard case .blob(let bytes) = value else { return false }
            return range.contains(bytes.count) && holds(bytes)
        }
    }
}

extension ValueRule {
    /// Counts and revisions, up to the largest integer that JSON numbers can
    /// hold exactly.
    public static let count = integer(0...1 << 53)
    /// Milliseconds since 1970, up to the year 9999.
    public static let time = integer(0...253_402_300_799_999)
    /// A price or a sum, in thousandths.
    public static let price = integer(0...Amount.milliunitsMax)
    public static let currency = text("three letters A–Z") { Currency(code: $0) != nil }
    public static let uuid = text("a UUID in lower case") { UUIDText($0)?.text == $0 }
    public static let storefront = text("a storefront's alpha-3 code") {
        Storefront.named($0) != nil
    }
    /// The id of an app or a product, an account, or a name.
    public static let name = text(bytes: 1...255)
}

/// The rules for the rows of a table in an archive.
public struct TableRules: Sendable {
    public let name: String
    public let columns: [String: ValueRule]
    /// The highest number of rows.
    public let rowsMax: Int
    /// A rule that concerns several values of a row. Returns what is wrong, or
    /// nil.
    public let row: (@Sendable (Row) -> String?)?

    public init(
        _ name: String, _ columns: [String: ValueRule], rowsMax: Int = .max,
        row: (@Sendable (Row) -> String?)? = nil
    ) {
        self.name = name
        self.columns = columns
        self.rowsMax = rowsMax
        self.row = row
    }
}

/// Checks the rows of an archive while it is read. Make a new one for each
/// reading.
public struct ArchiveJudge {
    /// Returns the rules of a database's tables. Nil if there is no such
    /// database.
    private let rules: (String) -> [TableRules]?
    /// Called with each row that satisfies its rules. Returns what is wrong, or
    /// nil.
    private let also: (_ database: String, _ table: String, Row) -> String?

    private var database = ""
    private var tables: [String: TableRules] = [:]
    private var table: TableRules?
    private var names: [String] = []
    private var places: [String: Int] = [:]
    private var rows = 0
    /// The first problem that was found.
    private(set) var problem: (place: String, rule: String)?

    public init(
        rules: @escaping (String) -> [TableRules]?,
        also: @escaping (_ database: String, _ table: String, Row) -> String? = { _, _, _ in nil }
    ) {
        self.rules = rules
        self.also = also
    }

    mutating func begin(database name: String) {
        (database, table) = (name, nil)
        guard let list = rules(name) else {
            return report("`\(name)`", "databases that a backup has")
        }
        tables = Dictionary(list.map { ($0.name, $0) }) { first, _ in first }
    }

    mutating func begin(table name: String, columns: [String]) {
        // A table occurs only once, so that all its rows are counted together.
        table = tables.removeValue(forKey: name)
        (names, rows) = (columns, 0)
        places = Dictionary(columns.enumerated().map { ($1, $0) }) { first, _ in first }
        guard let table else {
            return report("table `\(name)`", "tables that a backup has, each once")
        }
        for column in columns where table.columns[column] == nil {
            report("column `\(column)` of `\(name)`", "columns that a backup has")
        }
        if places.count != columns.count { report("table `\(name)`", "each column once") }
    }

    mutating func judge(_ values: [SQLValue]) {
        guard problem == nil, let table, values.count == names.count else { return }
        rows += 1
        guard rows <= table.rowsMax else {
            return report("table `\(table.name)`", "at most \(table.rowsMax) rows")
        }
        for (name, value) in zip(names, values) {
            guard let rule = table.columns[name], !rule.admits(value) else { continue }
            return report("`\(name)` of `\(table.name)`", rule.words)
        }
        let row = Row(columns: places, values: values)
        if let wrong = table.row?(row) ?? also(database, table.name, row) {
            report("a row of `\(table.name)`", wrong)
        }
    }

    mutating func report(_ place: String, _ rule: String) {
        if problem == nil {
            problem = (database.isEmpty ? place : "\(place), database `\(database)`", rule)
        }
    }
}
