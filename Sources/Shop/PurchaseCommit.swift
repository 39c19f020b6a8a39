// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// The commits of a purchase, as values: everything they need was drawn
/// before, so that running one again does the same.
struct PurchaseCommit: Sendable {
    let key: PurchaseKey
    let payment: Payment
    /// The session that asks; nil where nobody does, for work that is due.
    let tokenHash: [UInt8]?
    /// The number the transaction gets if this commit sells.
    let transactionNumber: Int64
    let notificationUUID: String
    let appTransactionID: Int64
    let authoriser: AuthoriserKind
    let realmID: String
    let shelf: Shelf
    let wall: Timestamp
    let leases: LeaseClock

    /// Decides a payment and writes what follows; throws ``AskedBefore``
    /// without writing when it was decided, or begun, already.
    func ask(_ writing: any Writing) throws -> PurchaseOutcome {
        let (line, row) = try readFacts(writing)
        if tokenHash != nil { try Realm.prove(row, at: wall) }
        let now = try ClockRow(row).now(wall: wall)
        if let before = try PurchaseRow(row, key: key) {
            try check(payment, against: before.payment)
            throw AskedBefore(outcome: try outcome(of: before, writing, now: now))
        }
        try checkReplaced(row)
        let revision = try line.integer("revision")
        let switches = try shelf(row, writing).apps[key.bundleID]?.settings
        let facts = try facts(line, row, writing, try hurdles(line, switches))
        switch PurchaseDecision.decide(payment, facts) {
        case .refuse(let refusal):
            return try record(.refused(refusal), writing, revision, now)
        case .deliverOwned(let owned):
            let facts = try transaction(owned, writing)
            return try record(.sold(owned), writing, revision, now, transaction: facts)
        case .authorise(let total):
            var outcome = try record(.authorising, writing, revision, now, total: total)
            outcome.errand = try hold(now, writing)
            return outcome
        case .wait(let reason):
            var outcome = try record(.waiting(reason), writing, revision, now)
            try ApprovalTimeout.work(key, askedAt: now).add(writing)
            outcome.owesWork = true
            return outcome
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
        let facts = try facts(line, row, writing)
        switch PurchaseDecision.decide(payment, facts) {
        case .authorise(let total) where total.amount == before.total:
            let sold = try transaction(selling: total, line, row, writing, revision, now)
            let outcome = try move(
                to: .sold(sold.id), writing, revision, now, reference: reference,
                transaction: sold)
            _ = try write(sold, row, writing)
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
        case .authorise, .sell, .wait:
            return try move(
                to: .refused(.priceChanged), writing, revision, now, reference: reference,
                owesVoid: true)
        }
    }

    /// Locks the customer's line, then reads what deciding needs.
    func readFacts(_ writing: any Writing) throws -> (line: Row, facts: Row) {
        let customer = SQLValue.integer(key.customer.value)
        guard let line = try writing.first(Statement.Customers.line, [customer]) else {
            throw StorageFault(.malformedRow, "a customer without a row")
        }
        return (line, try readFacts(behindLine: writing))
    }

    func readFacts(behindLine writing: any Writing) throws -> Row {
        let values: [SQLValue] =
            key.values + [
                .text(payment.productID.value), .optional(payment.replaces?.value),
                tokenHash.map(SQLValue.blob) ?? .null,
            ]
        guard let facts = try writing.first(Statement.Purchases.facts, values) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        return facts
    }

    /// What stands in a payment's way when it is asked for: the customer's
    /// own switches or the app's.
    private func hurdles(_ line: Row, _ switches: SandboxSettings?) throws -> Hurdles {
        let asksToBuy = try line.boolean("asks_to_buy")
        let interrupts = try line.boolean("interrupts_purchases")
        return Hurdles(
            lacksApproval: payment.simulatesAskToBuy || asksToBuy || switches?.asksToBuy == true,
            needsAttention: interrupts || switches?.interruptsPurchases == true,
            simulated: switches?.purchaseRefusal)
    }

    /// What the decision looks at. Nothing stands in the way any more once
    /// somebody has answered.
    func facts(
        _ line: Row, _ row: Row, _ writing: any Writing, _ hurdles: Hurdles = Hurdles()
    ) throws -> PurchaseFacts {
        let owned = try row.optionalInteger("owned").map(TransactionID.init)
        let storefront = try storefront(line, row, writing)
        // What is owned is delivered again, on sale or not.
        let shelf = try shelf(row, writing)
        let product =
            owned == nil
            ? shelf.offered(
                payment.productID, of: key.bundleID, in: storefront,
                at: try ClockRow(row).now(wall: wall))
            : shelf.product(payment.productID, of: key.bundleID)
        return PurchaseFacts(
            product: product, storefront: storefront, mayBuy: try line.boolean("may_buy"),
            owned: owned, authoriser: authoriser, lacksApproval: hurdles.lacksApproval,
            needsAttention: hurdles.needsAttention, simulated: hurdles.simulated)
    }

    /// The cached catalogue, or the one of this transaction where it is newer.
    func shelf(_ row: Row, _ reading: any Reading) throws -> Shelf {
        try row.integer("catalogue_revision") == shelf.revision ? shelf : Shelf(reading: reading)
    }

    /// The customer's own storefront, or the app's.
    func storefront(_ line: Row, _ row: Row, _ reading: any Reading) throws -> Storefront {
        let own = try line.optionalText("storefront")
        guard let name = try own ?? shelf(row, reading).apps[key.bundleID]?.storefront,
            let named = Storefront.named(name)
        else {
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

/// What a payment meets the first time it is decided, and not again.
struct Hurdles: Sendable {
    var lacksApproval = false
    var needsAttention = false
    var simulated: PurchaseRefusal?
}
