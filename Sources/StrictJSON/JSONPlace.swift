// SPDX-License-Identifier: Apache-2.0

/// A value of a JSON text with the bytes that represent it, for writers that
/// leave the rest of the text unchanged.
package struct JSONPlace: Sendable {
    package let value: JSONTree
    /// The value's own bytes, including the quotes of a string.
    package let bytes: Range<Int>
    /// An array's elements, or the values of an object's members.
    package let parts: [JSONPlace]
    /// The positions of the members' keys, with their quotes. Empty except for
    /// objects.
    package let keys: [Range<Int>]

    /// Reads one value like ``JSONTree``.
    package init(_ text: [UInt8], limits: JSONLimits) throws(JSONFailure) {
        self.init(try JSONDocument(text, limits: limits), at: 0)
    }

    private init(_ document: JSONDocument, at index: Int) {
        let node = document.nodes[index]
        var parts: [JSONPlace] = []
        var keys: [Range<Int>] = []
        var members: [JSONTree.Member] = []
        var at = index + 1
        while at < node.next {
            if node.kind == .object {
                keys.append(document.nodes[at].quoted)
                parts.append(JSONPlace(document, at: at + 1))
                members.append(
                    JSONTree.Member(document.text(of: at), parts[parts.count - 1].value))
                at += 1
            } else {
                parts.append(JSONPlace(document, at: at))
            }
            at = document.nodes[at].next
        }
        self.parts = parts
        self.keys = keys
        bytes = node.kind == .string ? node.quoted : node.start..<node.end
        value =
            switch node.kind {
            case .object: .object(members)
            case .array: .array(parts.map(\.value))
            default: JSONTree(document, at: index)
            }
    }
}

extension JSONDocument.Node {
    /// A string's bytes with the quotes.
    fileprivate var quoted: Range<Int> { (start - 1)..<(end + 1) }
}
