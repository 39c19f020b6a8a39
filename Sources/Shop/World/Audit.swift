// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Realm {
    /// Returns up to `limit` administrative changes after the entry `after`,
    /// oldest first. Names the clusters whose newest entries are missing,
    /// because they do not answer. Refusal: `cursorInvalid`.
    public func auditEntries(
        after: String? = nil, limit: Int = ListPage.max
    ) async throws -> AuditRecords {
        var away: [String] = []
        for index in 1..<clusters.all.count where await !carryAuditQuietly(from: index) {
            away.append(clusters.name(index))
        }
        var records = try await AuditRecords.page(
            Statement.Audits.page, of: home, after: after, limit: limit)
        records.clustersAway = away.isEmpty ? nil : away
        return records
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

extension AuditRecords {
    /// Returns up to `limit` entries of `statement` after the entry `after`.
    static func page(
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
        let entry = try AuditEntry(row)
        self.init(
            entry: try row.integer("entry"), date: entry.wall, who: entry.who,
            deed: entry.deed, subject: entry.subject, changes: entry.changes)
    }
}
