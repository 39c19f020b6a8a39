// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// A note about a reset that is about to be made. The realm's database contains
/// the reset and the registry contains the store's audit, so no commit can hold
/// both. The note is written first, then the realm's commit with its own entry.
/// Then one commit replaces the note by the store's entry. A process that finds
/// a note looks for the realm's entry with that generation and copies it. A
/// generation is drawn for only one reset.
struct ResetNote: Hashable, Sendable {
    let realm: String
    let generation: Int64

    init(realm: String, generation: Int64) {
        self.realm = realm
        self.generation = generation
    }

    init(_ row: Row) throws {
        realm = try row.text("realm")
        generation = try row.integer("generation")
    }

    /// The field of the realm's audit entry that has the generation.
    static let field = "generation"

    var key: [SQLValue] { [.text(realm), .integer(generation)] }

    func write(_ writing: any Writing) throws {
        try writing.execute(Statement.ResetNotes.insert, key)
    }

    /// The outcome of a reset, as the realm's database shows it.
    private enum Fate: Sendable {
        case made(AuditEntry)
        /// Another reset came before, so this one can never be made.
        case outrun
        /// Its process may still make it.
        case open
    }

    private func fate(_ reading: any Reading) throws -> Fate {
        // A generation is in one entry only, as the new value of its field.
        let change = try AuditText.of(
            AuditChange(field: Self.field, before: nil, after: "\(generation)"))
        if let row = try reading.first(Statement.ResetNotes.entry, [.text("%\(change)%")]) {
            return .made(try AuditEntry(row))
        }
        let now = try reading.first(Statement.Restores.generation)?.integer("generation") ?? 0
        return now < generation ? .open : .outrun
    }

    /// Replaces the note by the store's entry if the reset was made, or removes
    /// it if the reset can never be made. Does nothing if another process has
    /// done so.
    func settle(_ home: any Storage, _ registry: any Storage) async throws {
        let fate = try await home.read { try self.fate($0) }
        if case .open = fate { return }
        try await registry.write { writing in
            guard try writing.first(Statement.ResetNotes.take, self.key) != nil else { return }
            if case .made(let entry) = fate { try entry.writeInRegistry(writing) }
        }
    }
}

extension Statement {
    enum ResetNotes {
        static let insert = Statement.insert("resetNotes.insert", into: RegistrySchema.resetNotes)

        static let list = Statement(
            "resetNotes.list", [.text],
            """
            SELECT realm, generation FROM reset_notes WHERE realm = $1 ORDER BY generation
            """)

        /// Returns the note if this call is the one that takes it.
        static let take = Statement(
            "resetNotes.take", [.text, .integer],
            "DELETE FROM reset_notes WHERE realm = $1 AND generation = $2 RETURNING realm")

        /// Deletes the notes of a deleted realm.
        static let drop = Statement(
            "resetNotes.drop", [.text], "DELETE FROM reset_notes WHERE realm = $1")

        /// Returns the realm's own entry of a reset.
        static let entry = Statement(
            "resetNotes.entry", [.text],
            """
            SELECT \(RealmSchema.audit.list()) FROM audit
            WHERE deed = 'realm.reset' AND changes LIKE $1
            """)

        static let registry = [insert, list, take, drop]
        static let realm = [entry]
    }
}
