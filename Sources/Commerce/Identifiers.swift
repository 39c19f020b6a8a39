// SPDX-License-Identifier: Apache-2.0

/// A name or number of one kind of thing, which cannot be passed for another's.
///
/// Two are equal where their bytes are, as in a database: Swift's own `==`
/// takes two spellings of `é` for one text, and the Kelvin sign for a K.
public struct Identifier<Subject, Value: IdentifierValue>: Hashable, Sendable {
    public let value: Value

    public init(_ value: Value) {
        self.value = value
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.value.isSame(as: right.value)
    }

    public func hash(into hasher: inout Hasher) { value.hashBytes(into: &hasher) }
}

extension Identifier: Codable {
    public init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension Identifier: CustomStringConvertible {
    public var description: String { "\(value)" }
}

extension Identifier: ExpressibleByUnicodeScalarLiteral where Value == String {
    public init(unicodeScalarLiteral value: String) { self.init(value) }
}

extension Identifier: ExpressibleByExtendedGraphemeClusterLiteral where Value == String {
    public init(extendedGraphemeClusterLiteral value: String) { self.init(value) }
}

extension Identifier: ExpressibleByStringLiteral where Value == String {
    public init(stringLiteral value: String) { self.init(value) }
}

/// What the identifiers below are of.
public enum Subjects {
    public enum Bundle {}
    public enum Product {}
    public enum Purchase {}
    public enum Customer {}
    public enum Transaction {}
    public enum Device {}
}

/// An app's bundle id, `com.example.app`.
public typealias BundleID = Identifier<Subjects.Bundle, String>
/// A product's id, unique in its app.
public typealias ProductID = Identifier<Subjects.Product, String>
/// A payment's own id, a UUID in lower case made by the device.
public typealias PurchaseID = Identifier<Subjects.Purchase, String>
/// A customer's number.
public typealias CustomerID = Identifier<Subjects.Customer, Int64>
/// A transaction's number.
public typealias TransactionID = Identifier<Subjects.Transaction, Int64>
/// A device's number.
public typealias DeviceID = Identifier<Subjects.Device, Int64>

/// What a number is of; its first digit.
public enum IDKind: Int64, Sendable, CaseIterable {
    case customer = 1
    case transaction = 2
    case device = 3
    case appTransaction = 4
}

/// The layout of every number: kind · 10^15 + n · 10^3 + the customer's
/// bucket. Decimal, below 2^53, so that JSON carries it whole, and the
/// partition is found from the number alone.
public struct NumberLayout: Hashable, Sendable {
    public static let buckets: Int64 = 1000
    public static let countMax: Int64 = 1_000_000_000_000

    public let kind: IDKind
    public let count: Int64
    public let bucket: Int64

    public init(kind: IDKind, count: Int64, bucket: Int64) {
        precondition(0 <= count && count < Self.countMax, "a count is below 10^12")
        precondition(0 <= bucket && bucket < Self.buckets, "a bucket is below 1000")
        self.kind = kind
        self.count = count
        self.bucket = bucket
    }

    /// Takes a number apart; nil when it is not one of ours.
    public init?(number: Int64) {
        guard number > 0, let kind = IDKind(rawValue: number / 1_000_000_000_000_000) else {
            return nil
        }
        let rest = number % 1_000_000_000_000_000
        self.init(kind: kind, count: rest / Self.buckets, bucket: rest % Self.buckets)
    }

    public var number: Int64 {
        kind.rawValue * 1_000_000_000_000_000 + count * Self.buckets + bucket
    }
}

extension Identifier where Subject == Subjects.Customer, Value == Int64 {
    /// The partition that holds the customer, 0 to 999.
    public var bucket: Int64 { value % NumberLayout.buckets }
}
