// SPDX-License-Identifier: Apache-2.0

/// A piece of a statement: either a word, or the text between two words. Enough
/// to translate the shared DDL. Quoted text is never a word.
public struct DDLWord: Hashable, Sendable {
    public var text: String
    public var isWord: Bool

    /// Splits a statement into pieces. Joined in order, they are the statement
    /// again.
    public static func split(_ statement: String) -> [DDLWord] {
        var pieces: [DDLWord] = []
        var isQuoted = false
        for character in statement {
            if character == "'" { isQuoted.toggle() }
            let isWord =
                !isQuoted && (character.isLetter || character.isNumber || character == "_")
            if pieces.last?.isWord == isWord {
                pieces[pieces.count - 1].text.append(character)
            } else {
                pieces.append(DDLWord(text: String(character), isWord: isWord))
            }
        }
        return pieces
    }
}
