// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Brings the audit entries of other clusters to the home. A change of a
/// customer is recorded in the audit of the customer's cluster, in the commit
/// that makes it. The realm's audit is the home's. Each entry is carried there
/// once and gets a number by its arrival, so that a reader who continues from a
/// number misses none.
extension Realm {
    func carryAudit(from index: Int) async throws {
        let far = clusters[index]
        guard
            let mark = try await far.read({ try $0.first(Statement.Clustering.own) })?
                .optionalText("cluster")
        else { throw StorageFault(.malformedRow, "a cluster without a mark") }
        while true {
            let carried = try await home.read {
                try $0.first(Statement.Clustering.one, [.text(mark)])?.integer("audit_carried")
            }
            guard let carried else {
                throw StorageFault(.malformedRow, "a cluster that the home does not know")
            }
            let page: [SQLValue] = [.integer(carried), .integer(Int64(CommitSize.subjectsMax))]
            let rows = try await far.read { try $0.query(Statement.Audits.page, page) }
            guard let last = try rows.last?.integer("entry") else { return }
            let entries = try rows.map(AuditEntry.init(_:))
            let values: [SQLValue] = [.text(mark), .integer(carried), .integer(last)]
            try await home.write { writing in
                // Another process may have carried them in the meantime.
                guard try writing.first(Statement.Clustering.setCarried, values) != nil else {
                    return
                }
                for entry in entries { try entry.write(writing) }
            }
        }
    }

    /// Returns whether all entries are at the home now.
    func carryAuditQuietly(from index: Int) async -> Bool {
        do {
            try await carryAudit(from: index)
            return true
        } catch {
            ports.log(
                .warning, "entries of a cluster's audit are still on their way", nil,
                ["cluster": clusters.name(index), "fault": "\(error)"])
            return false
        }
    }
}
