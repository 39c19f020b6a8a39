// SPDX-License-Identifier: Apache-2.0

import Storage

/// Translates the shared DDL to SQLite's: INTEGER, TEXT and BLOB stay; `paid
/// BOOLEAN` becomes `paid INTEGER CHECK (paid IN (0, 1))`.
enum SQLiteDDL {
    /// Throws a fault for a table that does not end in STRICT. Without it,
    /// numbers could silently turn into text or floating point.
    static func translate(_ statement: String) throws(StorageFault) -> String {
        let pieces = DDLWord.split(statement)
        let words = pieces.filter(\.isWord)
        let isTable = words.prefix(2).map { $0.text.uppercased() } == ["CREATE", "TABLE"]
        if isTable, words.last?.text.uppercased() != "STRICT" {
            throw StorageFault(
                .engine, "CREATE TABLE must end in STRICT: \(statement.prefix(60))")
        }
        var answer = ""
        var name = ""
        for piece in pieces {
            if piece.isWord, piece.text.utf8.count == 7, piece.text.uppercased() == "BOOLEAN" {
                answer += "INTEGER CHECK (\(name) IN (0, 1))"
            } else {
                answer += piece.text
            }
            if piece.isWord { name = piece.text }
        }
        return answer
    }
}
