// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Ledger {
    /// Returns a page of the changes that were made through server keys and commands,
    /// the newest first; with `account` only those of one account. `after` is the
    /// `next` of the page before. Refusals: `textInvalid`, `cursorInvalid`,
    /// `limitInvalid`.
    public func audit(
        account: String? = nil, after: String? = nil, limit: Int? = nil
    ) async throws -> LedgerAudit {
        let account = try account.map { try Edge.account($0) }
        let start = try after.map(Self.auditCursor) ?? [.integer(.max), .text("")]
        let limit = try Edge.limit(limit)
        let values = start + [.optional(account), .integer(Int64(limit + 1))]
        let rows = try await storage.read { try $0.query(Statement.Audit.page, values) }
        let page = rows.prefix(limit)
        return LedgerAudit(
            entries: try page.map { row in
                LedgerAuditEntry(
                    date: Timestamp(milliseconds: try row.integer("recorded_at")),
                    actor: try row.text("actor"), action: try row.text("action"),
                    account: try row.optionalText("account"),
                    subject: try row.optionalText("subject"))
            },
            next: rows.count > limit
                ? try page.last.map {
                    "\(try $0.integer("recorded_at")).\(try $0.text("entry_id"))"
                } : nil)
    }

    private static func auditCursor(_ text: String) throws(LedgerRefusal) -> [SQLValue] {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let date = Int64(parts[0]), parts[1].utf8.count == 16,
            !text.utf8.contains(0)
        else {
            throw LedgerRefusal(
                .badRequest, code: "cursorInvalid", "This is not the end of a page.",
                field: "after", rule: "the `next` of an earlier answer",
                remedy: "leave it out to start from the first page")
        }
        return [.integer(date), .text(String(parts[1]))]
    }
}
