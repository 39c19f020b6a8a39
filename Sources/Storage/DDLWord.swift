// SPDX-License-Identifier: Apache-2.0

/// A piece of a statement: either a word, or the text between two words. Enough
/// to translate the shared DDL. Quoted text is never a word.
public struct DDLWord: Hashable, Sendable {
    public var text: String
    public var isWord: Bool

    /// Splits a statement into pieces. Joined in order, they are the statement
    /// again.
    public static func split(_ statement: String) -> [DDLWord] {
        let bytes = statement.utf8
        var pieces: [DDLWord] = []
        var (start, index) = (bytes.startIndex, bytes.startIndex)
        var (isQuoted, wasWord) = (false, false)
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "'") { isQuoted.toggle() }
            let isWord = !isQuoted && isPartOfWord(bytes[index])
            if isWord != wasWord, start < index {
                pieces.append(DDLWord(text: String(statement[start..<index]), isWord: wasWord))
                start = index
            }
            wasWord = isWord
            bytes.formIndex(after: &index)
        }
        if start < index {
            pieces.append(DDLWord(text: String(statement[start..<index]), isWord: wasWord))
        }
        return pieces
    }

    /// As the engines see it: bytes beyond ASCII belong to words.
    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
