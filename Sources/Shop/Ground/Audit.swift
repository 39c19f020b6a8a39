// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// One administrative change, written in the commit that makes it.
struct AuditEntry: Sendable {
    /// The longest text of the old and of the new value. A list of changes may
    /// be long.
    static let textBytesMax = 4096

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

extension Realm {
    /// Returns up to `limit` administrative changes after the entry `after`,
    /// oldest first. Refusal: `cursorInvalid`.
    public func auditEntries(
        after: String? = nil, limit: Int = ListPage.max
    ) async throws -> AuditRecords {
        for index in clusters.others.indices { await carryAuditQuietly(from: index + 1) }
        return try await .page(Statement.Audits.page, of: home, after: after, limit: limit)
    }

    func audit(
        _ deed: String, _ subject: String, before: String?, after: String?,
        _ context: RequestContext
    ) -> AuditEntry {
        AuditEntry(
            who: context.actor, wall: ports.wall.now, deed: deed, subject: subject,
            before: before, after: after)
    }
}

extension Store {
    /// Returns changes of the store itself, like
    /// ``Realm/auditEntries(after:limit:)`` for a realm. Refusal:
    /// `cursorInvalid`.
    public func auditEntries(
        after: String? = nil, limit: Int = ListPage.max
    ) async throws -> AuditRecords {
        try await .page(Statement.Operators.page, of: registry, after: after, limit: limit)
    }

    func audit(
        _ deed: String, _ subject: String, before: String?, after: String?,
        _ context: RequestContext
    ) -> AuditEntry {
        AuditEntry(
            who: context.actor, wall: ports.wall.now, deed: deed, subject: subject,
            before: before, after: after)
    }
}

extension AuditRecords {
    /// Returns up to `limit` entries of `statement` after the entry `after`.
    fileprivate static func page(
        _ statement: Statement, of storage: any Storage, after: String?, limit: Int
    ) async throws -> AuditRecords {
        let limit = ListPage.limit(limit)
        let values: [SQLValue] = [
            .integer(try ListPage.cursor(after, "after") ?? 0), .integer(limit),
        ]
        let entries = try await storage.read { try $0.query(statement, values) }
            .map(AuditRecord.init(row:))
        let isFull = Int64(entries.count) == limit
        return AuditRecords(
            entries: entries, next: isFull ? entries.last.map { "\($0.entry)" } : nil)
    }
}

extension AuditRecord {
    fileprivate init(row: Row) throws {
        self.init(
            entry: try row.integer("entry"),
            date: Timestamp(milliseconds: try row.integer("written_at")),
            who: try row.text("who"), deed: try row.text("deed"),
            subject: try row.text("subject"), before: try row.optionalText("old_value"),
            after: try row.optionalText("new_value"))
    }
}
