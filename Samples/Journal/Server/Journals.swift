// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A journal on the web, on which readers may comment for some time.
struct Journal: Codable, Equatable, Sendable {
    let id: String
    /// Comments are possible before this instant.
    let commentsUntil: Timestamp
}

/// There is no such journal.
struct UnknownJournal: Error, Equatable {}

/// The journals' table, in the same database as the ledger's.
enum Journals {
    /// Creates the table, and the journals that do not exist yet.
    static func open(_ ids: [String], in storage: any Storage) async throws {
        try await storage.write { writing in
            try writing.execute(creation, [])
            for id in ids { try writing.execute(insertion, [.text(id)]) }
        }
    }

    static func find(_ id: String, _ reading: any Reading) throws -> Journal {
        try journal(id, reading.first(selection, [.text(id)]))
    }

    /// Finds a journal, and keeps other transactions from changing it before this
    /// one ends.
    static func lock(_ id: String, _ writing: any Writing) throws -> Journal {
        try journal(id, writing.first(locking, [.text(id)]))
    }

    static func setEnd(
        _ id: String, _ end: Timestamp, _ writing: any Writing
    ) throws -> Journal {
        try journal(id, writing.first(ending, [.text(id), .integer(end.milliseconds)]))
    }

    private static func journal(_ id: String, _ row: Row?) throws -> Journal {
        guard let row else { throw UnknownJournal() }
        return Journal(
            id: id, commentsUntil: Timestamp(milliseconds: try row.integer("comments_until")))
    }

    private static let creation = Statement(
        "journals.create",
        """
        CREATE TABLE IF NOT EXISTS journals (
            journal TEXT NOT NULL PRIMARY KEY, comments_until BIGINT NOT NULL)
        """)

    private static let insertion = Statement(
        "journals.insert", [.text],
        """
        INSERT INTO journals (journal, comments_until) VALUES ($1, 0)
        ON CONFLICT (journal) DO NOTHING
        """)

    private static let selection = Statement(
        "journals.find", [.text], "SELECT comments_until FROM journals WHERE journal = $1")

    private static let locking = Statement(
        "journals.lock", [.text],
        """
        UPDATE journals SET comments_until = comments_until WHERE journal = $1
        RETURNING comments_until
        """)

    private static let ending = Statement(
        "journals.setEnd", [.text, .integer],
        "UPDATE journals SET comments_until = $2 WHERE journal = $1 RETURNING comments_until")
}
