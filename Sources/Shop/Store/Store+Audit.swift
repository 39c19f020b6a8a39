// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

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
        _ deed: String, _ subject: String, before: AuditFields?, after: AuditFields?,
        _ context: RequestContext
    ) -> AuditEntry {
        AuditEntry(
            who: context.actor, wall: ports.wall.now, deed: deed, subject: subject,
            before: before, after: after)
    }
}
