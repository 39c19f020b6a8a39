// SPDX-License-Identifier: Apache-2.0

import Storage

/// Words that are still to be sent, and the format of notifications: a line
/// with the schema, then one line for each word. A schema alone means that
/// there were too many words, so that all listeners read again.
struct PostgresWords: Equatable {
    static let channel = "shopkeeper"
    /// Less than the 8,000 bytes that a notification may have.
    private static let payloadBytesMax = 7000
    /// How many words are kept for a schema while there is no connection.
    static let keptMax = 5000

    private var words: [String: Set<String>] = [:]
    /// Schemas that have had more words than are kept.
    private var overflown: Set<String> = []

    mutating func add(_ word: String, schema: String) {
        guard !overflown.contains(schema) else { return }
        words[schema, default: []].insert(word)
        if words[schema, default: []].count > Self.keptMax {
            words[schema] = nil
            overflown.insert(schema)
        }
    }

    /// Removes the words that were sent, and keeps those that were added in the
    /// meantime.
    mutating func remove(_ said: PostgresWords) {
        for (schema, gone) in said.words {
            words[schema]?.subtract(gone)
            if words[schema]?.isEmpty == true { words[schema] = nil }
        }
        overflown.subtract(said.overflown)
    }

    var payloads: [String] {
        var payloads = overflown.sorted()
        for (schema, words) in words.sorted(by: { $0.key < $1.key }) {
            var payload = schema
            for word in words.sorted() {
                if payload.utf8.count + word.utf8.count + 1 > Self.payloadBytesMax {
                    payloads.append(payload)
                    payload = schema
                }
                payload += "\n" + word
            }
            payloads.append(payload)
        }
        return payloads
    }

    static func notify(_ payload: String) -> String {
        let text = payload.replacing("\\", with: "\\\\").replacing("'", with: "''")
            .replacing("\n", with: "\\n")
        return "SELECT pg_notify('\(channel)', E'\(text)')"
    }

    static func read(_ payload: String) -> (schema: String, wakes: [Wake]) {
        let lines = payload.split(separator: "\n").map(String.init)
        let words = lines.dropFirst().map(Wake.word)
        return (lines.first ?? "", words.isEmpty ? [.missed] : words)
    }
}
