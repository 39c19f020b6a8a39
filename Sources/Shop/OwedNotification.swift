// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A notification that a commit owes: an outbox row, and the work of sending
/// it. An app that has no URL at that commit is owed none: the row is
/// written down all the same, and nothing is ever sent for it.
struct OwedNotification: Sendable {
    /// Whose rows hold what is the realm's own and no customer's.
    static let nobody = CustomerID(0)

    let customer: CustomerID
    /// One cause owes one notification.
    let cause: String
    let uuid: String
    let type: String
    let bundleID: BundleID
    let transaction: TransactionID?
    let revision: Int64
    let owedAt: Timestamp

    func write(_ writing: any Writing, hasURL: Bool) throws {
        try writing.execute(
            Statement.Purchases.insertOutbox,
            [
                .integer(customer.value), .text(cause), .text(uuid), .text(type),
                .text(bundleID.value), .optional(transaction?.value), .integer(revision),
                .integer(owedAt.milliseconds),
            ])
        guard hasURL else { return }
        try Errands.add(
            kind: NotificationErrands.kind, subject: cause, lane: bundleID.value, dueAt: owedAt,
            customer: customer, writing)
    }
}
