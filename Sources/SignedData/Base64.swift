// SPDX-License-Identifier: Apache-2.0

/// The two alphabets of Base64 (RFC 4648): the standard one with padding for
/// certificates, and the URL-safe one without padding for the parts of a JWS.
/// Both are read strictly, so that each value has exactly one text.
package enum Base64 {
    /// Encodes as URL-safe text without padding.
    package static func encodeURL(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(encodedCount(bytes.count))
        appendURL(bytes, to: &text)
        return text
    }

    /// Appends URL-safe text without padding to `text`.
    package static func appendURL(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
        let done: Void? = bytes.withContiguousStorageIfAvailable {
            append($0, alphabet: urlAlphabet, to: &text)
        }
        if done == nil {
            Array(bytes).withUnsafeBufferPointer { append($0, alphabet: urlAlphabet, to: &text) }
        }
    }

    /// Encodes as standard text with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBufferPointer { append($0, alphabet: standardAlphabet, to: &text) }
        while text.count % 4 != 0 { text.append(padding) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes URL-safe text. Nil if it is padded, contains a foreign
    /// character, or its unused bits are not zero.
    package static func decodeURL(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        text.withUnsafeBufferPointer { decode($0, values: urlValues) }
    }

    /// Decodes standard text. Nil unless it is padded to a multiple of four and
    /// contains no other characters.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes = Array(text)
        guard bytes.count % 4 == 0 else { return nil }
        for _ in 0..<2 where bytes.last == padding { bytes.removeLast() }
        return bytes.withUnsafeBufferPointer { decode($0, values: standardValues) }
    }

    /// Decodes either alphabet and skips all other characters. Used to show
    /// what badly written text means.
    static func decodeLeniently(_ text: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for character in text {
            let value = min(urlValues[Int(character)], standardValues[Int(character)])
            guard value < 64 else { continue }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bytes
    }

    /// The number of characters that encode `count` bytes without padding.
    package static func encodedCount(_ count: Int) -> Int { (count * 4 + 2) / 3 }

    private static let padding = UInt8(ascii: "=")
    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let urlAlphabet = Array((letters + "-_").utf8)
    private static let standardAlphabet = Array((letters + "+/").utf8)
    private static let urlValues = values(of: urlAlphabet)
    private static let standardValues = values(of: standardAlphabet)
    private static let foreign: UInt8 = 0xFF

    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: foreign, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }

    private static func append(
        _ bytes: UnsafeBufferPointer<UInt8>, alphabet: [UInt8], to text: inout [UInt8]
    ) {
        alphabet.withUnsafeBufferPointer { alphabet in
            var index = 0
            while index + 2 < bytes.count {
                let group =
                    Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
                text.append(alphabet[group >> 18])
                text.append(alphabet[group >> 12 & 63])
                text.append(alphabet[group >> 6 & 63])
                text.append(alphabet[group & 63])
                index += 3
            }
            switch bytes.count - index {
            case 1:
                text.append(alphabet[Int(bytes[index]) >> 2])
                text.append(alphabet[Int(bytes[index]) << 4 & 63])
            case 2:
                let group = Int(bytes[index]) << 8 | Int(bytes[index + 1])
                text.append(alphabet[group >> 10])
                text.append(alphabet[group >> 4 & 63])
                text.append(alphabet[group << 2 & 63])
            default: break
            }
        }
    }

    /// Decodes characters without padding. Nil at a foreign character, for an
    /// impossible length, or if unused bits are set.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, values: [UInt8]
    ) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        let count = text.count * 3 / 4
        var seen: UInt8 = 0
        var leftover = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            values.withUnsafeBufferPointer { values in
                (seen, leftover) = fill(bytes, from: text, values: values)
            }
            initialized = count
        }
        return seen < 64 && leftover == 0 ? bytes : nil
    }

    /// Returns the union of all values (a foreign character sets the top bits),
    /// and the unused bits.
    private static func fill(
        _ bytes: UnsafeMutableBufferPointer<UInt8>, from text: UnsafeBufferPointer<UInt8>,
        values: UnsafeBufferPointer<UInt8>
    ) -> (UInt8, Int) {
        var seen: UInt8 = 0
        var (input, output) = (0, 0)
        func next() -> Int {
            let value = values[Int(text[input])]
            seen |= value
            input += 1
            return Int(value)
        }
        while input + 3 < text.count {
            let group = next() << 18 | next() << 12 | next() << 6 | next()
            bytes[output] = UInt8(truncatingIfNeeded: group >> 16)
            bytes[output + 1] = UInt8(truncatingIfNeeded: group >> 8)
            bytes[output + 2] = UInt8(truncatingIfNeeded: group)
            output += 3
        }
        switch text.count - input {
        case 2:
            let group = next() << 6 | next()
            bytes[output] = UInt8(truncatingIfNeeded: group >> 4)
            return (seen, group & 15)
        case 3:
            let group = next() << 12 | next() << 6 | next()
            bytes[output] = UInt8(truncatingIfNeeded: group >> 10)
            bytes[output + 1] = UInt8(truncatingIfNeeded: group >> 2)
            return (seen, group & 3)
        default:
            return (seen, 0)
        }
    }
}
