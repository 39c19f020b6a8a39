// SPDX-License-Identifier: Apache-2.0

/// Decodes one value of a document, for Swift's `Decodable`.
struct JSONNodeDecoder: Decoder {
    let document: JSONDocument
    let index: Int
    let codingPath: [any CodingKey]

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: self)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard kind == .object else { throw mismatch([String: Int].self, "an object") }
        return KeyedDecodingContainer(JSONKeyedDecoding<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard kind == .array else { throw mismatch([Int].self, "an array") }
        return JSONUnkeyedDecoding(decoder: self, position: index + 1)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        self
    }

    /// The decoder of a container inside this value.
    func at(_ index: Int, _ key: some CodingKey) -> JSONNodeDecoder {
        JSONNodeDecoder(document: document, index: index, codingPath: codingPath + [key])
    }

    /// Decodes a value inside this one. Its path is made only for an error, because
    /// making it costs more than decoding.
    func decode<Value>(
        _ index: Int, _ key: @autoclosure () -> some CodingKey,
        _ decode: (JSONNodeDecoder) throws -> Value
    ) throws -> Value {
        let inner = JSONNodeDecoder(document: document, index: index, codingPath: [])
        do { return try decode(inner) } catch let error as DecodingError {
            throw error.below(codingPath + [key()])
        }
    }

    var kind: JSONDocument.Kind { document.nodes[index].kind }

    func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
        DecodingError.typeMismatch(
            type,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: "\(expected) is expected"))
    }
}

extension JSONNodeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { kind == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        switch kind {
        case .true: true
        case .false: false
        default: throw mismatch(type, "true or false")
        }
    }

    func decode(_ type: String.Type) throws -> String {
        guard kind == .string else { throw mismatch(type, "a string") }
        return document.text(of: index)
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard let double = document.double(at: index), double.isFinite else {
            throw mismatch(type, "a number")
        }
        return double
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }

    private func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        guard let integer = document.integer(at: index, as: type) else {
            throw mismatch(type, "a whole number")
        }
        return integer
    }
}

/// The members of an object. Requirements that are missing here call
/// `decode(_:forKey:)` through the standard library's defaults.
struct JSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: JSONNodeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] {
        decoder.document.keys(of: decoder.index).compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool { index(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try inner(key) { $0.decodeNil() } }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try inner(key) { try $0.decode(type) }
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try inner(key) { try $0.decode(type) }
    }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try inner(key) { try $0.value(type) }
    }

    // These types are frequent in payloads, so their members are looked up only
    // once.
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key) { try $0.decode(type) }
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key) { try $0.decode(type) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key) { try $0.decode(type) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(key) { try $0.decode(type) }
    }
    func decodeIfPresent<Value: Decodable>(
        _ type: Value.Type, forKey key: Key
    ) throws -> Value? {
        try present(key) { try $0.value(type) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

    private func index(_ key: Key) -> Int? {
        decoder.document.member(key.stringValue, of: decoder.index)
    }

    /// The decoder of a member that is a container.
    private func member(_ key: Key) throws -> JSONNodeDecoder {
        decoder.at(try place(key), key)
    }

    private func inner<Value>(
        _ key: Key, _ decode: (JSONNodeDecoder) throws -> Value
    ) throws -> Value {
        try decoder.decode(try place(key), key, decode)
    }

    private func place(_ key: Key) throws -> Int {
        if let index = index(key) { return index }
        throw DecodingError.keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: "\(key.stringValue) is missing"))
    }

    /// Returns the index of the member if it is present and not null.
    private func presentIndex(_ key: Key) -> Int? {
        guard let index = index(key), decoder.document.nodes[index].kind != .null else {
            return nil
        }
        return index
    }

    private func present<Value>(
        _ key: Key, _ decode: (JSONNodeDecoder) throws -> Value
    ) throws -> Value? {
        guard let index = presentIndex(key) else { return nil }
        return try decoder.decode(index, key, decode)
    }
}

/// Decodes the elements of an array in order.
struct JSONUnkeyedDecoding: UnkeyedDecodingContainer {
    let decoder: JSONNodeDecoder
    /// The node of the next element.
    var position: Int
    private(set) var currentIndex = 0

    init(decoder: JSONNodeDecoder, position: Int) {
        self.decoder = decoder
        self.position = position
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var isAtEnd: Bool { position >= decoder.document.nodes[decoder.index].next }
    var count: Int? {
        var (count, at) = (0, decoder.index + 1)
        while at < decoder.document.nodes[decoder.index].next {
            count += 1
            at = decoder.document.nodes[at].next
        }
        return count
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, decoder.document.nodes[position].kind == .null else { return false }
        _ = try step()
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (place, index) = try step()
        return try decoder.decode(place, JSONPosition(intValue: index)) { try $0.value(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next().unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder { try next() }

    private mutating func next() throws -> JSONNodeDecoder {
        let (place, index) = try step()
        return decoder.at(place, JSONPosition(intValue: index))
    }

    /// Passes over an element, and returns its place and number.
    private mutating func step() throws -> (place: Int, index: Int) {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Int.self,
                DecodingError.Context(
                    codingPath: codingPath, debugDescription: "the array has no more elements"))
        }
        let element = (position, currentIndex)
        position = decoder.document.nodes[position].next
        currentIndex += 1
        return element
    }
}

/// The index of an element of an array, for messages.
struct JSONPosition: CodingKey {
    let intValue: Int?
    var stringValue: String { intValue.map { String($0) } ?? "" }

    init(intValue: Int) {
        self.intValue = intValue
    }

    init?(stringValue: String) { nil }
}

extension DecodingError {
    /// The same error of a value that is inside another one.
    fileprivate func below(_ path: [any CodingKey]) -> DecodingError {
        func outside(_ context: Context) -> Context {
            Context(
                codingPath: path + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        return switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, outside(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, outside(context))
        case .keyNotFound(let key, let context): .keyNotFound(key, outside(context))
        case .dataCorrupted(let context): .dataCorrupted(outside(context))
        @unknown default: self
        }
    }
}
