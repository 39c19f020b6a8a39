// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// What is changed of a customer is written into the audit of the customer's
/// cluster, in the commit that changes it. The home's audit is the realm's:
/// what others have is carried there, each entry once, and gets the number of
/// its arrival, so that who reads on from a number misses none.
extension Realm {
    /// Entries that one commit carries.
    private static let auditPage: Int64 = 200

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
            let page: [SQLValue] = [.integer(carried), .integer(Self.auditPage)]
            let rows = try await far.read { try $0.query(Statement.Clustering.audit, page) }
            guard let last = try rows.last?.integer("entry") else { return }
            let entries = try rows.map(AuditEntry.init(_:))
            let values: [SQLValue] = [.text(mark), .integer(carried), .integer(last)]
            try await home.write { writing in
                // Another process may have carried them meanwhile.
                guard try writing.first(Statement.Clustering.setCarried, values) != nil else {
                    return
                }
                for entry in entries { try entry.write(writing) }
            }
        }
    }

    func carryAuditQuietly(from index: Int) async {
        do { try await carryAudit(from: index) } catch {
            ports.log(
                .warning, "what a cluster's audit tells is on its way", nil,
                ["cluster": clusters.name(index), "fault": "\(error)"])
        }
    }
}
