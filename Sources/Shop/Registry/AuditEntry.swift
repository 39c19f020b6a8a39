// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// One administrative change, written in the commit that makes it.
struct AuditEntry: Sendable {
    let who: String
    let wall: Timestamp
    /// The kind of change: `product.change`.
    let deed: String
    /// What was changed: `com.example.app/credits.5`.
    let subject: String
    let changes: [AuditChange]
    /// Whether something was made, removed or changed, even if no field shows it.
    private let isChangeForSure: Bool

    /// `before` is nil for a subject that is made, `after` for one that is
    /// removed.
    init(
        who: String, wall: Timestamp, deed: String, subject: String, before: AuditFields?,
        after: AuditFields?, isChangeForSure: Bool = false
    ) {
        self.init(
            who: who, wall: wall, deed: deed, subject: subject,
            changes: AuditFields.changes(from: before, to: after),
            isChangeForSure: isChangeForSure || before == nil || after == nil)
    }

    private init(
        who: String, wall: Timestamp, deed: String, subject: String, changes: [AuditChange],
        isChangeForSure: Bool
    ) {
        self.who = who
        self.wall = wall
        self.deed = deed
        self.subject = subject
        self.changes = changes
        self.isChangeForSure = isChangeForSure
    }

    /// Writes the entry, unless nothing changed.
    func write(_ writing: any Writing) throws {
        guard isChangeForSure || !changes.isEmpty else { return }
        guard let row = try writing.first(Statement.Audits.next) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        try writing.execute(
            Statement.Audits.insert, [.integer(try row.integer("audit_count"))] + values())
    }

    /// Like ``write(_:)``, but in the registry, for changes that do not belong
    /// to a realm.
    func writeInRegistry(_ writing: any Writing) throws {
        guard isChangeForSure || !changes.isEmpty else { return }
        guard let row = try writing.first(Statement.Operators.nextEntry) else {
            throw StorageFault(.malformedRow, "the store's changes are not counted")
        }
        try writing.execute(
            Statement.Operators.insertEntry, [.integer(try row.integer("written"))] + values())
    }

    /// Reads a row of `audit`.
    init(_ row: Row) throws {
        guard let changes = AuditText.changes(try row.text("changes")) else {
            throw StorageFault(.malformedRow, "an audit entry whose changes cannot be read")
        }
        self.init(
            who: try row.text("who"),
            wall: Timestamp(milliseconds: try row.integer("written_at")),
            deed: try row.text("deed"), subject: try row.text("subject"), changes: changes,
            isChangeForSure: true)
    }

    private func values() throws -> [SQLValue] {
        [
            .integer(wall.milliseconds), .text(who), .text(deed), .text(subject),
            .text(try AuditText.of(changes)),
        ]
    }
}
