// SPDX-License-Identifier: Apache-2.0

/// A word of a statement, or what stands between two: all that translating
/// the shared DDL needs. A quoted text is no word.
public struct DDLWord: Hashable, Sendable {
    public var text: String
    public var isWord: Bool

    /// The pieces of a statement, which together are the statement.
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
