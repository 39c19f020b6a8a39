// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// The commits of a purchase, as values: everything they need was drawn
/// before, so that running one again does the same.
struct PurchaseCommit: Sendable {
    let key: PurchaseKey
    let payment: Payment
    /// The number the transaction gets if this commit sells.
    let transactionNumber: Int64
    let notificationUUID: String
    let appTransactionID: Int64
    /// For customers who have none of their own.
    let storefront: Storefront
    let authoriser: AuthoriserKind
    let realmID: String
    let shelf: Shelf
    let wall: Timestamp

    /// Decides a payment and writes what follows; throws ``AskedBefore``
    /// without writing when it was decided, or begun, already.
    func ask(_ writing: any Writing) throws -> PurchaseOutcome {
        let (line, row) = try readFacts(writing)
        let now = try ClockRow(row).now(wall: wall)
        if let before = try PurchaseRow(row, key: key) {
            try check(payment, against: before.payment)
            throw AskedBefore(outcome: try outcome(of: before, writing, now: now))
        }
        try checkReplaced(row)
        let revision = try line.integer("revision")
        switch PurchaseDecision.decide(payment, try facts(line, row, writing)) {
        case .refuse(let refusal):
            return try record(.refused(refusal), writing, revision, now)
        case .deliverOwned(let owned):
            let facts = try transaction(owned, writing)
            return try record(.sold(owned), writing, revision, now, transaction: facts)
        case .authorise(let total):
            return try record(.authorising, writing, revision, now, total: total)
        case .sell(let total):
            let sold = try transaction(selling: total, line, row, writing, revision, now)
            var outcome = try record(
                .sold(sold.id), writing, revision, now, total: total, transaction: sold)
            outcome.owesWork = try write(sold, row, writing)
            return outcome
        }
    }

    /// Writes what a processor said, where the purchase is still authorising;
    /// else tells what became of it.
    func settle(_ said: ChargeOutcome, _ writing: any Writing) throws -> PurchaseOutcome {
        let (line, row) = try readFacts(writing)
        let now = try ClockRow(row).now(wall: wall)
        guard let before = try PurchaseRow(row, key: key) else {
            throw StorageFault(.malformedRow, "a purchase that was asked and is gone")
        }
        guard before.state == .authorising else {
            throw AskedBefore(outcome: try outcome(of: before, writing, now: now))
        }
        let revision = try line.integer("revision")
        guard case .approved(let reference) = said else {
            return try move(to: .refused(.declined), writing, revision, now)
        }
        // Decided a second time: what was true before the processor was asked
        // may be so no longer, and then the sum is given back.
        switch PurchaseDecision.decide(payment, try facts(line, row, writing)) {
        case .authorise(let total) where total.amount == before.total:
            let sold = try transaction(selling: total, line, row, writing, revision, now)
            var outcome = try move(
                to: .sold(sold.id), writing, revision, now, reference: reference,
                transaction: sold)
            outcome.owesWork = try write(sold, row, writing)
            return outcome
        case .deliverOwned(let owned):
            let facts = try transaction(owned, writing)
            return try move(
                to: .sold(owned), writing, revision, now, reference: reference,
                owesVoid: true, transaction: facts)
        case .refuse(let refusal):
            return try move(
                to: .refused(refusal), writing, revision, now, reference: reference,
                owesVoid: true)
        case .authorise, .sell:
            return try move(
                to: .refused(.priceChanged), writing, revision, now, reference: reference,
                owesVoid: true)
        }
    }

    /// Locks the customer's line, then reads what deciding needs.
    private func readFacts(_ writing: any Writing) throws -> (line: Row, facts: Row) {
        let customer = SQLValue.integer(key.customer.value)
        let values: [SQLValue] =
            key.values + [.text(payment.productID.value), .optional(payment.replaces?.value)]
        guard let line = try writing.first(Statement.Customers.line, [customer]),
            let facts = try writing.first(Statement.Purchases.facts, values)
        else { throw StorageFault(.malformedRow, "a customer without a row") }
        return (line, facts)
    }

    /// What the decision looks at.
    private func facts(_ line: Row, _ row: Row, _ writing: any Writing) throws -> PurchaseFacts {
        PurchaseFacts(
            product: try shelf(row, writing).product(payment.productID, of: key.bundleID),
            storefront: try storefront(line), mayBuy: try line.boolean("may_buy"),
            owned: try row.optionalInteger("owned").map(TransactionID.init),
            authoriser: authoriser)
    }

    /// The cached catalogue, or the one of this transaction where it is newer.
    private func shelf(_ row: Row, _ reading: any Reading) throws -> Shelf {
        try row.integer("catalogue_revision") == shelf.revision ? shelf : Shelf(reading: reading)
    }

    private func storefront(_ line: Row) throws -> Storefront {
        guard let own = try line.optionalText("storefront") else { return storefront }
        guard let named = Storefront.named(own) else {
            throw StorageFault(.malformedRow, "a storefront that is not known")
        }
        return named
    }

    private func check(_ payment: Payment, against before: Payment) throws {
        guard let field = payment.firstDifference(from: before) else { return }
        throw Refusal(
            .conflict, code: "purchaseIdReused",
            "This purchase id was used for another payment.", field: field,
            rule: "one purchase id, one payment: the same contents whenever it is sent",
            remedy: "make a new purchase id for a new payment")
    }

