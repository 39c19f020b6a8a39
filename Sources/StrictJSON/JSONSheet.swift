// SPDX-License-Identifier: Apache-2.0

/// What is about to be written: one list of values and one text of all their keys and
/// leaves. Swift's encoding containers add to it after they were handed out.
final class JSONSheet {
    private enum Kind {
        case null
        /// Written as it is in ``texts``.
        case leaf
        case array
        case object
    }

    private struct Node {
        var kind = Kind.null
        /// The bytes of the member's key, without quotes.
        var key: Range<Int>
        var leaf: Range<Int> = 0..<0
        /// The places of its first and last element, and of the element after it.
        var first: Int?
        var last: Int?
        var next: Int?
    }

    private var nodes: [Node] = []
    private var texts: [UInt8] = []

    /// The whole value is at place 0.
    init() {
        nodes.reserveCapacity(96)
        texts.reserveCapacity(1024)
        nodes.append(Node(key: 0..<0))
    }

    /// Begins an object or continues the one that is there.
    func beginObject(_ place: Int) {
        if nodes[place].kind != .object { begin(.object, place) }
    }

    func beginArray(_ place: Int) { begin(.array, place) }

    func setNull(_ place: Int) { begin(.null, place) }

    private func begin(_ kind: Kind, _ place: Int) {
        nodes[place].kind = kind
        (nodes[place].first, nodes[place].last) = (nil, nil)
    }

    /// Sets a number or a word.
    func set(_ place: Int, literal: String) {
        setLeaf(place) { $0.append(contentsOf: literal.utf8) }
    }

    func set(_ place: Int, string: String) {
        setLeaf(place) { StrictJSON.write(string, to: &$0) }
    }

    private func setLeaf(_ place: Int, _ write: (inout [UInt8]) -> Void) {
        let start = texts.count
        write(&texts)
        nodes[place].kind = .leaf
        nodes[place].leaf = start..<texts.count
    }

    /// Adds a member to an object, and returns its place.
    func member(_ key: String, of place: Int) -> Int {
        let start = texts.count
        StrictJSON.writeUnquoted(key, to: &texts)
        return add(Node(key: start..<texts.count), to: place)
    }

    /// Adds an element to an array, and returns its place.
    func element(of place: Int) -> Int { add(Node(key: 0..<0), to: place) }

    func count(of place: Int) -> Int { children(of: place).count }

    private func add(_ node: Node, to place: Int) -> Int {
        let new = nodes.count
        nodes.append(node)
        if let last = nodes[place].last {
            nodes[last].next = new
        } else {
            nodes[place].first = new
        }
        nodes[place].last = new
        return new
    }

    private func children(of place: Int) -> [Int] {
        var children: [Int] = []
        var next = nodes[place].first
        while let child = next {
            children.append(child)
            next = nodes[child].next
        }
        return children
    }

    /// The text of the whole value.
    func written() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.count + 4 * nodes.count)
        texts.withUnsafeBufferPointer { write(0, $0, to: &bytes) }
        return bytes
    }

    private func write(
        _ place: Int, _ texts: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]
    ) {
        let node = nodes[place]
        switch node.kind {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .leaf: bytes.append(contentsOf: texts[node.leaf])
        case .array:
            bytes.append(UInt8(ascii: "["))
            for (index, child) in children(of: place).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(child, texts, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object:
            let members = children(of: place).sorted {
                texts[nodes[$0].key].lexicographicallyPrecedes(texts[nodes[$1].key])
            }
            bytes.append(UInt8(ascii: "{"))
            for (index, child) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.append(UInt8(ascii: "\""))
                bytes.append(contentsOf: texts[nodes[child].key])
                bytes.append(contentsOf: "\":".utf8)
                write(child, texts, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
