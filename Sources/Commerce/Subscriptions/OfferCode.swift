// SPDX-License-Identifier: Apache-2.0

/// The text of an offer code. Letters count as capital ones.
public struct OfferCode: Hashable, Sendable, CustomStringConvertible {
    /// Up to 64 capital letters A–Z and digits.
    public let text: String

    public static let rule = "1 to 64 letters A–Z and digits"
    public static let lengthMax = 64
    /// The most customers who redeem one code.
    public static let redemptionsMax: Int64 = 1_000_000
    /// The most codes that are made at once.
    public static let batchMax = 1000

    /// Reads a code as a customer enters it, in any case and with spaces or `-`
    /// around or within. Nil if that is not a code.
    public init?(text: String) {
        var letters: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a: letters.append(byte)
            case 0x61...0x7a: letters.append(byte - 0x20)
            case 0x20, 0x2d: break
            default: return nil
            }
        }
        guard (1...Self.lengthMax).contains(letters.count) else { return nil }
        self.text = String(decoding: letters, as: UTF8.self)
    }

    /// Draws a code for one customer: 18 letters and digits that are not easily
    /// confused.
    public init(_ randomness: Randomness) {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        text = String(randomness.bytes(18).map { letters[Int($0 & 31)] })
    }

    public var description: String { text }
}
