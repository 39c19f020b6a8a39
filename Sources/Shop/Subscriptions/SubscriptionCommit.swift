// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// Writes events of subscriptions, with everything that follows from them, in
/// their customer's line.
struct SubscriptionCommit: Sendable {
    let rules: RenewalRules
    /// Whether a payment processor charges renewals.
    let asksProcessor: Bool
    let realmID: String
    /// Makes the UUID of a notification from its cause.
    let uuid: @Sendable (_ cause: String) -> String

    /// Writes events in order: each with the transaction that it sells, or what it
    /// changes of the present one, and the notification that it owes. Then the
    /// subscription as it is after them, and when its next step falls due.
    ///
    /// `before`: nil for a new subscription, whose first event sells. `selling`
    /// makes the transaction of a period. Returns nil if there are no events.
    @discardableResult
    func write(
        _ events: [SubscriptionEvent], to before: SubscriptionRow?, _ line: CustomerLine,
        hasURL: Bool, selling: (SubscribedPeriod) throws -> TransactionFacts
    ) throws -> SubscriptionRow? {
        var row = before
        for event in events {
            let previous = row?.subscription
            if let period = event.change.sold {
                let sold = try selling(period)
                try line.writing.execute(Statement.Transactions.insert, sold.row)
                if row == nil {
                    row = try SubscriptionRow(event, of: sold)
                } else {
                    row?.apply(event)
                    row?.appAccountToken = sold.appAccountToken
                }
            } else {
                row?.apply(event)
            }
            guard let row else { continue }
            if let previous { try change(previous, event, of: row, line) }
            try write(event, of: row, line, hasURL: hasURL)
        }
        guard var row, let last = events.last else { return before }
        row.revision = line.revision
        try line.writing.execute(Statement.Subscriptions.put, row.row)
        try schedule(row, after: last.at, line)
        try FamilyDebt.owe(line)
        return row
    }

    /// Writes when the next step falls due. It is not before `last`, the date of
    /// the last event. While a charge has no answer, nothing falls due.
    func schedule(_ row: SubscriptionRow, after last: Timestamp, _ line: CustomerLine) throws {
        let subject = row.subscription.originalID.description
        guard let step = row.subscription.nextStep(rules), try !isAsked(row, line.writing) else {
            try DueWork.remove(WorkKind.subscription, subject, of: row.customer, line.writing)
            return
        }
        try DueWork(
            customer: row.customer, kind: WorkKind.subscription, subject: subject,
            dueAt: max(step.at, last)
        ).add(line.writing)
    }

    /// Changes the transactions of the periods that were sold before an event.
    private func change(
        _ before: Subscription, _ event: SubscriptionEvent, of row: SubscriptionRow,
        _ line: CustomerLine
    ) throws {
        let id = before.current.transaction
        switch event.change {
        case .upgraded(_, _, let refund, let runningRefund):
            try replace(id, giving: refund, at: event, of: row, line)
            if let runningRefund, let running = before.running(at: event.at) {
                try replace(
                    running.transaction, giving: runningRefund, at: event, of: row, line)
            }
        case .extended(let end, _):
            try facts(id, of: row, line).extend(
                to: end, of: row.subscription.current, line)
        case .expired where event.at < before.current.end:
            let known = Dictionary(
                before.sold.map { ($0.transaction, $0.end) }, uniquingKeysWith: { $1 })
            for period in row.subscription.sold where known[period.transaction] != period.end {
                try facts(period.transaction, of: row, line).extend(to: period.end, line)
            }
        default: break
        }
    }

    /// Writes that an upgrade replaces a period, and what it gives back of it.
    private func replace(
        _ id: TransactionID, giving refund: Money, at event: SubscriptionEvent,
        of row: SubscriptionRow, _ line: CustomerLine
    ) throws {
        try write(refund, at: event, to: try facts(id, of: row, line), line)
        try line.writing.execute(
            Statement.Transactions.upgrade,
            [
                .integer(row.customer.value), .integer(id.value),
                .integer(event.at.milliseconds), .integer(line.revision),
            ])
    }

    /// Writes what an upgrade gives back of the period that it replaces.
    private func write(
        _ refund: Money, at event: SubscriptionEvent, to replaced: TransactionFacts,
        _ line: CustomerLine
    ) throws {
        guard refund.amount.milliunits > 0 else { return }
        let before = try RefundRow.all(of: replaced.id, replaced.customer, line.writing)
        let sale = RefundableSale(total: replaced.total, refunds: before.map(\.refund))
        let step = sale.upgrading(refund, at: event.at, cause: event.cause)
        let row = try RefundRow.write(
            step, of: replaced, after: before,
            charge: try ChargeKey.of(replaced, in: realmID, line.writing), line)
        guard row.charge != nil else { return }
        try Errands.add(
            kind: WorkKind.refund, subject: row.subject, lane: WorkKind.processorLane,
            dueAt: line.owedNow, customer: row.customer, line.writing)
    }

    private func facts(
        _ id: TransactionID, of row: SubscriptionRow, _ line: CustomerLine
    ) throws -> TransactionFacts {
        let values: [SQLValue] = [.integer(row.customer.value), .integer(id.value)]
        guard let found = try line.writing.first(Statement.Transactions.one, values) else {
            throw StorageFault(.malformedRow, "a subscription whose transaction is gone")
        }
        return try TransactionFacts(row: found)
    }

    private func write(
        _ event: SubscriptionEvent, of row: SubscriptionRow, _ line: CustomerLine, hasURL: Bool
    ) throws {
        let id = row.subscription.originalID
        try line.writing.execute(
            Statement.Subscriptions.addEvent,
            RealmSchema.subscriptionEvents.row([
                "customer_id": .integer(row.customer.value),
                "subscription_id": .integer(id.value), "event": .integer(row.events),
                "happened_at": .integer(event.at.milliseconds),
                "cause": .text(event.cause.rawValue),
                "body": .text(StoredJSON.text(event)), "revision": .integer(line.revision),
            ]))
        guard let kind = NotificationKind.announcing(event.change) else { return }
        let cause = Self.cause(id, row.events)
        try OwedNotification(
            customer: row.customer, cause: cause, uuid: uuid("notification/\(cause)"),
            type: kind.type, subtype: kind.subtype, bundleID: row.bundleID,
            transaction: row.subscription.current.transaction, revision: line.revision,
            owedAt: event.at
        ).write(line, hasURL: hasURL, by: line.notificationWay(ofEventAt: event.at))
    }

    static let causePrefix = "SUBSCRIPTION"

    /// The cause of a notification: the subscription, and the number of its event.
    private static func cause(_ id: TransactionID, _ event: Int64) -> String {
        "\(causePrefix)/\(id).\(event)"
    }
}

extension SubscriptionRow {
    fileprivate mutating func apply(_ event: SubscriptionEvent) {
        subscription.apply(event)
        events += 1
    }
}

extension Subscription {
    /// The periods that have not ended, or have ended last.
    fileprivate var sold: [SubscribedPeriod] {
        [current, running?.period, givenBack].compactMap(\.self)
    }
}
