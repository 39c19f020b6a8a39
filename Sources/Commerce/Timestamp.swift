// SPDX-License-Identifier: Apache-2.0

/// An instant: whole milliseconds since 1970-01-01T00:00:00Z, as on the wire
/// and in storage.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    /// Dates further from 1970, some 285,000 years, are rejected on input. So
    /// adding periods to an accepted one cannot overflow.
    public static let magnitudeMax: UInt64 = 9_000_000_000_000_000

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Returns the instant `seconds` later (earlier if negative).
    public func adding(seconds: Int64) -> Timestamp {
        Timestamp(milliseconds: milliseconds + seconds * 1000)
    }

    /// Returns the instant `milliseconds` later (earlier if negative).
    public func adding(milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: self.milliseconds + milliseconds)
    }

    /// Returns the milliseconds from `earlier` to this instant.
    public func milliseconds(since earlier: Timestamp) -> Int64 {
        milliseconds - earlier.milliseconds
    }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Normally whole milliseconds, but Xcode signs dates with a fraction.
        if let whole = try? container.decode(Int64.self) {
            milliseconds = whole
        } else {
            let fractional = try container.decode(Double.self)
            milliseconds = Int64(exactly: fractional.rounded(.down)) ?? .max
        }
        guard milliseconds.magnitude <= Self.magnitudeMax else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a date out of range")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}
