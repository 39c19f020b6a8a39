// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// The commits of a purchase, as values. Everything that they need is drawn
/// before, so that a repeated run does the same.
struct PurchaseCommit: Sendable {
    let key: PurchaseKey
    let payment: Payment
    /// The hash of the requesting session's token. Nil for due work, which has
    /// no session.
    let tokenHash: [UInt8]?
    /// The number of the transaction if this commit sells.
    let transactionNumber: Int64
    let notificationUUID: String
    let appTransactionID: Int64
    let authoriser: AuthoriserKind
    let realmID: String
    let shelf: Shelf
    let wall: Timestamp
    let leases: LeaseClock

    /// Reads everything that the decision on the payment needs.
    var question: LineQuestion {
        LineQuestion(
            statement: Statement.Purchases.facts,
            values: key.values.dropFirst() + [
                .text(payment.productID.value), .optional(payment.replaces?.value),
                tokenHash.map(SQLValue.blob) ?? .null,
            ])
    }

    /// Decides a payment and writes the result. Leaves it if it was decided or
    /// begun before.
    func ask(_ line: CustomerLine) throws -> Ending<PurchaseOutcome> {
        if tokenHash != nil { try CustomerRoom.prove(line.facts, at: line.wall) }
        if let before = try PurchaseRow(line.facts, key: key) {
            try check(payment, against: before.payment)
            return .leave(try outcome(of: before, line))
        }
        try checkReplaced(line.facts)
        let switches = try shelf(line).apps[key.bundleID]?.settings
        let facts = try facts(line, hurdles(line.account, switches))
        switch PurchaseDecision.decide(payment, facts) {
        case .refuse(let refusal):
            return .commit(try record(.refused(refusal), line))
        case .deliverOwned(let owned):
            let facts = try transaction(owned, line.writing)
            return .commit(try record(.sold(owned), line, transaction: facts))
        case .authorise(let total):
            var outcome = try record(.authorising, line, total: total)
            outcome.errand = try hold(line)
            return .commit(outcome)
        case .wait(let reason):
            var outcome = try record(.waiting(reason), line)
            try ApprovalTimeout.work(key, askedAt: line.now).add(line.writing)
            outcome.owesWork = true
            return .commit(outcome)
        case .sell(let total):
            let sold = try transaction(selling: total, line)
            var outcome = try record(.sold(sold.id), line, total: total, transaction: sold)
            outcome.owesWork = try write(sold, line)
            return .commit(outcome)
        }
    }

    /// Writes a processor's answer if the purchase is still authorising.
    /// Otherwise leaves it with its present state.
    func settle(
        _ said: ChargeOutcome, _ line: CustomerLine
    ) throws -> Ending<PurchaseOutcome> {
        try whileAuthorising(line) { before in
            guard case .approved(let reference) = said else {
                return try move(to: .refused(.declined), line)
            }
            return try settle(before, reference, line)
        }
    }

    /// Decides a second time, because the facts may have changed while the
    /// processor was asked. If the answer is now no, the sum is given back.
    private func settle(
        _ before: PurchaseRow, _ reference: String, _ line: CustomerLine
    ) throws -> PurchaseOutcome {
        switch PurchaseDecision.decide(payment, try facts(line)) {
        case .authorise(let total) where total.amount == before.total:
            let sold = try transaction(selling: total, line)
            let outcome = try move(
                to: .sold(sold.id), line, reference: reference, transaction: sold)
            _ = try write(sold, line)
            return outcome
        case .deliverOwned(let owned):
            let facts = try transaction(owned, line.writing)
            return try move(
                to: .sold(owned), line, reference: reference, owesVoid: true,
                transaction: facts)
        case .refuse(let refusal):
            return try move(to: .refused(refusal), line, reference: reference, owesVoid: true)
        case .authorise, .sell, .wait:
            return try move(
                to: .refused(.priceChanged), line, reference: reference, owesVoid: true)
        }
    }

    /// Refuses an approved charge whose sale cannot be written, and owes the
    /// sum. Leaves a purchase that was decided in the meantime.
    func giveBack(
        _ reference: String, _ line: CustomerLine
    ) throws -> Ending<PurchaseOutcome> {
        try whileAuthorising(line) { _ in
            try move(to: .refused(.notRecorded), line, reference: reference, owesVoid: true)
        }
    }

    private func whileAuthorising(
        _ line: CustomerLine, _ body: (PurchaseRow) throws -> PurchaseOutcome
    ) throws -> Ending<PurchaseOutcome> {
        guard let before = try PurchaseRow(line.facts, key: key) else {
            throw StorageFault(.malformedRow, "the row of a purchase has disappeared")
        }
        guard before.state == .authorising else {
            return .leave(try outcome(of: before, line))
        }
        return .commit(try body(before))
    }

    /// Returns what must happen before a new payment can be sold, by the
    /// settings of the customer and of the app.
    private func hurdles(
        _ account: CustomerAccount, _ switches: SandboxSettings?
    ) -> Hurdles {
        Hurdles(
            lacksApproval: payment.simulatesAskToBuy || account.asksToBuy
                || switches?.asksToBuy == true,
            needsAttention: account.interruptsPurchases || switches?.interruptsPurchases == true,
            simulated: switches?.purchaseRefusal)
    }

    /// Returns the facts for the decision. Once a parent or the customer has
    /// answered, there are no hurdles any more.
    func facts(
        _ line: CustomerLine, _ hurdles: Hurdles = Hurdles()
    ) throws -> PurchaseFacts {
        let owned = try line.facts.optionalInteger("owned").map(TransactionID.init)
        let storefront = try storefront(line)
        // An owned product is delivered again, whether it is on sale or not.
        let shelf = try shelf(line)
        let product =
            owned == nil
            ? shelf.offered(payment.productID, of: key.bundleID, in: storefront, at: line.now)
            : shelf.product(payment.productID, of: key.bundleID)
        return PurchaseFacts(
            product: product, storefront: storefront, mayBuy: line.account.mayBuy,
            owned: owned, authoriser: authoriser, lacksApproval: hurdles.lacksApproval,
            needsAttention: hurdles.needsAttention, simulated: hurdles.simulated)
    }

    /// Returns the cached catalogue, or the one of this transaction if that is
    /// newer.
    func shelf(_ line: CustomerLine) throws -> Shelf {
        line.catalogueRevision == shelf.revision ? shelf : try Shelf(reading: line.writing)
    }

    /// Returns the customer's own storefront, or the app's.
    func storefront(_ line: CustomerLine) throws -> Storefront {
        guard
            let name = try line.account.storefront
                ?? shelf(line).apps[key.bundleID]?.storefront,
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

    /// Throws unless the replaced payment is finally refused. Otherwise the
    /// customer could pay for both.
    private func checkReplaced(_ row: Row) throws {
        let state = try row.optionalText("replaced_state")
        guard state == nil || state == "refused" else {
            throw Refusal(
                .conflict, code: "replacedNotRefused",
                "The payment to be replaced was not refused.", field: "replaces",
                rule: "only a refused payment is confirmed again under a new id",
                remedy: "request its state under its own purchase id")
        }
    }
}

/// What can delay a payment when it is first decided, and only then.
struct Hurdles: Sendable {
    var lacksApproval = false
    var needsAttention = false
    var simulated: PurchaseRefusal?
}
