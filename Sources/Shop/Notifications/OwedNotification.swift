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

    /// Writes it in the customer's line. It is owed by the realm's clock, except in
    /// the lane of a jump, which has that of the jump.
    func write(
        _ line: CustomerLine, hasURL: Bool, by way: NotificationWay = .ordinary
    ) throws {
        try insert(line.writing)
        guard hasURL, way != .none else { return }
        let isOrdered = way == .inOrder
        try Errands.add(
            kind: WorkKind.notification, subject: cause,
            lane: isOrdered
                ? Errands.inOrder(bundleID.value, by: line.clock) : bundleID.value,
            dueAt: isOrdered || line.clock == .realm ? owedAt : line.owedNow,
            customer: customer, line.writing)
    }

    /// Writes one that belongs to no customer.
    func write(_ writing: any Writing, hasURL: Bool = true) throws {
        try insert(writing)
        guard hasURL else { return }
        try Errands.add(
            kind: WorkKind.notification, subject: cause, lane: bundleID.value,
            dueAt: owedAt, customer: customer, writing)
    }

    private func insert(_ writing: any Writing) throws {
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
    }
}

/// How a notification is sent.
enum NotificationWay: Sendable {
    /// Several of an app at a time.
    case ordinary
    /// After the jump that caused it, in the order of the events.
    case inOrder
    /// Not at all.
    case none
}

extension CustomerLine {
    /// How the notification of an event is sent. Only what due work causes that a
    /// jump has made due belongs to the jump.
    func notificationWay(ofEventAt date: Timestamp) -> NotificationWay {
        guard isDueWork, let jump, date <= jump.target else { return .ordinary }
        return jump.notifications == .dropped ? .none : .inOrder
    }
}
