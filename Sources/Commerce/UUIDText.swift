// SPDX-License-Identifier: Apache-2.0

/// A UUID as on the wire: 36 characters in lower case.
public struct UUIDText: Hashable, Sendable {
    public let text: String

    /// Reads a UUID in upper or lower case. Nil if `text` is not a UUID.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        for (index, byte) in bytes.enumerated() {
            let isDash = [8, 13, 18, 23].contains(index)
            guard isDash ? byte == UInt8(ascii: "-") : Self.isHexadecimal(byte) else { return nil }
        }
        self.text = text.lowercased()
    }

    /// Makes a UUID from sixteen bytes, in order.
    init(bytes: [UInt8]) {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (place, byte) in bytes.enumerated() {
            switch place {
            case 4, 6, 8, 10: text.append(UInt8(ascii: "-"))
            default: break
            }
            text.append(hexadecimalDigit(byte >> 4))
            text.append(hexadecimalDigit(byte & 15))
        }
        self.text = String(decoding: text, as: UTF8.self)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}

extension UUIDText: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let uuid = UUIDText(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a UUID has 36 characters")
        }
        self = uuid
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
