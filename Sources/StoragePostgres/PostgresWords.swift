// SPDX-License-Identifier: Apache-2.0

import Storage

/// Words that are still to be said, and how they travel: a notification
/// carries a schema and words, a line each; a schema alone says that there
/// were too many to tell, so that everybody reads again.
struct PostgresWords: Equatable {
    static let channel = "shopkeeper"
    /// Below the 8,000 bytes that a notification may have.
    private static let payloadBytesMax = 7000
    /// Words kept for a schema while there is no connection.
    static let keptMax = 5000

    private var words: [String: Set<String>] = [:]
    /// Schemas that had more to say than is kept.
    private var overflown: Set<String> = []

    mutating func add(_ word: String, schema: String) {
        guard !overflown.contains(schema) else { return }
        words[schema, default: []].insert(word)
        if words[schema, default: []].count > Self.keptMax {
            words[schema] = nil
            overflown.insert(schema)
        }
    }

    /// Forgets what was said, and not what came while it was.
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
