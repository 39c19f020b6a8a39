// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// One administrative change, written in the commit that makes it.
struct AuditEntry: Sendable {
    /// The longest text of the old and of the new value. A list of changes may
    /// be long.
    static let textBytesMax = RealmSchema.auditTextBytesMax

    let who: String
    let wall: Timestamp
    /// The kind of change: `product.change`.
    let deed: String
    /// What was changed: `com.example.app/credits.5`.
    let subject: String
    let before: String?
    let after: String?
    /// Whether something changed that `before` and `after` may not show.
    var isChangeForSure = false

    private var isChange: Bool {
        isChangeForSure || before == nil || !before.isSame(as: after)
    }

    /// Writes the entry, unless nothing changed.
    func write(_ writing: any Writing) throws {
        guard isChange else { return }
        guard let row = try writing.first(Statement.Audits.next) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        try writing.execute(
            Statement.Audits.insert, [.integer(try row.integer("audit_count"))] + values)
    }

    /// Like ``write(_:)``, but in the registry, for changes that do not belong
    /// to a realm.
    func writeInRegistry(_ writing: any Writing) throws {
        guard isChange else { return }
        guard let row = try writing.first(Statement.Operators.nextEntry) else {
            throw StorageFault(.malformedRow, "the store's changes are not counted")
        }
        try writing.execute(
            Statement.Operators.insertEntry, [.integer(try row.integer("written"))] + values)
    }

    init(
        who: String, wall: Timestamp, deed: String, subject: String, before: String?,
        after: String?
    ) {
        self.who = who
        self.wall = wall
        self.deed = deed
        self.subject = subject
        self.before = before
        self.after = after
    }

    /// Reads a row of `audit`.
    init(_ row: Row) throws {
        self.init(
            who: try row.text("who"),
            wall: Timestamp(milliseconds: try row.integer("written_at")),
            deed: try row.text("deed"), subject: try row.text("subject"),
            before: try row.optionalText("old_value"), after: try row.optionalText("new_value"))
    }

    private var values: [SQLValue] {
        [
            .integer(wall.milliseconds), .text(who), .text(deed), .text(subject),
            .optional(Self.cut(before)), .optional(Self.cut(after)),
        ]
    }

    private static func cut(_ text: String?) -> String? {
        guard let text, text.utf8.count > textBytesMax else { return text }
        return String(decoding: text.utf8.prefix(textBytesMax), as: UTF8.self) + "…"
    }
}
