// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Writes JSON like Xcode's configuration files: two spaces for each level, a
/// space on both sides of a colon, empty lists over three lines, one line feed
/// at the end. So an unchanged file shows no difference. Values in a file of
/// another style are written in that style.
struct FileText {
    private(set) var bytes: [UInt8] = []
    private let style: FileStyle
    /// The white space at the beginning of lines at the value's own level.
    private let margin: [UInt8]

    init(_ tree: JSONTree, endsWithLineFeed: Bool = true) {
        self.init(tree, .editor, margin: [])
        if endsWithLineFeed { bytes.append(0x0A) }
    }

    /// Writes a value in a line that begins with `margin`.
    init(_ tree: JSONTree, _ style: FileStyle, margin: [UInt8]) {
        self.style = style
        self.margin = margin
        write(tree, level: 0)
    }

    /// Compares keys in Xcode's order: regardless of case, so that an
    /// underscore comes before letters.
    static func precedes(_ left: String, _ right: String) -> Bool {
        let (lowerLeft, lowerRight) = (left.lowercased(), right.lowercased())
        return lowerLeft == lowerRight ? left < right : lowerLeft < lowerRight
    }

    /// Returns the same values with the keys of every object in Xcode's order.
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
                writer.bytes += writer.style.colon
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
            if index > 0 { bytes += style.comma }
            newLine(level + 1)
            write(&self, element)
        }
        if !elements.isEmpty {
            newLine(level)
        } else if style == .editor {
            bytes += style.lineEnd
            newLine(level)
        }
        add(close)
    }

    private mutating func newLine(_ level: Int) {
        guard !style.isInline else { return }
        bytes += style.lineEnd + margin
        for _ in 0..<level { bytes += style.indent }
    }

    private mutating func add(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}

/// The white space style of a file.
struct FileStyle: Equatable {
    var indent = Array("  ".utf8)
    var colon = Array(" : ".utf8)
    var lineEnd = Array("\n".utf8)
    /// Whether everything is on one line.
    var isInline = false

    /// The style of Xcode's editor.
    static let editor = FileStyle()

    /// The text between two values, before the line ends.
    var comma: [UInt8] {
        let isSpaced = isInline && colon.last == 0x20
        return Array((isSpaced ? ", " : ",").utf8)
    }

    /// The same style on one line.
    var inline: FileStyle {
        var style = self
        style.isInline = true
        return style
    }
}

extension FileStyle {
    /// Detects the style of a text from its first member.
    init(of text: [UInt8], _ root: JSONPlace) {
        isInline = !text[root.bytes].contains(0x0A)
        if text.contains(0x0D) { lineEnd = Array("\r\n".utf8) }
        guard let key = root.keys.first, let value = root.parts.first else { return }
        colon = Array(text[key.upperBound..<value.bytes.lowerBound])
        let gap = text[(root.bytes.lowerBound + 1)..<key.lowerBound]
        if let end = gap.lastIndex(of: 0x0A), end + 1 < gap.endIndex {
            indent = Array(gap[(end + 1)...])
        }
    }
}
