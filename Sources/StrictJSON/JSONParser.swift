// SPDX-License-Identifier: Apache-2.0

/// Finds the values in a JSON text.
struct JSONParser {
    typealias Node = JSONDocument.Node

    private let bytes: [UInt8]
    private let depthMax: Int
    private var position = 0
    private var hasForeignBytes = false
    private(set) var nodes: [Node] = []

    init(_ bytes: [UInt8], depthMax: Int) {
        self.bytes = bytes
        self.depthMax = depthMax
        nodes.reserveCapacity(64)
    }

    mutating func parse() throws(JSONFailure) {
        try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw failure("nothing may follow the value") }
        // Most texts are ASCII and need no further check.
        guard !hasForeignBytes || String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONFailure(offset: 0, rule: "the text must be UTF-8")
        }
    }

    private mutating func value(depth: Int) throws(JSONFailure) {
        guard depth < depthMax else {
            throw failure("at most \(depthMax) values inside each other")
        }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): try object(depth: depth)
        case UInt8(ascii: "["): try array(depth: depth)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true", .true)
        case UInt8(ascii: "f"): try word("false", .false)
        case UInt8(ascii: "n"): try word("null", .null)
        default: try number()
        }
    }

    private mutating func object(depth: Int) throws(JSONFailure) {
        let index = open(.object)
        if try !close(UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                guard peek == UInt8(ascii: "\"") else { throw failure("a key is expected") }
                try string()
                skipSpace()
                guard take(UInt8(ascii: ":")) else { throw failure("a colon is expected") }
                try value(depth: depth + 1)
            } while try comma(before: UInt8(ascii: "}"))
        }
        finish(index)
        try checkKeys(of: index)
    }

    private mutating func array(depth: Int) throws(JSONFailure) {
        let index = open(.array)
        if try !close(UInt8(ascii: "]")) {
            repeat {
                try value(depth: depth + 1)
            } while try comma(before: UInt8(ascii: "]"))
        }
        finish(index)
    }

    private mutating func string() throws(JSONFailure) {
        position += 1
        let start = position
        var hasEscapes = false
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw failure("control characters must be escaped") }
            if byte >= 0x80 { hasForeignBytes = true }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                try escape()
            } else {
                position += 1
            }
        }
        guard position < bytes.count else { throw failure("a closing quote is expected") }
        nodes.append(
            Node(
                kind: .string, hasEscapes: hasEscapes, start: start, end: position,
                next: nodes.count + 1))
        position += 1
    }

    private mutating func escape() throws(JSONFailure) {
        position += 1
        guard let byte = peek else { throw failure("an escape is cut off") }
        position += 1
        guard byte == UInt8(ascii: "u") else {
            guard Self.escapes[byte] != nil else { throw failure("an unknown escape") }
            return
        }
        let unit = try hexadecimalUnit()
        if UTF16.isTrailSurrogate(unit) { throw failure("half of a surrogate pair") }
        if UTF16.isLeadSurrogate(unit) {
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")),
                UTF16.isTrailSurrogate(try hexadecimalUnit())
            else { throw failure("half of a surrogate pair") }
        }
    }

    private mutating func hexadecimalUnit() throws(JSONFailure) -> UInt16 {
        guard position + 4 <= bytes.count,
            let unit = Self.unit(bytes[position..<(position + 4)])
        else { throw failure("four hexadecimal digits are expected") }
        position += 4
        return unit
    }

    private mutating func number() throws(JSONFailure) {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        nodes.append(Node(kind: .number, start: start, end: position, next: nodes.count + 1))
    }

    private mutating func digits() throws(JSONFailure) {
        let start = position
        while let byte = peek, byte &- UInt8(ascii: "0") < 10 { position += 1 }
        guard position > start else { throw failure("a value or a digit is expected") }
    }

    private mutating func word(
        _ word: StaticString, _ kind: JSONDocument.Kind
    ) throws(JSONFailure) {
        let start = position
        let end = start + word.utf8CodeUnitCount
        let matches = word.withUTF8Buffer { word in
            end <= bytes.count && bytes[start..<end].elementsEqual(word)
        }
        guard matches else { throw failure("a value is expected") }
        position = end
        nodes.append(Node(kind: kind, start: start, end: end, next: nodes.count + 1))
    }

    /// Throws if two members have the same key. A few keys are compared pair by
    /// pair.
    private func checkKeys(of index: Int) throws(JSONFailure) {
        var keys: [Int] = []
        var (at, hasEscapes) = (index + 1, false)
        while at < nodes[index].next {
            keys.append(at)
            hasEscapes = hasEscapes || nodes[at].hasEscapes
            at = nodes[at + 1].next
        }
        let areUnique =
            hasEscapes || keys.count > 32
            ? Set(keys.map(key)).count == keys.count
            : keys.indices.allSatisfy { one in
                keys[..<one].allSatisfy { !isSame($0, keys[one]) }
            }
        guard areUnique else {
            throw JSONFailure(offset: nodes[index].start, rule: "two members have one key")
        }
    }

    private func key(_ index: Int) -> ArraySlice<UInt8> {
        let key = bytes[nodes[index].start..<nodes[index].end]
        return nodes[index].hasEscapes ? Self.unescape(key) : key
    }

    /// Whether two texts without escapes have the same bytes.
    private func isSame(_ one: Int, _ other: Int) -> Bool {
        let (one, other) = (nodes[one], nodes[other])
        guard one.end - one.start == other.end - other.start else { return false }
        return bytes[one.start..<one.end] == bytes[other.start..<other.end]
    }
}

extension JSONParser {
    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ rule: String) -> JSONFailure {
        JSONFailure(offset: position, rule: rule)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    private mutating func open(_ kind: JSONDocument.Kind) -> Int {
        nodes.append(Node(kind: kind, start: position, end: position, next: 0))
        position += 1
        return nodes.count - 1
    }

    private mutating func close(_ byte: UInt8) throws(JSONFailure) -> Bool {
        skipSpace()
        return take(byte)
    }

    /// Returns whether another element follows. If not, skips the character
    /// that ends the list.
    private mutating func comma(before end: UInt8) throws(JSONFailure) -> Bool {
        skipSpace()
        if take(UInt8(ascii: ",")) { return true }
        guard take(end) else { throw failure("a comma or the end is expected") }
        return false
    }

    private mutating func finish(_ index: Int) {
        nodes[index].end = position
        nodes[index].next = nodes.count
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
        UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C,
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
    ]

    private static func unit(_ digits: ArraySlice<UInt8>) -> UInt16? {
        digits.reduce(UInt16?.some(0)) { unit, digit in
            guard let unit else { return nil }
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): return unit << 4 | UInt16(digit - 48)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): return unit << 4 | UInt16(digit - 87)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): return unit << 4 | UInt16(digit - 55)
            default: return nil
            }
        }
    }

    /// Returns the bytes of a string with its escapes resolved. The string has
    /// already been checked.
    static func unescape(_ raw: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        var units: [UInt16] = []
        var rest = raw
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            guard escaped == UInt8(ascii: "u") else {
                bytes.append(escapes[escaped] ?? escaped)
                continue
            }
            units.append(unit(rest.prefix(4)) ?? 0)
            rest = rest.dropFirst(4)
            if units.count == 2 || !UTF16.isLeadSurrogate(units[0]) {
                bytes.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
                units = []
            }
        }
        return bytes[...]
    }
}
