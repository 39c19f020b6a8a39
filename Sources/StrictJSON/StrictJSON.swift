// SPDX-License-Identifier: Apache-2.0

/// JSON for signed and foreign data. Written in one way only: keys sorted by their
/// bytes, nothing absent as null, slashes as they are, no white space. Read
/// strictly (RFC 8259): UTF-8, one value, no duplicate keys, since two
/// readers may otherwise see different payloads under one signature. A page
/// of our own because decoding would cost as much as the signature's check.
package enum StrictJSON {
    /// Values inside values.
    package static let depthMax = 32
    /// Bytes of one text, above what any envelope of this module may hold.
    package static let bytesMax = 4 * 1024 * 1024

    package static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8]
    ) throws -> Value {
        let document = try JSONDocument(bytes)
        return try JSONNodeDecoder(document: document, index: 0, codingPath: []).value(type)
    }

    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let slot = JSONSlot()
        try JSONSlotEncoder(slot: slot).encode(value)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1024)
        slot.value.write(to: &bytes)
        return bytes
    }
}

/// Why a text is not the JSON that it should be.
package struct JSONFailure: Error, Hashable, CustomStringConvertible {
    /// The byte at which reading stopped.
    package let offset: Int
    package let rule: String

    package var description: String { "at byte \(offset): \(rule)" }
}
