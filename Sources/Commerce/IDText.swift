// SPDX-License-Identifier: Apache-2.0

/// What an ``Identifier`` holds.
public protocol IdentifierValue: Hashable, Sendable, Codable {
    /// Whether both are the same bytes.
    func isSame(as other: Self) -> Bool
    func hashBytes(into hasher: inout Hasher)
}

extension Int64: IdentifierValue {
    public func isSame(as other: Int64) -> Bool { self == other }

    public func hashBytes(into hasher: inout Hasher) { hasher.combine(self) }
}

extension String: IdentifierValue {
    /// Whether both are the same UTF-8. Texts from outside are compared so
    /// wherever a database compares them too: for `==`, two texts are equal
    /// that a database tells apart.
    public func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    public func hashBytes(into hasher: inout Hasher) {
        for byte in utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}

extension String? {
    /// As of two texts; nil is nil's only.
    public func isSame(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let one?, let another?): one.isSame(as: another)
        default: false
        }
    }
}

/// The rule for ids that people make up: of products, groups, offers, images
/// and operators.
public enum IDText {
    public static let bytesMax = 100
    /// The rule in words.
    public static let rule =
        "1 to 100 of letters A–Z and a–z, digits, `-`, `.` and `_`, and not `.` or `..` alone"

    /// Alone in an address, `.` and `..` would name another place.
    public static func isID(_ text: String) -> Bool {
        (1...bytesMax).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0)
                    || $0 == 45 || $0 == 46 || $0 == 95
            }
    }
}
