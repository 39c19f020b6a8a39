// SPDX-License-Identifier: Apache-2.0

import Commerce

/// A value that is about to be written.
enum JSONValue {
    case null
    case literal(String)
    case string(String)
    case array([JSONSlot])
    case object([(key: String, slot: JSONSlot)])

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .literal(let text): bytes.append(contentsOf: text.utf8)
        case .string(let text): Self.write(text, to: &bytes)
        case .array(let slots):
            bytes.append(UInt8(ascii: "["))
            for (index, slot) in slots.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                slot.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members): Self.write(members, to: &bytes)
        }
    }

    private static func write(
        _ members: [(key: String, slot: JSONSlot)], to bytes: inout [UInt8]
    ) {
        let sorted = members.sorted { $0.key < $1.key }
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in sorted.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(member.key, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            member.slot.value.write(to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    static func write(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            // Most texts need no escape and are written unchanged.
            if text.allSatisfy({ $0 >= 0x20 && $0 != escapeMark && $0 != quote }) {
                bytes.append(contentsOf: text)
            } else {
                for byte in text { writeEscaped(byte, to: &bytes) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
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

/// The place of a value that follows later. A class, because Swift's encoding
/// containers fill it after they were handed out.
final class JSONSlot {
    var value = JSONValue.null

    func member(_ key: String) -> JSONSlot {
        let slot = JSONSlot()
        guard case .object(var members) = value else { return slot }
        value = .null
        members.append((key, slot))
        value = .object(members)
        return slot
    }

    func element() -> JSONSlot {
        let slot = JSONSlot()
        guard case .array(var elements) = value else { return slot }
        value = .null
        elements.append(slot)
        value = .array(elements)
        return slot
    }
}

/// Fills a slot, for Swift's `Encodable`. Paths are not kept, because only a
/// number that JSON cannot represent can fail, and its value explains more than
/// its path.
struct JSONSlotEncoder: Encoder {
    let slot: JSONSlot
    var codingPath: [any CodingKey] { [] }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object = slot.value {} else { slot.value = .object([]) }
        return KeyedEncodingContainer(JSONKeyedEncoding<Key>(slot: slot))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.value = .array([])
        return JSONUnkeyedEncoding(slot: slot)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension JSONSlotEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { slot.value = .null }
    func encode(_ value: Bool) throws { slot.value = .literal(value ? "true" : "false") }
    func encode(_ value: String) throws { slot.value = .string(value) }
    func encode(_ value: Double) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: codingPath, debugDescription: "JSON has finite numbers only"))
        }
        slot.value = .literal(Int64(exactly: value).map { "\($0)" } ?? "\(value)")
    }
    func encode(_ value: Float) throws { try encode(Double(value)) }
    func encode(_ value: Int) throws { integer(value) }
    func encode(_ value: Int8) throws { integer(value) }
    func encode(_ value: Int16) throws { integer(value) }
    func encode(_ value: Int32) throws { integer(value) }
    func encode(_ value: Int64) throws { integer(value) }
    func encode(_ value: UInt) throws { integer(value) }
    func encode(_ value: UInt8) throws { integer(value) }
    func encode(_ value: UInt16) throws { integer(value) }
    func encode(_ value: UInt32) throws { integer(value) }
    func encode(_ value: UInt64) throws { integer(value) }
    func encode(_ value: some Encodable) throws { try value.encode(to: self) }

    private func integer(_ value: some FixedWidthInteger) {
        slot.value = .literal(String(value))
    }
}

/// Encodes the members of an object. Absent values are left out, and not
/// written as null.
struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: JSONSlot
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws {}
    mutating func encode(_ value: Bool, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: String, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try member(key).encode(value) }
    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        try member(key).encode(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        member(key).container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        member(key).unkeyedContainer()
    }
    mutating func superEncoder() -> any Encoder {
        JSONSlotEncoder(slot: slot)
    }
    mutating func superEncoder(forKey key: Key) -> any Encoder { member(key) }

    private func member(_ key: Key) -> JSONSlotEncoder {
        JSONSlotEncoder(slot: slot.member(key.stringValue))
    }
}

/// Encodes the elements of an array.
struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let slot: JSONSlot
    var codingPath: [any CodingKey] { [] }

    var count: Int {
        guard case .array(let elements) = slot.value else { return 0 }
        return elements.count
    }

    mutating func encodeNil() throws { try element().encodeNil() }
    mutating func encode(_ value: some Encodable) throws { try element().encode(value) }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        element().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        element().unkeyedContainer()
    }
    mutating func superEncoder() -> any Encoder { element() }

    private func element() -> JSONSlotEncoder {
        JSONSlotEncoder(slot: slot.element())
    }
}
