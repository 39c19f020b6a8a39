// SPDX-License-Identifier: Apache-2.0

/// Fills one place of a sheet, for Swift's `Encodable`. Paths are not kept, because only a
/// number that JSON cannot represent can fail, and its value explains more than
/// its path.
struct JSONSheetEncoder: Encoder {
    let sheet: JSONSheet
    var place = 0
    var codingPath: [any CodingKey] { [] }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        sheet.beginObject(place)
        return KeyedEncodingContainer(JSONKeyedEncoding<Key>(object: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        sheet.beginArray(place)
        return JSONUnkeyedEncoding(array: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension JSONSheetEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { sheet.setNull(place) }
    func encode(_ value: Bool) throws { sheet.set(place, literal: value ? "true" : "false") }
    func encode(_ value: String) throws { sheet.set(place, string: value) }
    func encode(_ value: Double) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: codingPath, debugDescription: "JSON has finite numbers only"))
        }
        sheet.set(place, literal: Int64(exactly: value).map { "\($0)" } ?? "\(value)")
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
        sheet.set(place, literal: String(value))
    }
}

/// Encodes the members of an object. Absent values are left out, and not
/// written as null.
struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let object: JSONSheetEncoder
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

    // The standard library's defaults for these types, which are frequent in payloads, would
    // go through two more generic calls.
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        if let value { try member(key).encode(value) }
    }
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        if let value { try member(key).encode(value) }
    }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        if let value { try member(key).encode(value) }
    }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        if let value { try member(key).encode(value) }
    }
    mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        if let value { try member(key).encode(value) }
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
        object
    }
    mutating func superEncoder(forKey key: Key) -> any Encoder { member(key) }

    private func member(_ key: Key) -> JSONSheetEncoder {
        JSONSheetEncoder(
            sheet: object.sheet,
            place: object.sheet.member(key.stringValue, of: object.place))
    }
}

/// Encodes the elements of an array.
struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let array: JSONSheetEncoder
    var codingPath: [any CodingKey] { [] }

    var count: Int { array.sheet.count(of: array.place) }

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

    private func element() -> JSONSheetEncoder {
        JSONSheetEncoder(sheet: array.sheet, place: array.sheet.element(of: array.place))
    }
}
