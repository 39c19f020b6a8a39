// SPDX-License-Identifier: Apache-2.0

/// A rule that a value of a row breaks.
public struct BrokenRule: Sendable {
    public let column: String
    /// The rule, for people.
    public let words: String

    public init(_ column: String, _ words: String) {
        (self.column, self.words) = (column, words)
    }
}

/// The rule of a column: its SQL type, whether it may be null, and a condition
/// on its values.
///
/// The database checks the type and null. The condition is checked for foreign
/// values, such as those of a backup.
public struct ValueRule: Sendable {
    public let type: SQLType
    public let isOptional: Bool
    /// The condition in words, for messages.
    public let words: String
    private let holds: @Sendable (SQLValue) -> Bool

    private init(
        _ type: SQLType, isOptional: Bool, _ words: String,
        _ holds: @escaping @Sendable (SQLValue) -> Bool
    ) {
        self.type = type
        self.isOptional = isOptional
        self.words = words
        self.holds = holds
    }

    /// Whether the column may contain `value`.
    public func admits(_ value: SQLValue) -> Bool {
        isOptional && value == .null || holds(value)
    }

    /// The same rule, but null is allowed too.
    public var optional: ValueRule {
        ValueRule(type, isOptional: true, isOptional ? words : "\(words); or null", holds)
    }

    /// An integer with a condition.
    public static func integer(
        _ words: String, _ holds: @escaping @Sendable (Int64) -> Bool
    ) -> ValueRule {
        ValueRule(.integer, isOptional: false, words) { value in
            guard case .integer(let number) = value else { return false }
            return holds(number)
        }
    }

    public static func integer(_ range: ClosedRange<Int64>) -> ValueRule {
        integer("a number from \(range.lowerBound) to \(range.upperBound)") { range.contains($0) }
    }

    /// True or false. SQLite stores them as 1 and 0.
    public static let flag = ValueRule(.boolean, isOptional: false, "true or false") { value in
        switch value {
        case .boolean, .integer(0), .integer(1): true
        default: false
        }
    }

    /// A text with a condition.
    public static func text(
        _ words: String, _ holds: @escaping @Sendable (String) -> Bool
    ) -> ValueRule {
        ValueRule(.text, isOptional: false, words) { value in
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

    /// One of a list of words.
    public static func word(_ words: [String]) -> ValueRule {
        text("one of " + words.sorted().map { "`\($0)`" }.joined(separator: ", ")) {
            words.contains($0)
        }
    }

    public static func blob(
        bytes range: ClosedRange<Int>, _ words: String = "",
        _ holds: @escaping @Sendable ([UInt8]) -> Bool = { _ in true }
    ) -> ValueRule {
        ValueRule(
            .blob, isOptional: false, "\(range.lowerBound) to \(range.upperBound) bytes\(words)"
        ) { value in
            guard case .blob(let bytes) = value else { return false }
            return range.contains(bytes.count) && holds(bytes)
        }
    }

    /// A column that is always null in a backup. `type` is the type of its
    /// values elsewhere.
    public static func nothing(_ type: SQLType) -> ValueRule {
        ValueRule(type, isOptional: true, "null") { _ in false }
    }
}
