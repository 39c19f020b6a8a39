// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// The rows that a purchase's commits write.
extension PurchaseCommit {
    /// Writes everything that follows from an event: the purchase's new state,
    /// a sale's transaction and notification, and what is owed. `before` is nil
    /// for a new purchase.
    func apply(
        _ event: PurchaseEvent, to before: PurchaseRow?, _ line: CustomerLine
    ) throws -> PurchaseOutcome {
        let event = mayHaveLostCharges ? event.givingBackWhatWasLost : event
        let subscribed = try event.subscription.flatMap {
            try self.subscribed(to: $0.plan, line)
        }
        let sold = try transaction(of: event, subscribed, line)
        if let before {
            let move = PurchaseMove(key, event, from: before.state, at: line.now)
            guard try move.write(line) else {
                throw StorageFault(.malformedRow, "a purchase moved while its line was held")
            }
        } else {
            try insert(event, line)
        }
        var outcome = PurchaseOutcome(
            state: event.state, transaction: sold, charge: nil,
            revision: line.revision, now: line.now)
        outcome.cause = event.cause
        outcome.owesWork = try owe(event, sold, subscribed, line)
        if case .refused = event.result, case .proven(.code, _) = evidence {
            try OfferRelease.owe(key.subject, line)
            outcome.owesWork = true
        }
        if case .waiting? = before?.state {
            try DueWork.remove(ApprovalTimeout.kind, key.subject, of: key.customer, line.writing)
        }
        if case .authorising(let sale) = event.result {
            let history = if let before { before.historyRevision } else { line.historyRevision }
            outcome.charge = charge(sale.total, since: history)
            outcome.errand = try hold(line)
        }
        return outcome
    }

    /// Returns the transaction that the answer contains: a new one for a sale,
    /// the known one of a product that is owned.
    private func transaction(
        of event: PurchaseEvent, _ subscribed: SubscriptionRow?, _ line: CustomerLine
    ) throws -> TransactionFacts? {
        switch event.result {
        case .sold(let sale, let id): facts(of: sale, id, subscribed, line)
        case .delivered(let owned), .arranged(_, let owned):
            try transaction(owned, line.writing)
        case .refused, .joined, .authorising, .waiting: nil
        }
    }

    private func facts(
        of sale: Sale, _ id: TransactionID, _ subscribed: SubscriptionRow?,
        _ line: CustomerLine
    ) -> TransactionFacts {
        let period = sale.subscription?.period(as: id)
        return TransactionFacts(
            customer: key.customer, id: id,
            originalID: subscribed?.subscription.originalID ?? id, bundleID: key.bundleID,
            productID: sale.product.id, type: sale.product.type, quantity: sale.quantity,
            unitPrice: sale.unitPrice.amount, total: sale.total,
            storefront: sale.storefront.countryCode, reason: .purchase, ownership: .purchased,
            appAccountToken: payment.appAccountToken?.text, appTransactionID: appTransactionID,
            purchaseID: key.purchaseID, purchasedAt: period?.start ?? line.now,
            originalPurchasedAt: subscribed?.beganAt ?? line.now, revision: line.revision,
            changedAt: line.now,
            period: period.flatMap { period in
                sale.subscription.map { PeriodFacts(period, groupID: $0.plan.groupID) }
            })
    }

    /// Writes what an event owes. Returns whether there is work for a worker.
    private func owe(
        _ event: PurchaseEvent, _ sold: TransactionFacts?, _ subscribed: SubscriptionRow?,
        _ line: CustomerLine
    ) throws -> Bool {
        switch event.debt {
        case .capture?: try owe(CaptureErrands.kind, line.now, line.writing)
        case .void?: try owe(VoidErrands.kind, line.now, line.writing)
        case nil: break
        }
        if let sale = event.subscription, let sold {
            return try write(sale, sold, to: subscribed, line)
        }
        switch event.result {
        case .sold: return try sold.map { try write($0, line) } == true || event.debt != nil
        case .waiting:
            try ApprovalTimeout.work(key, askedAt: line.now).add(line.writing)
            return true
        case .refused, .delivered, .joined, .arranged, .authorising: return event.debt != nil
        }
    }

    /// Writes what a payment for a subscription sells or changes. `sold` is its
    /// transaction, or the present one. The app's token of a change without a sale is that
    /// of the next period; without one, the token stays. Returns that there is work, which
    /// is the next step.
    private func write(
        _ sale: SubscriptionSale, _ sold: TransactionFacts, to subscribed: SubscriptionRow?,
        _ line: CustomerLine
    ) throws -> Bool {
        let hasURL = try shelf(line).apps[key.bundleID]?.notificationURL != nil
        var subscribed = subscribed
        if !sale.isSale, let token = payment.appAccountToken {
            subscribed?.appAccountToken = token.text
        }
        try subscriptions.write(
            sale.events(as: sold.id), to: subscribed, line, hasURL: hasURL
        ) { _ in sold }
        return true
    }

