// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Storage

/// Rules that several schemas share.
extension ValueRule {
    /// Counts and revisions: half of what JSON carries exactly, so that a restored
    /// counter can continue.
    public static let count = integer(0...1 << 52)
    /// A key of a door, which is sent in a header.
    public static let secret = text("16 to 255 visible ASCII characters without spaces") {
        (16...255).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
    /// A name in lists for people: without characters that control a terminal or
    /// cannot be seen.
    public static func label(bytes range: ClosedRange<Int>) -> ValueRule {
        text("\(range.lowerBound) to \(range.upperBound) bytes of UTF-8 that can all be seen") {
            range.contains($0.utf8.count)
                && $0.unicodeScalars.allSatisfy(VisibleText.isAllowedInName)
        }
    }
    /// Milliseconds since 1970, up to the year 9999.
    public static let time = integer(0...253_402_300_799_999)
    /// A price, or a sum, in thousandths.
    public static let price = integer(0...Amount.milliunitsMax)
    public static let currency = text("three letters A–Z") { Currency(code: $0) != nil }
    public static let uuid = text("a UUID in lower case") { UUIDText($0)?.text == $0 }
    public static let storefront = text("a storefront's alpha-3 code") {
        Storefront.named($0) != nil
    }
    /// An id of an app or a product, an account or a name.
    public static let name = text(bytes: 1...255)
}

/// Judges the rows of an archive while it is read: the SHA-256 at its end is no
/// signature, so every value is judged as if a stranger had sent it. Keep one for
/// each reading.
public struct ArchiveJudge {
    /// A database's tables; nil where there is no such database.
    private let rules: (String) -> [Table]?
    /// Called with each row that keeps its table's rules. Returns another rule that
    /// the row breaks.
    private let also: (_ database: String, _ table: String, Row) -> BrokenRule?

    private var database = ""
    private var tables: [String: Table] = [:]
    private var table: Table?
    private var columns: [(name: String, rule: ValueRule?)] = []
    private var places: [String: Int] = [:]
    private var rows = 0
    /// The first thing that was wrong.
    private(set) var problem: (place: String, rule: String)?

    public init(
        rules: @escaping (String) -> [Table]?,
        also: @escaping (_ database: String, _ table: String, Row) -> BrokenRule? = { _, _, _ in
            nil
        }
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
        // A table comes once, so that its rows are counted together.
        table = tables.removeValue(forKey: name)
        rows = 0
        places = Dictionary(columns.enumerated().map { ($1, $0) }) { first, _ in first }
        guard let table else {
            return report("table `\(name)`", "tables that a backup has, each once")
        }
        let rules = Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, $0.rule) })
        self.columns = columns.map { ($0, rules[$0]) }
        for column in self.columns where column.rule == nil {
            report("column `\(column.name)` of `\(name)`", "columns that a backup has")
        }
        if places.count != columns.count { report("table `\(name)`", "each column once") }
    }

    mutating func judge(_ values: [SQLValue]) {
        guard problem == nil, let table, values.count == columns.count else { return }
        rows += 1
        guard rows <= table.rowsMax else {
            return report("table `\(table.name)`", "at most \(table.rowsMax) rows")
        }
        for (column, value) in zip(columns, values) {
            guard let rule = column.rule, !rule.admits(value) else { continue }
            return report("`\(column.name)` of `\(table.name)`", rule.words)
        }
        let row = Row(columns: places, values: values)
        if let broken = table.check?(row) ?? also(database, table.name, row) {
            report("`\(broken.column)` of `\(table.name)`", broken.words)
        }
    }

    mutating func report(_ place: String, _ rule: String) {
        if problem == nil {
            problem = (database.isEmpty ? place : "\(place), database `\(database)`", rule)
        }
    }
}
