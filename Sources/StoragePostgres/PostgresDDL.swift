// SPDX-License-Identifier: Apache-2.0

import Storage

/// The shared DDL words in PostgreSQL's: `INTEGER` is 64 bits wide, texts
/// compare by their bytes, and what only SQLite needs is left out.
enum PostgresDDL {
    static func translate(_ statement: String) -> String {
        var answer = ""
        var skipsWith = false
        for piece in DDLWord.split(statement) {
            guard piece.isWord else {
                answer += piece.text
                continue
            }
            switch piece.text.uppercased() {
            case "INTEGER": answer += "BIGINT"
            case "BLOB": answer += "BYTEA"
            case "TEXT": answer += "TEXT COLLATE \"C\""
            case "WITHOUT": skipsWith = true
            case "ROWID" where skipsWith: skipsWith = false
            case "STRICT": break
            default: answer += piece.text
            }
        }
        return trimmed(answer)
    }

    /// Without the commas that stood between the table's options.
    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while let last = text.last, last.isWhitespace || last == "," { text.removeLast() }
        return String(text)
    }
}
