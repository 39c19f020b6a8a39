// SPDX-License-Identifier: Apache-2.0

/// JSON for signed and foreign data. Written in one way only: keys sorted by their
/// bytes, nothing absent as null, slashes as they are, no white space. Read
/// strictly (RFC 8259): UTF-8, one value, no duplicate keys, since two
/// readers may otherwise see different payloads under one signature. A page
/// of our own because decoding would cost as much as the signature's check.
package enum StrictJSON {
    /// Values inside values.
    package static let depthMax = JSONLimits.signed.depthMax
    /// Bytes of one text, above what any signed envelope may hold.
    package static let bytesMax = JSONLimits.signed.bytesMax

    /// Reads a value of a text of at most `bytesMax` bytes.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], bytesMax: Int = bytesMax
    ) throws -> Value {
        let limits = JSONLimits(bytesMax: bytesMax, depthMax: depthMax)
        let document = try JSONDocument(bytes, limits: limits)
        return try JSONNodeDecoder(document: document, index: 0, codingPath: []).value(type)
    }

    /// Writes a text in quotes: non-ASCII characters and slashes as they are.
    package static func write(_ text: String, to bytes: inout [UInt8]) {
        JSONValue.write(text, to: &bytes)
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

/// How much of a text is read before it is refused.
package struct JSONLimits: Sendable {
    package let bytesMax: Int
    /// Values inside values.
    package let depthMax: Int

    package init(bytesMax: Int, depthMax: Int) {
        self.bytesMax = bytesMax
        self.depthMax = depthMax
    }

    package static let signed = JSONLimits(bytesMax: 4 * 1024 * 1024, depthMax: 32)
}

/// Why a text is not the JSON that it should be.
package struct JSONFailure: Error, Hashable, CustomStringConvertible {
    /// The byte at which reading stopped.
    package let offset: Int
    package let rule: String

    package var description: String { "at byte \(offset): \(rule)" }
}