    /// A payment may replace only one that is refused for good; otherwise the
    /// customer could pay both.
    private func checkReplaced(_ row: Row) throws {
        let state = try row.optionalText("replaced_state")
        guard state == nil || state == "refused" else {
            throw Refusal(
                .conflict, code: "replacedNotRefused",
                "The payment to be replaced was not refused.", field: "replaces",
                rule: "only a refused payment is confirmed again under a new id",
                remedy: "ask what became of it, under its own purchase id")
        }
    }
}

extension PurchaseCommit {
    private func transaction(
        selling total: Money, _ line: Row, _ row: Row, _ reading: any Reading,
        _ revision: Int64, _ now: Timestamp
    ) throws -> TransactionFacts {
        guard
            let product = try shelf(row, reading).product(payment.productID, of: key.bundleID)
        else { throw StorageFault(.malformedRow, "a product that was decided on and is gone") }
        return TransactionFacts(
            customer: key.customer, id: TransactionID(transactionNumber),
            originalID: TransactionID(transactionNumber), bundleID: key.bundleID,
            productID: product.id, type: product.type, quantity: payment.quantity,
            unitPrice: product.price, total: total,
            storefront: try storefront(line).countryCode,
            appAccountToken: payment.appAccountToken?.text, appTransactionID: appTransactionID,
            purchaseID: key.purchaseID, purchasedAt: now, originalPurchasedAt: now,
            revision: revision)
    }

    /// The moment of sale: the transaction, and the notification it owes.
    /// Tells whether there is somebody to send it to.
    private func write(
        _ sold: TransactionFacts, _ row: Row, _ writing: any Writing
    ) throws -> Bool {
        let hasURL = try shelf(row, writing).apps[sold.bundleID]?.notificationURL != nil
        try writing.execute(Statement.Transactions.insert, sold.values)
        let owed = OwedNotification(
            customer: sold.customer, cause: "\(NotificationKind.oneTimeCharge)/\(sold.id)",
            uuid: notificationUUID, type: NotificationKind.oneTimeCharge,
            bundleID: sold.bundleID, transaction: sold.id, revision: sold.revision,
            owedAt: sold.purchasedAt)
        try owed.write(writing, hasURL: hasURL)
        return hasURL
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

    private func record(
        _ state: PurchaseState, _ writing: any Writing, _ revision: Int64, _ now: Timestamp,
        total: Money? = nil, transaction: TransactionFacts? = nil
    ) throws -> PurchaseOutcome {
        let decided = state == .authorising ? nil : now
        try writing.execute(
            Statement.Purchases.insert,
            key.values + [
                .text(payment.productID.value), .integer(Int64(payment.quantity)),
                .integer(payment.shownUnitPrice.amount.milliunits),
                .text(payment.shownUnitPrice.currency.code),
                .optional(payment.applicationUsername), .optional(payment.replaces?.value),
                .text(state.word), .optional(state.refusal?.rawValue),
                .optional(transaction?.id.value), .optional(total?.amount.milliunits),
                .integer(now.milliseconds), .optional(decided), .integer(revision),
            ])
        return PurchaseOutcome(
            state: state, transaction: transaction,
            charge: state == .authorising ? total.map(charge) : nil, isVoidOwed: false,
            revision: revision, now: now)
    }

    private func move(
        to state: PurchaseState, _ writing: any Writing, _ revision: Int64, _ now: Timestamp,
        reference: String? = nil, owesVoid: Bool = false, transaction: TransactionFacts? = nil
    ) throws -> PurchaseOutcome {
        let moved = try writing.first(
            Statement.Purchases.settle,
            key.values + [
                .text(state.word), .optional(state.refusal?.rawValue),
                .optional(transaction?.id.value), .optional(reference),
                .optional(owesVoid ? now : nil), .integer(now.milliseconds), .integer(revision),
            ])
        guard moved != nil else {
            throw StorageFault(.malformedRow, "a purchase moved while its line was held")
        }
        return PurchaseOutcome(
            state: state, transaction: transaction, charge: nil, isVoidOwed: owesVoid,
            revision: revision, now: now)
    }

    /// What a row that an earlier process left wants done.
    func left(_ row: PurchaseRow) -> PurchaseOutcome {
        PurchaseOutcome(
            state: row.state, transaction: nil, charge: charge(of: row),
            isVoidOwed: row.isVoidOwed, revision: row.revision, now: wall)
    }

    private func outcome(
        of before: PurchaseRow, _ reading: any Reading, now: Timestamp
    ) throws -> PurchaseOutcome {
        var sold: TransactionFacts?
        if case .sold(let id) = before.state { sold = try transaction(id, reading) }
        return PurchaseOutcome(
            state: before.state, transaction: sold, charge: charge(of: before),
            isVoidOwed: before.isVoidOwed, revision: before.revision, now: now)
    }

    private func charge(of row: PurchaseRow) -> Charge? {
        guard row.state == .authorising, let total = row.total else { return nil }
        return charge(Money(total, row.payment.shownUnitPrice.currency))
    }

    private func charge(_ total: Money) -> Charge {
        Charge(
            key: key.charge(in: realmID), total: total, customer: key.customer,
            bundleID: key.bundleID, productID: payment.productID)
    }
}

extension PurchaseState {
    fileprivate var refusal: PurchaseRefusal? {
        if case .refused(let refusal) = self { return refusal }
        return nil
    }
}
