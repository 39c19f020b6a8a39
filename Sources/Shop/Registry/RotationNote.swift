// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage

/// A note about a rotation that is about to be stored. Keys are not in the
/// registry, so no commit can hold both. The note is written first, then the
/// keys. Then one commit replaces the note by the audit entry. A process that
/// finds a note and its keys writes the entry. If another process's keys were
/// first, the note is removed without an entry. A note without keys is left
/// alone, because its process may still store them.
struct RotationNote: Hashable, Sendable {
    let kind: AuthorityKind
    /// The number that the rotation will have, unless another one is first.
    let generation: Int
    let before: String
    /// The certificates that are in use after it, by which it is recognised.
    let after: String
    let who: String
    let wall: Timestamp

    func write(_ writing: any Writing) throws {
        try writing.execute(
            Statement.Rotations.insert,
            [
                .text(kind.rawValue), .text(after), .integer(Int64(generation)), .text(who),
                .integer(wall.milliseconds), .text(before),
            ])
    }

    /// Replaces the note by the audit entry, unless another process has done
    /// so. Without `isStored`, only removes the note.
    func settle(isStored: Bool, _ writing: any Writing) throws {
        let key: [SQLValue] = [.text(kind.rawValue), .text(after)]
        guard try writing.first(Statement.Rotations.take, key) != nil, isStored else { return }
        try AuditEntry(
            who: who, wall: wall, deed: "certificates.rotate", subject: kind.rawValue,
            before: ["certificates": before], after: ["certificates": after]
        ).writeInRegistry(writing)
    }
}

extension RotationNote {
    init?(row: Row) throws {
        guard let kind = AuthorityKind(rawValue: try row.text("kind")) else { return nil }
        self.init(
            kind: kind, generation: Int(try row.integer("generation")),
            before: try row.text("old_value"), after: try row.text("new_value"),
            who: try row.text("who"),
            wall: Timestamp(milliseconds: try row.integer("written_at")))
    }
}

extension CertificateAuthority {
    /// The certificates in use, for the audit.
    var serialWords: String { FormerAuthority(self).serialWords }
}

extension FormerAuthority {
    /// The certificates that were in use, for the audit.
    var serialWords: String {
        issued.map { "\($0.role.rawValue) \($0.serialText)" }.joined(separator: "; ")
    }
}

extension Statement {
    enum Rotations {
        static let insert = Statement.insert(
            "rotations.insert", into: RegistrySchema.rotationNotes)

        static let list = Statement(
            "rotations.list", [],
            """
            SELECT \(RegistrySchema.rotationNotes.list()) FROM rotation_notes
            ORDER BY kind, generation, new_value
            """)

        /// Returns the note if this call is the one that takes it.
        static let take = Statement(
            "rotations.take", [.text, .text],
            "DELETE FROM rotation_notes WHERE kind = $1 AND new_value = $2 RETURNING kind")

        static let all = [insert, list, take]
    }
}
