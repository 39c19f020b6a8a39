// SPDX-License-Identifier: Apache-2.0

/// An instant: whole milliseconds since 1970-01-01T00:00:00Z, as it is on
/// the wire and in storage.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The instant `seconds` later; earlier when negative.
    public func adding(seconds: Int64) -> Timestamp {
        Timestamp(milliseconds: milliseconds + seconds * 1000)
    }

    /// The instant `milliseconds` later; earlier when negative.
    public func adding(milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: self.milliseconds + milliseconds)
    }

    /// Milliseconds from `earlier` to this instant.
    public func milliseconds(since earlier: Timestamp) -> Int64 {
        milliseconds - earlier.milliseconds
    }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Xcode signs dates with a fraction of a millisecond; whole ones are the rule.
        if let whole = try? container.decode(Int64.self) {
            self.init(milliseconds: whole)
        } else {
            let fractional = try container.decode(Double.self)
            guard fractional.magnitude < 9e15 else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "a date out of range")
            }
            self.init(milliseconds: Int64(fractional.rounded(.down)))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}
