// SPDX-License-Identifier: Apache-2.0

import Storage

/// Translates the shared DDL to PostgreSQL's: `INTEGER` has 64 bits, texts are
/// compared by bytes, and options that only SQLite needs are removed.
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

    /// Removes the commas between the table options that were removed.
    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while let last = text.last, last.isWhitespace || last == "," { text.removeLast() }
        return String(text)
    }
}
