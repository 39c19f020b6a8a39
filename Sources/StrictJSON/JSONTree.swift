// SPDX-License-Identifier: Apache-2.0

/// Any JSON, as it was written: members keep their order, and numbers their
/// digits. Reading and writing changes only white space.
package enum JSONTree: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package let key: String
        package var value: JSONTree

        package init(_ key: String, _ value: JSONTree) {
            self.key = key
            self.value = value
        }
    }

    case null
    case boolean(Bool)
    /// The number's own characters: `1`, `1.0` and `1e0` are different.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([Member])

    /// Reads one value (RFC 8259). Throws if an object has duplicate keys.
    package init(_ bytes: [UInt8], limits: JSONLimits) throws(JSONFailure) {
        let document = try JSONDocument(bytes, limits: limits)
        self.init(document, at: 0)
    }

    /// The value for a key, or nil. Setting nil removes the member. Setting a
    /// value keeps the member's place, or adds it at the end.
    package subscript(key: String) -> JSONTree? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.key == key }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            let index = members.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key, value))
            case (nil, nil): return
            }
            self = .object(members)
        }
    }

    init(_ document: JSONDocument, at index: Int) {
        let node = document.nodes[index]
        switch node.kind {
        case .null: self = .null
        case .true: self = .boolean(true)
        case .false: self = .boolean(false)
        case .string: self = .string(document.text(of: index))
        case .number:
            self = .number(String(decoding: document.bytes[node.start..<node.end], as: UTF8.self))
        case .array: self = .array(Self.elements(document, of: index))
        case .object: self = .object(Self.members(document, of: index))
        }
    }

    private static func elements(_ document: JSONDocument, of index: Int) -> [JSONTree] {
        var elements: [JSONTree] = []
        var at = index + 1
        while at < document.nodes[index].next {
            elements.append(JSONTree(document, at: at))
            at = document.nodes[at].next
        }
        return elements
    }

    private static func members(_ document: JSONDocument, of index: Int) -> [Member] {
        var members: [Member] = []
        var at = index + 1
        while at < document.nodes[index].next {
            members.append(Member(document.text(of: at), JSONTree(document, at: at + 1)))
            at = document.nodes[at + 1].next
        }
        return members
    }
}
