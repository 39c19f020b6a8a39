// SPDX-License-Identifier: Apache-2.0

/// A JSON text with the positions of its values. A value is converted only when
/// it is requested. A class, so that decoders of its parts share it cheaply.
final class JSONDocument: Sendable {
    enum Kind: UInt8 {
        case object, array, string, number, `true`, `false`, null
    }

    /// One value: its bytes (of a string those between the quotes), and the
    /// index of the node after it and its contents. An object's members are a
    /// node for the key and then one for the value.
    struct Node {
        let kind: Kind
        var hasEscapes = false
        let start: Int
        var end: Int
        var next: Int
    }

    let bytes: [UInt8]
    let nodes: [Node]

    init(_ bytes: [UInt8], limits: JSONLimits = .signed) throws(JSONFailure) {
        guard bytes.count <= limits.bytesMax else {
            throw JSONFailure(offset: 0, rule: "at most \(limits.bytesMax) bytes")
        }
        var parser = JSONParser(bytes, depthMax: limits.depthMax)
        try parser.parse()
        self.bytes = bytes
        nodes = parser.nodes
    }

    /// Returns the index of the value for a key of the object at `index`.
    func member(_ key: String, of index: Int) -> Int? {
        var key = key
        return key.withUTF8 { key in
            var at = index + 1
            while at < nodes[index].next {
                if matches(nodes[at], key) { return at + 1 }
                at = nodes[at + 1].next
            }
            return nil
        }
    }

    /// The keys of the object at `index`.
    func keys(of index: Int) -> [String] {
        var keys: [String] = []
        var at = index + 1
        while at < nodes[index].next {
            keys.append(text(of: at))
            at = nodes[at + 1].next
        }
        return keys
    }

    /// The text of the string at `index`.
    func text(of index: Int) -> String {
        let node = nodes[index]
        let raw = bytes[node.start..<node.end]
        return String(decoding: node.hasEscapes ? JSONParser.unescape(raw) : raw, as: UTF8.self)
    }

    /// Returns the whole number at `index`. Nil if it is not one, or too large.
    func integer<Value: FixedWidthInteger>(at index: Int, as type: Value.Type) -> Value? {
        let node = nodes[index]
        guard node.kind == .number else { return nil }
        var position = node.start
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        var value: Value = 0
        while position < node.end {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return wholeDouble(at: index) }
            let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                isNegative
                ? tenfold.subtractingReportingOverflow(Value(digit))
                : tenfold.addingReportingOverflow(Value(digit))
            guard !overflow, !carry else { return nil }
            value = sum
            position += 1
        }
        return value
    }

    func double(at index: Int) -> Double? {
        let node = nodes[index]
        guard node.kind == .number else { return nil }
        return Double(String(decoding: bytes[node.start..<node.end], as: UTF8.self))
    }

    /// Accepts `1.0` and `1e3` as whole numbers too.
    private func wholeDouble<Value: FixedWidthInteger>(at index: Int) -> Value? {
        guard let double = double(at: index), double.magnitude < 9_007_199_254_740_992 else {
            return nil
        }
        return Value(exactly: double)
    }

    private func matches(_ node: Node, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        if node.hasEscapes {
            return JSONParser.unescape(bytes[node.start..<node.end]).elementsEqual(key)
        }
        guard node.end - node.start == key.count else { return false }
        for offset in 0..<key.count where bytes[node.start + offset] != key[offset] {
            return false
        }
        return true
    }
}
