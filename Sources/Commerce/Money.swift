// SPDX-License-Identifier: Apache-2.0

/// A currency by its ISO 4217 code.
public struct Currency: Hashable, Sendable, Codable {
    public let code: String

    /// Reads three letters A to Z. Nil for any other text.
    public init?(code: String) {
        guard code.utf8.count == 3, code.utf8.allSatisfy({ (65...90).contains($0) }) else {
            return nil
        }
        self.code = code
    }

    /// The number of decimals of its smallest unit: 0 for the yen, 3 for the
    /// Kuwaiti dinar, mostly 2 (ISO 4217 list one).
    public var minorUnits: Int { Self.exceptions[code] ?? 2 }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let currency = Currency(code: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a currency is three letters A to Z")
        }
        self = currency
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(code)
    }

    private static let exceptions: [String: Int] = {
        var units: [String: Int] = [:]
        let none = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
        for code in none.split(separator: " ") { units[String(code)] = 0 }
        for code in "BHD IQD JOD KWD LYD OMR TND".split(separator: " ") { units[String(code)] = 3 }
        for code in "CLF UYW".split(separator: " ") { units[String(code)] = 4 }
        return units
    }()
}

/// An exact decimal amount without a currency, in thousandths, like the prices
/// of Apple's servers ("milliunits"). 1.99 is 1990.
public struct Amount: Hashable, Comparable, Sendable, Codable {
    public let milliunits: Int64

    /// Higher prices are rejected. 10^12 units is far above any storefront's
    /// highest price.
    public static let milliunitsMax: Int64 = 1_000_000_000_000_000

    public init(milliunits: Int64) {
        self.milliunits = milliunits
    }

    public init(from decoder: any Decoder) throws {
        milliunits = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliunits)
    }

    /// Reads a decimal such as `0.99`, `1` or `14.0`: digits, at most one point
    /// and at most three decimals, without sign or exponent. Nil for any other
    /// text.
    public init?(decimal text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = parts.first, !whole.isEmpty,
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { return nil }
        let fraction = parts.count == 2 ? parts[1] : "0"
        let thousandths =
            fraction.prefix(3) + String(repeating: "0", count: max(0, 3 - fraction.count))
        guard !fraction.isEmpty, fraction.dropFirst(3).allSatisfy({ $0 == "0" }),
            whole.count <= 13, let units = Int64(whole), let rest = Int64(thousandths),
            units * 1000 + rest <= Self.milliunitsMax
        else { return nil }
        milliunits = units * 1000 + rest
    }

    public static func < (left: Self, right: Self) -> Bool { left.milliunits < right.milliunits }

    public static func * (amount: Self, count: Int) -> Amount {
        Amount(milliunits: amount.milliunits * Int64(count))
    }

    /// Formats the amount with at least `decimals` and at most three decimals.
    public func decimal(decimals: Int = 0) -> String {
        let sign = milliunits < 0 ? "-" : ""
        let digits = String(milliunits.magnitude)
        let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        var fraction = String(padded.suffix(3))
        while fraction.count > min(decimals, 3), fraction.hasSuffix("0") { fraction.removeLast() }
        let point = fraction.isEmpty ? "" : "."
        return sign + padded.dropLast(3) + point + fraction
    }
}

/// An exact amount of a currency.
public struct Money: Hashable, Sendable, Codable, CustomStringConvertible {
    public let amount: Amount
    public let currency: Currency

    public init(_ amount: Amount, _ currency: Currency) {
        self.amount = amount
        self.currency = currency
    }

    /// The amount with its currency's decimals, and the code: `1.99 USD`, `100
    /// JPY`.
    public var description: String {
        amount.decimal(decimals: currency.minorUnits) + " " + currency.code
    }
}
