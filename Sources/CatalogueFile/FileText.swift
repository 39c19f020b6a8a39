// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Writes JSON as Xcode writes its configuration files, so that a file that
/// goes through here shows no difference where nothing was changed: two
/// spaces a level, a space on both sides of a colon, empty lists over three
/// lines, one line feed at the end.
struct FileText {
    private(set) var bytes: [UInt8] = []

    init(_ tree: JSONTree, endsWithLineFeed: Bool = true) {
        write(tree, level: 0)
        if endsWithLineFeed { bytes.append(0x0A) }
    }

    /// The order in which Xcode writes keys: without regard to case, so that
    /// an underscore comes before letters.
    static func precedes(_ left: String, _ right: String) -> Bool {
        let (lowerLeft, lowerRight) = (left.lowercased(), right.lowercased())
        return lowerLeft == lowerRight ? left < right : lowerLeft < lowerRight
    }

    /// The same values with every object's keys in Xcode's order.
    static func sorted(_ tree: JSONTree) -> JSONTree {
        switch tree {
        case .array(let elements): .array(elements.map(sorted))
        case .object(let members):
            .object(
                members.map { JSONTree.Member($0.key, sorted($0.value)) }
                    .sorted { precedes($0.key, $1.key) })
        default: tree
        }
    }

    private mutating func write(_ tree: JSONTree, level: Int) {
        switch tree {
        case .null: add("null")
        case .boolean(let flag): add(flag ? "true" : "false")
        case .number(let digits): add(digits)
        case .string(let text): StrictJSON.write(text, to: &bytes)
        case .array(let elements):
            list("[", "]", elements, level) { writer, element in
                writer.write(element, level: level + 1)
            }
        case .object(let members):
            list("{", "}", members, level) { writer, member in
                StrictJSON.write(member.key, to: &writer.bytes)
                writer.add(" : ")
                writer.write(member.value, level: level + 1)
            }
        }
    }

    private mutating func list<Element>(
        _ open: String, _ close: String, _ elements: [Element], _ level: Int,
        _ write: (inout FileText, Element) -> Void
    ) {
        add(open)
        for (index, element) in elements.enumerated() {
            add(index == 0 ? "\n" : ",\n")
            indent(level + 1)
            write(&self, element)
        }
        add(elements.isEmpty ? "\n\n" : "\n")
        indent(level)
        add(close)
    }

    private mutating func indent(_ level: Int) {
        bytes.append(contentsOf: repeatElement(0x20, count: level * 2))
    }

    private mutating func add(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}
