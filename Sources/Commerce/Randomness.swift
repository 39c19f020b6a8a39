// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A source of random bytes. `Live` has the unpredictable one. A seeded one
/// makes a test realm repeatable.
public struct Randomness: Sendable {
    private let draw: @Sendable (Int) -> [UInt8]

    public init(_ draw: @escaping @Sendable (Int) -> [UInt8]) {
        self.draw = draw
    }

    public func bytes(_ count: Int) -> [UInt8] { draw(count) }

    /// A random (version 4) UUID in lower case.
    public func uuid() -> String {
        var bytes = draw(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUIDText(bytes: bytes).text
    }

    /// `count` random bytes as lower-case hexadecimal digits.
    public func hex(_ count: Int) -> String { hexadecimal(draw(count)) }

    /// Returns a source that produces the same bytes for the same seed. Never
    /// use it for keys or tokens that protect money.
    public static func seeded(_ seed: UInt64) -> Randomness {
        let generator = Mutex(SplitMix64(state: seed))
        return Randomness { count in
            generator.withLock { generator in
                (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            }
        }
    }
}

/// Sebastiano Vigna's SplitMix64. Small and seedable, but not secure.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(state: UInt64) {
        self.state = state
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// `bytes` as lower-case hexadecimal digits.
@inlinable
public func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
        text.append(hexadecimalDigit(byte >> 4))
        text.append(hexadecimalDigit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
}

/// The lower-case digit of a number below 16.
@usableFromInline
func hexadecimalDigit(_ number: UInt8) -> UInt8 {
    number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "a") + number - 10
}

/// Decodes hexadecimal digits. Nil if `text` has another form.
public func bytes(hexadecimal text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
        guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else {
            return nil
        }
        bytes.append(high << 4 | low)
    }
    return bytes
}

private func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case 48...57: character - 48
    case 97...102: character - 87
    case 65...70: character - 55
    default: nil
    }
}
