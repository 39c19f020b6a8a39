// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// The rows that a purchase's commits write.
extension PurchaseCommit {
    func transaction(
        selling total: Money, _ line: CustomerLine
    ) throws -> TransactionFacts {
        let storefront = try storefront(line)
        guard
            let product = try shelf(line).offered(
                payment.productID, of: key.bundleID, in: storefront, at: line.now)
        else { throw StorageFault(.malformedRow, "a product that was decided on and is gone") }
        return TransactionFacts(
            customer: key.customer, id: TransactionID(transactionNumber),
            originalID: TransactionID(transactionNumber), bundleID: key.bundleID,
            productID: product.id, type: product.type, quantity: payment.quantity,
            unitPrice: product.price, total: total,
            storefront: storefront.countryCode,
            appAccountToken: payment.appAccountToken?.text, appTransactionID: appTransactionID,
            purchaseID: key.purchaseID, purchasedAt: line.now, originalPurchasedAt: line.now,
            revision: line.revision)
    }

    /// Writes the sale: the transaction and the notification that it owes.
    /// Returns whether the app has a URL for it.
    func write(_ sold: TransactionFacts, _ line: CustomerLine) throws -> Bool {
        let hasURL = try shelf(line).apps[sold.bundleID]?.notificationURL != nil
        try line.writing.execute(Statement.Transactions.insert, sold.row)
        let owed = OwedNotification(
            customer: sold.customer, cause: "\(NotificationKind.oneTimeCharge)/\(sold.id)",
            uuid: notificationUUID, type: NotificationKind.oneTimeCharge,
            bundleID: sold.bundleID, transaction: sold.id, revision: sold.revision,
            owedAt: sold.purchasedAt)
        try owed.write(line.writing, hasURL: hasURL)
        return hasURL
    }

    func transaction(
        _ id: TransactionID, _ reading: any Reading
    ) throws -> TransactionFacts {
        let values: [SQLValue] = [.integer(key.customer.value), .integer(id.value)]
        guard let row = try reading.first(Statement.Transactions.one, values) else {
            throw StorageFault(.malformedRow, "a purchase whose transaction is gone")
        }
        return try TransactionFacts(row: row)
    }

    func record(
        _ state: PurchaseState, _ line: CustomerLine, total: Money? = nil,
        transaction: TransactionFacts? = nil
    ) throws -> PurchaseOutcome {
        let decided = state.isDecided ? line.now : nil
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
                "state": .text(state.word), "refusal": .optional(state.refusal?.rawValue),
                "waiting_for": .optional(state.waitingFor),
                "transaction_id": .optional(transaction?.id.value),
                "total_price": .optional(total?.amount.milliunits),
                "asked_at": .integer(line.now.milliseconds), "decided_at": .optional(decided),
                "revision": .integer(line.revision),
            ]))
        return PurchaseOutcome(
            state: state, transaction: transaction,
            charge: state == .authorising ? total.map(charge) : nil, revision: line.revision,
            now: line.now)
    }

    func move(
        to state: PurchaseState, _ line: CustomerLine, reference: String? = nil,
        owesVoid: Bool = false, transaction: TransactionFacts? = nil
    ) throws -> PurchaseOutcome {
        let now = line.now
        let moved = try line.writing.first(
            Statement.Purchases.settle,
            key.values + [
                .text(state.word), .optional(state.refusal?.rawValue),
                .optional(transaction?.id.value), .optional(reference),
                .optional(owesVoid ? now : nil), .integer(now.milliseconds),
                .integer(line.revision),
            ])
        guard moved != nil else {
            throw StorageFault(.malformedRow, "a purchase moved while its line was held")
        }
        if owesVoid { try owe(VoidErrands.kind, now, line.writing) }
        if case .sold = state, !owesVoid { try owe(CaptureErrands.kind, now, line.writing) }
        var outcome = PurchaseOutcome(
            state: state, transaction: transaction, charge: nil, revision: line.revision, now: now)
        outcome.owesWork = true
        return outcome
    }

    /// Returns the outcome of a row that an earlier process left.
    func left(_ row: PurchaseRow) -> PurchaseOutcome {
        PurchaseOutcome(
            state: row.state, transaction: nil, charge: charge(of: row),
            revision: row.revision, now: wall)
    }

    func outcome(
        of before: PurchaseRow, _ line: CustomerLine
    ) throws -> PurchaseOutcome {
        var sold: TransactionFacts?
        if case .sold(let id) = before.state { sold = try transaction(id, line.writing) }
        return PurchaseOutcome(
            state: before.state, transaction: sold, charge: charge(of: before),
            revision: before.revision, now: line.now)
    }

    func charge(of row: PurchaseRow) -> Charge? {
        guard row.state == .authorising, let total = row.total else { return nil }
        return charge(Money(total, row.payment.shownUnitPrice.currency))
    }

    func charge(_ total: Money) -> Charge {
        Charge(
            key: key.charge(in: realmID), total: total, customer: key.customer,
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
