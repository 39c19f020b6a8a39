// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// Translates the shared DDL to SQLite's: INTEGER, TEXT and BLOB stay; `paid
/// BOOLEAN` becomes `paid INTEGER CHECK (paid IN (0, 1))`.
enum SQLiteDDL {
    /// What was translated before: every database of a kind gets the same tables.
    private static let known = Mutex<[String: String]>([:])

    /// Throws a fault for a table that does not end in STRICT. Without it,
    /// numbers could silently turn into text or floating point.
    static func translate(_ statement: String) throws(StorageFault) -> String {
        if let known = known.withLock({ $0[statement] }) { return known }
        let answer = try translated(statement)
        known.withLock { $0[statement] = answer }
        return answer
    }

    private static func translated(_ statement: String) throws(StorageFault) -> String {
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
