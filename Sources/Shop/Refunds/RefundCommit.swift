// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// A sale as a refund finds it, read in the customer's line.
struct RefundSale: Sendable {
    let facts: TransactionFacts
    let refunds: [RefundRow]
    /// The subscription that the transaction belongs to.
    let subscription: SubscriptionRow?
    /// The processor's key of its charge. Nil if no processor has the money.
    let charge: String?
    private let isOwnedAgain: Bool

    /// Nil if the customer has no such transaction.
    init?(_ id: TransactionID, in realmID: String, _ line: CustomerLine) throws {
        let key: [SQLValue] = [.integer(line.customer.value), .integer(id.value)]
        guard let row = try line.writing.first(Statement.Refunds.sale, key) else { return nil }
        facts = try TransactionFacts(row: row)
        refunds = try RefundRow.all(of: id, line.customer, line.writing)
        subscription =
            facts.type == .autoRenewable
            ? try SubscriptionRow.find(facts.originalID, of: line.customer, line.writing) : nil
        isOwnedAgain =
            try facts.type == .nonConsumable && row.optionalInteger("owned_again") != nil
        charge = try ChargeKey.of(facts, in: realmID, line.writing)
    }

    /// What a decision at an instant needs. `changed`: the refund that a step has just
    /// changed.
    func refundable(at instant: Timestamp, with changed: RefundRow? = nil) -> RefundableSale {
        let others = refunds.filter { $0.number != changed?.number }
        let rows = (others + [changed].compactMap { $0 }).sorted { $0.number < $1.number }
        return RefundableSale(
            total: facts.total, ownership: facts.ownership,
            isPeriod: facts.type == .autoRenewable,
            unused: subscription?.subscription.unusedTime(of: facts.id, at: instant),
            isOwnedAgain: isOwnedAgain || isBoughtAgain(at: instant),
            refunds: rows.map(\.refund))
    }

    /// Whether the customer has subscribed again while the period, which was
    /// refunded, would still run. Both would run at once.
    private func isBoughtAgain(at instant: Timestamp) -> Bool {
        guard let subscription = subscription?.subscription, let period = facts.period,
            facts.revokedAt != nil, !period.isUpgraded, instant < period.expiresAt
        else { return false }
        let own = [subscription.current, subscription.running?.period, subscription.givenBack]
        return !own.contains { $0?.transaction == facts.id }
    }

    /// The last refund that a person has asked for or decided.
    var last: RefundRow? { refunds.last { $0.refund.grant?.kind != .upgrade } }
}

/// Writes a step of a refund, with everything that follows from it, in the
/// customer's line.
struct RefundCommit: Sendable {
    let subscriptions: SubscriptionCommit
    let shelf: Shelf

    /// What a step has written.
    struct Written: Sendable {
        let row: RefundRow
        /// The events of the subscription that it has ended or given back, and the
        /// number of the first.
        var subscription: SubscriptionRow?
        var events: [SubscriptionEvent] = []
    }

    func write(_ step: RefundStep, _ sale: RefundSale, _ line: CustomerLine) throws -> Written {
        let row = try RefundRow.write(
            step, of: sale.facts, after: sale.refunds, charge: sale.charge, line)
        let hasURL = try shelf.current(in: line).apps[row.bundleID]?.notificationURL != nil
        try decideFate(step.event, sale.facts, line)
        try notify(step.event, row, line, hasURL: hasURL)
        try owe(step.event, row, line)
        if FamilySharing.isShared(sale.facts.type) { try FamilyDebt.owe(line) }
        var written = Written(row: row)
        if let before = sale.subscription {
            written.events = before.subscription.events(ofRefund: step.event, of: sale.facts.id)
            written.subscription = try subscriptions.write(
                written.events, to: before, line, hasURL: hasURL
            ) { _ in throw StorageFault(.malformedRow, "a refund that sells a period") }
        }
        return written
    }

    private func decideFate(
        _ event: RefundEvent, _ facts: TransactionFacts, _ line: CustomerLine
    ) throws {
        switch event.change {
        case .granted(let grant) where grant.kind.isRevoking:
            let revoked = try facts.revoke(
                for: grant.reason, as: grant.kind.revocationType, percentage: grant.percentage,
                line)
            guard revoked != nil else {
                throw StorageFault(.malformedRow, "a revoked transaction without a refund")
            }
        case .reversed: try facts.reinstate(line)
        case .requested, .informed, .declined, .granted: break
        }
    }

    private func notify(
        _ event: RefundEvent, _ row: RefundRow, _ line: CustomerLine, hasURL: Bool
    ) throws {
        guard let type = NotificationKind.announcing(event.change) else { return }
        let cause = RefundCause.text(row)
        try OwedNotification(
            customer: row.customer, cause: cause,
            uuid: subscriptions.uuid("notification/\(cause)"), type: type,
            bundleID: row.bundleID, transaction: row.transaction, revision: line.revision,
            owedAt: event.at
        ).write(line, hasURL: hasURL)
    }

    /// Owes the processor's call, if the processor has the money.
    private func owe(_ event: RefundEvent, _ row: RefundRow, _ line: CustomerLine) throws {
        guard row.charge != nil else { return }
        let kind: String
        switch event.change {
        case .granted: kind = WorkKind.refund
        case .reversed: kind = WorkKind.takeBack
        case .requested, .informed, .declined: return
        }
        try Errands.add(
            kind: kind, subject: row.subject, lane: ProcessorErrands.lane, dueAt: line.owedNow,
            customer: row.customer, line.writing)
    }
}
