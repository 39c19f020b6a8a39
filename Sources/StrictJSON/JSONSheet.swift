// SPDX-License-Identifier: Apache-2.0

/// What is about to be written. Swift's encoding containers add to it after they were
/// handed out, so it is a class.
final class JSONSheet {
    private var tree = JSONSheetTree()

    /// Begins an object or continues the one that is there.
    func beginObject(_ place: Int) { tree.beginObject(place) }

    func beginArray(_ place: Int) { tree.begin(.array, place) }

    func setNull(_ place: Int) { tree.begin(.null, place) }

    /// Sets a number or a word.
    func set(_ place: Int, literal: String) { tree.set(place, literal: literal) }

    func set(_ place: Int, string: String) { tree.set(place, string: string) }

    /// Adds a member to an object, and returns its place.
    func member(_ key: String, of place: Int) -> Int { tree.member(key, of: place) }

    /// Adds an element to an array, and returns its place.
    func element(of place: Int) -> Int { tree.element(of: place) }

    func count(of place: Int) -> Int { tree.count(of: place) }

    /// The text of the whole value.
    func written() -> [UInt8] { tree.written() }
}

/// One list of values, and one text of all their keys and leaves.
private struct JSONSheetTree {
    enum Kind {
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
        /// The first eight of them, as a number that sorts as they do.
        var keyStart: UInt64 = 0
        var leaf: Range<Int> = 0..<0
        /// The places of its first and last element, and of the element after it. Nothing
        /// is before the whole value, so 0 is none.
        var first = 0
        var last = 0
        var next = 0
    }

    private var nodes: [Node] = []
    private var texts: [UInt8] = []

    /// The whole value is at place 0.
    init() {
        nodes.reserveCapacity(64)
        texts.reserveCapacity(1024)
        nodes.append(Node(key: 0..<0))
    }

    mutating func beginObject(_ place: Int) {
        if nodes[place].kind != .object { begin(.object, place) }
    }

    mutating func begin(_ kind: Kind, _ place: Int) {
        nodes[place].kind = kind
        (nodes[place].first, nodes[place].last) = (0, 0)
    }

    mutating func set(_ place: Int, literal: String) {
        let start = texts.count
        texts.append(contentsOf: literal.utf8)
        setLeaf(place, from: start)
    }

    mutating func set(_ place: Int, string: String) {
        let start = texts.count
        StrictJSON.write(string, to: &texts)
        setLeaf(place, from: start)
    }

    private mutating func setLeaf(_ place: Int, from start: Int) {
        nodes[place].kind = .leaf
        nodes[place].leaf = start..<texts.count
    }

    /// Members are kept in the order of their keys. Most come nearly in this order.
    mutating func member(_ key: String, of place: Int) -> Int {
        let start = texts.count
        StrictJSON.writeUnquoted(key, to: &texts)
        var node = Node(key: start..<texts.count)
        node.keyStart = Self.start(of: texts[node.key])
        let last = nodes[place].last
        if last == 0 || !isBefore(node, nodes[last]) { return add(node, after: last, to: place) }
        var (previous, next) = (0, nodes[place].first)
        while !isBefore(node, nodes[next]) { (previous, next) = (next, nodes[next].next) }
        return add(node, after: previous, to: place)
    }

    mutating func element(of place: Int) -> Int {
        add(Node(key: 0..<0), after: nodes[place].last, to: place)
    }

    func count(of place: Int) -> Int {
        var (count, next) = (0, nodes[place].first)
        while next != 0 { (count, next) = (count + 1, nodes[next].next) }
        return count
    }

    /// Adds a node behind another, or as the first if that is 0.
    private mutating func add(_ node: Node, after previous: Int, to place: Int) -> Int {
        let new = nodes.count
        nodes.append(node)
        if previous == 0 {
            nodes[new].next = nodes[place].first
            nodes[place].first = new
        } else {
            nodes[new].next = nodes[previous].next
            nodes[previous].next = new
        }
        if previous == nodes[place].last { nodes[place].last = new }
        return new
    }

    private static func start(of key: ArraySlice<UInt8>) -> UInt64 {
        let start = key.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return start << (8 * UInt64(8 - min(key.count, 8)))
    }

    /// Compares two keys by their bytes.
    private func isBefore(_ one: Node, _ other: Node) -> Bool {
        if one.keyStart != other.keyStart { return one.keyStart < other.keyStart }
        return texts[one.key].lexicographicallyPrecedes(texts[other.key])
    }

    func written() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.count + 4 * nodes.count)
        write(0, to: &bytes)
        return bytes
    }

    private func write(_ place: Int, to bytes: inout [UInt8]) {
        switch nodes[place].kind {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .leaf: bytes.append(contentsOf: texts[nodes[place].leaf])
        case .array:
            bytes.append(UInt8(ascii: "["))
            var next = nodes[place].first
            while next != 0 {
                write(next, to: &bytes)
                next = nodes[next].next
                if next != 0 { bytes.append(UInt8(ascii: ",")) }
            }
            bytes.append(UInt8(ascii: "]"))
        case .object:
            bytes.append(UInt8(ascii: "{"))
            var next = nodes[place].first
            while next != 0 {
                bytes.append(UInt8(ascii: "\""))
                bytes.append(contentsOf: texts[nodes[next].key])
                bytes.append(UInt8(ascii: "\""))
                bytes.append(UInt8(ascii: ":"))
                write(next, to: &bytes)
                next = nodes[next].next
                if next != 0 { bytes.append(UInt8(ascii: ",")) }
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
