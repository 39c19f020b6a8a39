// SPDX-License-Identifier: Apache-2.0

/// Checks that a file uses only a safe part of YAML. Aliases, anchors and
/// tags are rejected, because a short text could expand to a huge one. Deep
/// nesting is rejected, because the parser uses its stack for it.
package enum PlainYAML {
    static let depthMax = 32
    static let indentMax = 64

    /// Returns the rule that a text breaks and the number of the first line that breaks one,
    /// or nil.
    package static func broken(by text: String) -> (line: Int, rule: String)? {
        var depth = 0
        let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (number, line) in zip(1..., lines) {
            var before = UInt8(ascii: " ")
            var isIndent = true
            var indent = 0
            for byte in line {
                if byte == UInt8(ascii: "#"), before == UInt8(ascii: " ") { break }
                isIndent = isIndent && " \t-?:".utf8.contains(byte)
                if isIndent { indent += 1 }
                if "&*!".utf8.contains(byte), " \t[{,:-?".utf8.contains(before) {
                    return (number, "anchors, aliases and tags are not read")
                }
                if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { depth += 1 }
                if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { depth -= 1 }
                guard depth <= depthMax, indent <= indentMax else {
                    return (number, "values lie at most \(depthMax) deep")
                }
                before = byte
            }
        }
        return nil
    }
}
