// SPDX-License-Identifier: Apache-2.0

/// A length of calendar time in one unit, as in subscriptions.
public struct Period: Hashable, Sendable, CustomStringConvertible {
    public enum Unit: Character, Sendable, CaseIterable {
        case day = "D"
        case week = "W"
        case month = "M"
        case year = "Y"
    }

    /// The periods of auto-renewable subscriptions, in ISO 8601.
    public static let ofSubscriptions = ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"]

    /// At least 1.
    public let count: Int
    public let unit: Unit

    public init(_ count: Int, _ unit: Unit) {
        precondition(count >= 1, "a period is one unit or more")
        self.count = count
        self.unit = unit
    }

    /// Reads an ISO 8601 duration of one unit: `P3D`, `P1W`, `P6M`, `P1Y`. Nil
    /// for any other text, and for more than 999 units.
    public init?(iso8601 text: some StringProtocol) {
        guard text.first == "P", let last = text.last, let unit = Unit(rawValue: last) else {
            return nil
        }
        let digits = text.dropFirst().dropLast()
        guard (1...3).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int(digits), count >= 1
        else { return nil }
        self.init(count, unit)
    }

    /// The ISO 8601 form.
    public var description: String { "P\(count)\(unit.rawValue)" }
}

extension Period: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let period = Period(iso8601: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a period is an ISO 8601 duration of one unit")
        }
        self = period
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
