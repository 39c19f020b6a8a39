// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// A notification that a commit owes: an outbox row and the errand to send it.
/// For an app without a URL at that time the row is written too, but no
/// notification is ever sent for it.
struct OwedNotification: Sendable {
    /// The customer of rows that belong to the realm itself.
    static let nobody = CustomerID(0)

    let customer: CustomerID
    /// One cause owes one notification.
    let cause: String
    let uuid: String
    let type: String
    /// What distinguishes notifications of one type. Most types have none.
    var subtype: String?
    let bundleID: BundleID
    let transaction: TransactionID?
    let revision: Int64
    let owedAt: Timestamp

    func write(_ writing: any Writing, hasURL: Bool) throws {
        try writing.execute(
            Statement.Notifications.insertOutbox,
            RealmSchema.outbox.row([
                "customer_id": .integer(customer.value), "cause": .text(cause),
                "notification_uuid": .text(uuid), "notification_type": .text(type),
                "subtype": .optional(subtype),
                "bundle_id": .text(bundleID.value),
                "transaction_id": .optional(transaction?.value),
                "revision": .integer(revision), "created_at": .integer(owedAt.milliseconds),
            ]))
        guard hasURL else { return }
        try Errands.add(
            kind: WorkKind.notification, subject: cause, lane: bundleID.value, dueAt: owedAt,
            customer: customer, writing)
    }
}
