// SPDX-License-Identifier: Apache-2.0

/// Finds a key that a mapping has twice. The parser refuses such a text, but does not
/// report where.
///
/// It reads as much of YAML as people write by hand: mappings and lists by indentation,
/// and those in braces.
struct DoubledKey: Hashable {
    let text: String
    /// The line of its second place, from 1.
    let line: Int

    /// Returns the first key that is doubled and that `isMeant` accepts.
    static func first(in text: String, where isMeant: (String) -> Bool) -> DoubledKey? {
        var blocks: [(indent: Int, keys: Set<String>)] = []
        var braces: [Set<String>] = []
        for (index, line) in text.split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).enumerated() {
            var rest = Substring(line)
            if braces.isEmpty {
                trim(&rest)
                guard let first = rest.first, first != "#" else { continue }
                var indent = line.count - rest.count
                blocks.removeAll { $0.indent > indent }
                // An entry of a list has a mapping of its own.
                while rest.first == "-", rest.dropFirst().first.map({ $0 == " " }) ?? true {
                    rest = rest.dropFirst()
                    trim(&rest)
                    indent = line.count - rest.count
                    blocks.removeAll { $0.indent >= indent }
                }
                if let key = key(&rest) {
                    if blocks.last?.indent != indent { blocks.append((indent, [])) }
                    let isNew = blocks[blocks.count - 1].keys.insert(key).inserted
                    if !isNew, isMeant(key) { return DoubledKey(text: key, line: index + 1) }
                }
                trim(&rest)
                guard rest.first == "{" || rest.first == "[" else { continue }
            }
            if let key = flow(rest, &braces, where: isMeant) {
                return DoubledKey(text: key, line: index + 1)
            }
        }
        return nil
    }

    /// Reads what is left of a line inside braces. Returns a doubled key.
    private static func flow(
        _ line: Substring, _ braces: inout [Set<String>], where isMeant: (String) -> Bool
    ) -> String? {
        var rest = line
        while let character = rest.first {
            switch character {
            case "{", "[": braces.append([])
            case "}", "]": _ = braces.popLast()
            case "#": return nil
            case " ", ",", "\t": break
            default:
                if let key = key(&rest) {
                    let last = braces.count - 1
                    guard last >= 0 else { return nil }
                    if !braces[last].insert(key).inserted, isMeant(key) { return key }
                } else {
                    skip(&rest)
                }
                continue
            }
            rest = rest.dropFirst()
        }
        return nil
    }

    private static func trim(_ rest: inout Substring) {
        rest = rest.drop { $0 == " " || $0 == "\t" }
    }

    /// Takes a key and its colon. Nil if there is none.
    private static func key(_ rest: inout Substring) -> String? {
        var after = rest
        let key: String
        if let quote = rest.first, quote == "\"" || quote == "'" {
            let text = rest.dropFirst().prefix { $0 != quote }
            key = String(text)
            after = rest.dropFirst(text.count + 2)
        } else {
            var text = ""
            while let character = after.first, !"{}[],#".contains(character) {
                let next = after.dropFirst().first
                if character == ":", next.map({ " {[\t\r".contains($0) }) ?? true { break }
                text.append(character)
                after = after.dropFirst()
            }
            while text.last == " " { text.removeLast() }
            key = text
        }
        trim(&after)
        guard after.first == ":", !key.isEmpty else { return nil }
        rest = after.dropFirst()
        return key
    }

    /// Leaves out a value inside braces.
    private static func skip(_ rest: inout Substring) {
        if let quote = rest.first, quote == "\"" || quote == "'" {
            rest = rest.dropFirst().drop { $0 != quote }.dropFirst()
        } else {
            rest = rest.drop { !"{}[],#".contains($0) }
        }
    }
}
