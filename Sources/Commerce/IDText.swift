// SPDX-License-Identifier: Apache-2.0

/// The type of an ``Identifier``'s value.
public protocol IdentifierValue: Hashable, Sendable, Codable {
    /// Whether both have the same bytes.
    func isSame(as other: Self) -> Bool
    func hashBytes(into hasher: inout Hasher)
}

extension Int64: IdentifierValue {
    public func isSame(as other: Int64) -> Bool { self == other }

    public func hashBytes(into hasher: inout Hasher) { hasher.combine(self) }
}

extension String: IdentifierValue {
    /// Whether both have the same UTF-8 bytes. Foreign text is compared this
    /// way wherever a database compares it too, because `==` considers some
    /// texts equal that a database distinguishes.
    public func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    public func hashBytes(into hasher: inout Hasher) {
        for byte in utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}

extension String? {
    /// Compares like two texts. Nil equals only nil.
    public func isSame(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let one?, let another?): one.isSame(as: another)
        default: false
        }
    }
}

/// The rule for ids that people choose: ids of products, groups, offers, images
/// and operators.
public enum IDText {
    public static let bytesMax = 100
    /// The rule, for messages.
    public static let rule =
        "1 to 100 of letters A–Z and a–z, digits, `-`, `.` and `_`, and not `.` or `..` alone"

    /// `.` and `..` are excluded, because in an address they would mean another
    /// path.
    public static func isID(_ text: String) -> Bool {
        (1...bytesMax).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0)
                    || $0 == 45 || $0 == 46 || $0 == 95
            }
    }
}
