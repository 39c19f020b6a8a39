// SPDX-License-Identifier: Apache-2.0

package import Yams

/// Reads a YAML file that people write by hand, and reports every problem with its
/// line. An unknown key is a problem, because it would have no effect.
package protocol YAMLReader {
    /// Notes a problem.
    mutating func refuse(_ line: Int, _ rule: String, _ remedy: String)
}

/// A key with its line.
package struct YAMLKey: Hashable {
    package let text: String
    package let line: Int
}

/// The keys and values of a mapping.
package struct YAMLFields {
    private let all: [(key: YAMLKey, value: Node)]

    package init(_ all: [(YAMLKey, Node)]) { self.all = all.map { (key: $0.0, value: $0.1) } }

    package var keys: [YAMLKey] { all.map(\.key) }

    package subscript(key: String) -> Node? { all.first { $0.key.text == key }?.value }

    package func line(_ key: String) -> Int { all.first { $0.key.text == key }?.key.line ?? 1 }
}

extension YAMLReader {
    /// Returns the root of a file, or nil after a problem. `name`: the file with its
    /// article, such as `a story`. `remedy`: what to write into an empty file.
    package mutating func root(
        _ bytes: [UInt8], of name: String, bytesMax: Int, whenEmpty remedy: String
    ) -> Node? {
        guard let text = text(of: bytes, name, bytesMax) else { return nil }
        if let broken = PlainYAML.broken(by: text) {
            refuse(broken.line, broken.rule, "write the values out, one below the other")
            return nil
        }
        do {
            if let node = try compose(yaml: text) { return node }
            refuse(1, "the file is empty", remedy)
        } catch {
            let fault = error as? YamlError
            if let key = fault?.doubledKey {
                refuse(
                    key.line, "`\(key.text)` is written here and once more",
                    "write each key once where it belongs")
            } else {
                refuse(fault?.line ?? 1, "the file is not YAML", "check it with a YAML linter")
            }
        }
        return nil
    }

    /// Returns the text of a file, or nil after a problem.
    private mutating func text(of bytes: [UInt8], _ name: String, _ bytesMax: Int) -> String? {
        guard bytes.count <= bytesMax else {
            refuse(1, "\(name) has at most \(bytesMax) bytes", "shorten it")
            return nil
        }
        let text = String(decoding: bytes, as: UTF8.self)
        // What is no UTF-8 is replaced, so the texts differ from there on.
        let right = zip(bytes, text.utf8).prefix { $0 == $1 && $0 != 0 }.count
        guard right < max(bytes.count, text.utf8.count) else { return text }
        let line = bytes[..<right].count { $0 == UInt8(ascii: "\n") } + 1
        if right < bytes.count, bytes[right] == 0 {
            refuse(line, "\(name) has no U+0000", "remove the character")
        } else {
            refuse(line, "\(name) is UTF-8", "save it in UTF-8")
        }
        return nil
    }

    package static func line(_ node: Node) -> Int { node.mark?.line ?? 1 }

    package mutating func check(_ fields: YAMLFields, _ known: [String]) {
        for key in fields.keys where !known.contains(key.text) {
            refuseKey(key, known.map { "`\($0)`" }.joined(separator: ", "))
        }
    }

    package mutating func pairs(_ node: Node) -> [(YAMLKey, Node)] {
        guard let mapping = node.mapping else {
            refuse(Self.line(node), "it must be keys and values", "write KEY: VALUE")
            return []
        }
        return mapping.compactMap { key, value in
            text(key).map { (YAMLKey(text: $0, line: Self.line(key)), value) }
        }
    }

    /// A scalar's own characters. In YAML a plain `null` is no text and no value, so it must
    /// not be read as a name.
    package mutating func text(_ node: Node) -> String? {
        guard let scalar = node.scalar, !scalar.string.isEmpty else {
            refuse(Self.line(node), "it must be one value", "write it behind the colon")
            return nil
        }
        let text = scalar.string
        if scalar.style == .plain, ["~", "null", "Null", "NULL"].contains(text) {
            refuse(
                Self.line(node), "`\(text)` is no value in YAML",
                "write a value, or the word in quotes if it is meant")
            return nil
        }
        return text
    }

    /// Reads a whole number. Nil for anything but decimal digits, such as `0x10`, `1e3`,
    /// `1_000` or `+5`, and for leading zeros: YAML's versions read them as other numbers.
    package static func integer(_ text: String) -> Int64? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let isPlain = digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isPlain, let first = digits.first else { return nil }
        return first == UInt8(ascii: "0") && text != "0" ? nil : Int64(text)
    }

    /// What to write where ``integer(_:)`` reads none.
    package static var integerRemedy: String {
        "write such a number with the digits 0 to 9, without a leading zero"
    }

    package mutating func value(_ key: String, _ fields: YAMLFields) -> String? {
        fields[key].flatMap { text($0) }
    }

    package mutating func flag(_ node: Node) -> Bool? {
        switch node.scalar?.string {
        case "true": return true
        case "false": return false
        default:
            refuse(Self.line(node), "it must be true or false", "write one of them")
            return nil
        }
    }

    package mutating func refuseKey(_ key: YAMLKey, _ known: String) {
        refuse(key.line, "`\(key.text)` is unknown here", "known are \(known)")
    }
}

extension YamlError {
    /// A key that a mapping has twice, and the line where it is first. It is read from the
    /// description, because older versions of the parser do not have this error, and accept
    /// such a mapping.
    fileprivate var doubledKey: (text: String, line: Int)? {
        guard let start = description.firstRange(of: "duplicated key(s): '"),
            let place = description.ranges(of: " in line ").last
        else { return nil }
        let key = description[start.upperBound...].prefix { $0 != "'" }
        return Int(description[place.upperBound...].prefix(while: \.isWholeNumber))
            .map { (String(key), $0) }
    }

    fileprivate var line: Int? {
        switch self {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _),
            .composer(_, _, let mark, _):
            mark.line
        default: nil
        }
    }
}