    /// Writes the sale: the transaction and the notification that it owes.
    /// Returns whether the app has a URL for it, or a family gets it.
    private func write(_ sold: TransactionFacts, _ line: CustomerLine) throws -> Bool {
        let hasURL = try shelf(line).apps[sold.bundleID]?.notificationURL != nil
        try line.writing.execute(Statement.Transactions.insert, sold.row)
        let owed = OwedNotification(
            customer: sold.customer, cause: "\(NotificationKind.oneTimeCharge)/\(sold.id)",
            uuid: notificationUUID, type: NotificationKind.oneTimeCharge,
            bundleID: sold.bundleID, transaction: sold.id, revision: sold.revision,
            owedAt: sold.purchasedAt)
        try owed.write(
            line, hasURL: hasURL, by: line.notificationWay(ofEventAt: sold.purchasedAt))
        let isShared = try FamilySharing.isShared(sold.type) && FamilyDebt.owe(line)
        return hasURL || isShared
    }

    private func insert(_ event: PurchaseEvent, _ line: CustomerLine) throws {
        let state = event.state
        try line.writing.execute(
            Statement.Purchases.insert,
            RealmSchema.purchases.row([
                "customer_id": .integer(key.customer.value),
                "bundle_id": .text(key.bundleID.value),
                "purchase_id": .text(key.purchaseID.value),
                "product_id": .text(payment.productID.value),
                "quantity": .integer(Int64(payment.quantity)),
                "unit_price": .integer(payment.shownUnitPrice.amount.milliunits),
                "currency": .text(payment.shownUnitPrice.currency.code),
                "application_username": .optional(payment.applicationUsername),
                "replaces": .optional(payment.replaces?.value),
                "simulates_ask_to_buy": .boolean(payment.simulatesAskToBuy),
                "offer": .optional(payment.offer.map { StoredJSON.text($0) }),
                "is_committed": .boolean(payment.isCommitted),
                "state": .text(state.word), "cause": .text(event.cause.rawValue),
                "refusal": .optional(state.refusal?.rawValue),
                "waiting_for": .optional(state.waitingFor),
                "joins": .optional(state.joins?.value),
                "void_owed_at": .optional(event.debt == .void ? line.now : nil),
                "transaction_id": .optional(event.transaction?.value),
                "total_price": .optional(event.total?.amount.milliunits),
                "asked_at": .integer(line.now.milliseconds),
                "decided_at": .optional(state.isDecided ? line.now : nil),
                "revision": .integer(line.revision),
                "history_revision": .optional(line.historyRevision),
            ]))
    }

    private func transaction(
        _ id: TransactionID, _ reading: any Reading
    ) throws -> TransactionFacts {
        let values: [SQLValue] = [.integer(key.customer.value), .integer(id.value)]
        guard let row = try reading.first(Statement.Transactions.one, values) else {
            throw StorageFault(.malformedRow, "a purchase whose transaction is gone")
        }
        return try TransactionFacts(row: row)
    }

    /// Returns the outcome of a row that an earlier process left.
    func left(_ row: PurchaseRow) -> PurchaseOutcome {
        PurchaseOutcome(
            state: row.state, transaction: nil, charge: charge(of: row),
            revision: row.revision, now: wall)
    }

    /// Returns the outcome of a purchase that an earlier commit wrote. One that
    /// joined another has that one's.
    func outcome(
        of before: PurchaseRow, _ line: CustomerLine
    ) throws -> PurchaseOutcome {
        if case .joined(let first) = before.state { return try outcome(ofJoined: first, line) }
        var sold: TransactionFacts?
        if case .sold(let id) = before.state { sold = try transaction(id, line.writing) }
        return PurchaseOutcome(
            state: before.state, transaction: sold, charge: charge(of: before),
            revision: before.revision, now: line.now)
    }

    func outcome(
        ofJoined first: PurchaseID, _ line: CustomerLine
    ) throws -> PurchaseOutcome {
        let first = PurchaseKey(
            customer: key.customer, bundleID: key.bundleID, purchaseID: first)
        let row = try line.writing.first(Statement.Purchases.one, first.values)
        guard let row = try row.flatMap({ try PurchaseRow($0, key: first) }),
            row.state.joins == nil
        else { throw StorageFault(.malformedRow, "a purchase that joined none") }
        return try outcome(of: row, line)
    }

    func charge(of row: PurchaseRow) -> Charge? {
        guard row.state == .authorising, let total = row.total else { return nil }
        return charge(
            Money(total, row.payment.shownUnitPrice.currency), since: row.historyRevision)
    }

    private func charge(_ total: Money, since history: Int64?) -> Charge {
        Charge(
            key: key.charge(in: realmID, since: history), total: total, customer: key.customer,
            bundleID: key.bundleID, productID: payment.productID)
    }

    /// Adds the errand for the call to the processor that this caller makes at
    /// once. If this process dies, another one takes it over.
    func hold(_ line: CustomerLine) throws -> Errand {
        try Errands.addHeld(
            kind: SettleErrands.asked, subject: key.subject, lane: ProcessorErrands.lane,
            now: line.now, lease: try leases.now(line.writing), customer: key.customer,
            line.writing)
    }

    func owe(_ kind: String, _ now: Timestamp, _ writing: any Writing) throws {
        try Errands.add(
            kind: kind, subject: key.subject, lane: ProcessorErrands.lane, dueAt: now,
            customer: key.customer, writing)
    }
}
