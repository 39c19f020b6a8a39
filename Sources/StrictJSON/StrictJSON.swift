// SPDX-License-Identifier: Apache-2.0

import Commerce

/// JSON for signed and foreign data. It is written in only one way: keys sorted
/// by their bytes, absent values left out, slashes unescaped, no white space.
/// It is read strictly (RFC 8259): UTF-8, one value, no duplicate keys.
/// Otherwise two readers could see different payloads under one signature. This
/// is our own code, because Foundation's decoding would cost as much as
/// checking the signature.
package enum StrictJSON {
    /// The deepest nesting.
    package static let depthMax = JSONLimits.signed.depthMax
    /// The most bytes of one text, more than a signed envelope may have.
    package static let bytesMax = JSONLimits.signed.bytesMax

    /// Decodes a value from a text of at most `bytesMax` bytes.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], bytesMax: Int = bytesMax
    ) throws -> Value {
        let limits = JSONLimits(bytesMax: bytesMax, depthMax: depthMax)
        let document = try JSONDocument(bytes, limits: limits)
        return try JSONNodeDecoder(document: document, index: 0, codingPath: []).value(type)
    }

    /// Writes a text in quotes, with non-ASCII characters and slashes
    /// unescaped.
    package static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(quote)
        writeUnquoted(text, to: &bytes)
        bytes.append(quote)
    }

    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let sheet = JSONSheet()
        try JSONSheetEncoder(sheet: sheet).encode(value)
        return sheet.written()
    }

    static func writeUnquoted(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { text in
            // Most texts need no escape and are written unchanged.
            if needsNoEscape(UnsafeRawBufferPointer(text)) {
                bytes.append(contentsOf: text)
            } else {
                for byte in text { writeEscaped(byte, to: &bytes) }
            }
        }
    }

    /// Whether no byte is a quote, an escape mark or below 0x20. Looks at eight bytes at a
    /// time, because a signed transaction is one text of thousands.
    private static func needsNoEscape(_ text: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var place = 0
        while place + 8 <= text.count {
            let word = text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let quotes = word ^ (ones &* UInt64(quote))
            let marks = word ^ (ones &* UInt64(escapeMark))
            // The high bit of a byte is set where it is zero, or below 0x20.
            let found =
                (quotes &- ones) & ~quotes | (marks &- ones) & ~marks
                | (word &- ones &* 0x20) & ~word
            if found & highs != 0 { return false }
            place += 8
        }
        return text[place...].allSatisfy { $0 >= 0x20 && $0 != escapeMark && $0 != quote }
    }

    private static let quote = UInt8(ascii: "\"")
    private static let escapeMark = UInt8(ascii: "\\")

    private static func writeEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case quote, escapeMark:
            bytes.append(escapeMark)
            bytes.append(byte)
        case 0x0A: bytes.append(contentsOf: "\\n".utf8)
        case 0x0D: bytes.append(contentsOf: "\\r".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case ..<0x20: bytes.append(contentsOf: "\\u00\(hexadecimal([byte]))".utf8)
        default: bytes.append(byte)
        }
    }
}

/// The limits beyond which a text is rejected.
package struct JSONLimits: Sendable {
    package let bytesMax: Int
    /// The deepest nesting.
    package let depthMax: Int

    package init(bytesMax: Int, depthMax: Int) {
        self.bytesMax = bytesMax
        self.depthMax = depthMax
    }

    package static let signed = JSONLimits(bytesMax: 4 * 1024 * 1024, depthMax: 32)
}

/// Why a text is not valid JSON of the expected kind.
package struct JSONFailure: Error, Hashable, CustomStringConvertible {
    /// The offset of the byte at which reading stopped.
    package let offset: Int
    package let rule: String

    package var description: String { "at byte \(offset): \(rule)" }
}
