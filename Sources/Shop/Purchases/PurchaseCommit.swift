// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// The commits of a purchase, as values. Everything that they need is drawn
/// before, so that a repeated run does the same.
struct PurchaseCommit: Sendable {
    let key: PurchaseKey
    var payment: Payment
    /// The hash of the requesting session's token. Nil for due work, which has
    /// no session.
    let tokenHash: [UInt8]?
    /// The number of the transaction if this commit sells.
    let transactionNumber: Int64
    let notificationUUID: String
    /// Writes what a payment for a subscription does.
    let subscriptions: SubscriptionCommit
    var appTransactionID: Int64
    /// What was found out about the offer that the payment asks for.
    let evidence: OfferEvidence?
    let authoriser: AuthoriserKind
    /// Whether the processor may know a charge of this payment that the store has lost.
    let mayHaveLostCharges: Bool
    let realmID: String
    let shelf: Shelf
    let wall: Timestamp
    let leases: LeaseClock
    /// Whether it answers with a purchase of the same product that is unfinished
    /// or undecided. Not for a history that is made in the past.
    var repeats = true

    /// Reads everything that the decision on the payment needs.
    var question: LineQuestion {
        LineQuestion(
            statement: Statement.Purchases.facts,
            values: key.values.dropFirst() + [
                .text(payment.productID.value), .optional(payment.replaces?.value),
                tokenHash.map(SQLValue.blob) ?? .null,
            ])
    }

    /// The id of the transaction if this commit sells.
    private var newID: TransactionID { TransactionID(transactionNumber) }

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
        let hurdles = hurdles(line.account, switches)
        let decision = try decide(
            line, simulated: try simulated(switches, line), open: try open(line.facts, hurdles),
            isAuthorised: !hurdles.isAny)
        let event = PurchaseEvent.asked(decision, hurdles, as: newID)
        let outcome = try apply(event, to: nil, line)
        guard case .joined(let first) = event.state else { return .commit(outcome) }
        var joined = try self.outcome(ofJoined: first, line)
        joined.cause = event.cause
        return .commit(joined)
    }

    /// Writes a processor's answer if the purchase is still authorising.
    /// Otherwise leaves it with its present state.
    func settle(
        _ said: ChargeOutcome, _ line: CustomerLine
    ) throws -> Ending<PurchaseOutcome> {
        try whileAuthorising(line) { before in
            guard case .approved(let reference) = said else { return .declined }
            return .reserved(before.total, reference, try decide(line), as: newID)
        }
    }

    /// Refuses an approved charge whose sale cannot be written, and owes the
    /// sum. Leaves a purchase that was decided in the meantime.
    func giveBack(
        _ reference: String, _ line: CustomerLine
    ) throws -> Ending<PurchaseOutcome> {
        try whileAuthorising(line) { _ in .unwritten(reference) }
    }

    /// Writes the answer to a payment that waits for approval. An approved
    /// payment is decided again, because price and customer may have changed
    /// since. Leaves it if it has this answer already. Throws a refusal if it
    /// has another one.
    func answer(
        _ answer: ApprovalAnswer, _ line: CustomerLine
    ) throws -> Ending<PurchaseOutcome> {
        let before = try row(line)
        guard case .waiting = before.state else {
            guard before.approval == answer else { throw Self.answeredBefore(before.approval) }
            return .leave(try outcome(of: before, line))
        }
        let event: PurchaseEvent =
            switch answer {
            case .approved: .approved(try decide(line), as: newID)
            case .declined: .notApproved(isTimedOut: false)
            case .timedOut: .notApproved(isTimedOut: true)
            }
        return .commit(try apply(event, to: before, line))
    }

    private func whileAuthorising(
        _ line: CustomerLine, _ event: (PurchaseRow) throws -> PurchaseEvent
    ) throws -> Ending<PurchaseOutcome> {
        let before = try row(line)
        guard before.state == .authorising else {
            return .leave(try outcome(of: before, line))
        }
        return .commit(try apply(try event(before), to: before, line))
    }

    private func row(_ line: CustomerLine) throws -> PurchaseRow {
        guard let row = try PurchaseRow(line.facts, key: key) else {
            throw StorageFault(.malformedRow, "the row of a purchase has disappeared")
        }
        return row
    }

    /// Returns what must happen before a new payment can be sold, by the
    /// settings of the customer and of the app.
    private func hurdles(
        _ account: CustomerAccount, _ switches: SandboxSettings?
    ) -> PurchaseHurdles {
        PurchaseHurdles(
            lacksApproval: payment.simulatesAskToBuy || account.asksToBuy
                || switches?.asksToBuy == true,
            needsAttention: account.interruptsPurchases || switches?.interruptsPurchases == true)
    }

    /// Returns the customer's undecided purchase of the same product. One that was
    /// interrupted has failed for the app, and counts only while the next one would
    /// be interrupted too.
    private func open(_ facts: Row, _ hurdles: PurchaseHurdles) throws -> PurchaseID? {
        guard repeats else { return nil }
        let open = try facts.optionalText("open_purchase")
        let interrupted =
            hurdles.needsAttention ? try facts.optionalText("interrupted_purchase") : nil
        return (open ?? interrupted).map { PurchaseID($0) }
    }

    /// Returns the transaction that a payment is answered with, without a charge.
    private func owned(_ facts: Row) throws -> TransactionID? {
        let unfinished = repeats ? try facts.optionalInteger("unfinished") : nil
        return (try facts.optionalInteger("owned") ?? unfinished).map(TransactionID.init)
    }

    /// Decides the payment by the facts that the line has read.
    /// `isAuthorised`: whether the authoriser is asked now. A payment that waits first
    /// is declined after its approval.
    private func decide(
        _ line: CustomerLine, simulated: PurchaseRefusal? = nil, open: PurchaseID? = nil,
        isAuthorised: Bool = true
    ) throws -> PurchaseDecision {
        let owned = try owned(line.facts)
        let storefront = try storefront(line)
        // An owned product is delivered again, whether it is on sale or not.
        let shelf = try shelf(line)
        let product =
            owned == nil
            ? shelf.offered(payment.productID, of: key.bundleID, in: storefront, at: line.now)
            : shelf.product(payment.productID, of: key.bundleID)
        return PurchaseDecision.decide(
            payment,
            PurchaseFacts(
                product: product, storefront: storefront, mayBuy: line.account.mayBuy,
                owned: owned, authoriser: authoriser, simulated: simulated,
                subscription: try product.flatMap {
                    try subscription($0, shelf, storefront, line)
                }, open: open, declines: isAuthorised ? try declines(line) : [],
                customer: key.customer, attempt: try attempt(line)))
    }

    /// The refusal that the sandbox is configured to give.
    private func simulated(
        _ switches: SandboxSettings?, _ line: CustomerLine
    ) throws -> PurchaseRefusal? {
        if case .devices? = try shelf(line).faults[.devices] { return .storeFault }
        return switches?.purchaseRefusal
    }

    /// Which payments the sandbox's authoriser declines.
    private func declines(_ line: CustomerLine) throws -> [DeclineRule] {
        guard case .payments(let rules)? = try shelf(line).faults[.payments] else { return [] }
        return rules
    }

    /// Which of the customer's payments for the product this is. Counted only if a
    /// rule asks for it.
    private func attempt(_ line: CustomerLine) throws -> Int {
        guard try declines(line).contains(where: { $0.attempt != nil }) else { return 1 }
        let before = try line.writing.first(
            Statement.Purchases.attempts,
            [
                .integer(key.customer.value), .text(key.bundleID.value),
                .text(payment.productID.value), .text(key.purchaseID.value),
            ])
        return Int(try before?.integer("attempts") ?? 0) + 1
    }

    /// Returns what the payment does if the product is a subscription.
    private func subscription(
        _ product: Product, _ shelf: Shelf, _ storefront: Storefront, _ line: CustomerLine
    ) throws -> SubscriptionSale? {
        guard product.type == .autoRenewable else { return nil }
        let plan = shelf.plan(
            product.id, isCommitted: payment.isCommitted, of: key.bundleID, in: storefront,
            at: line.now)
        let row = try plan.flatMap { try subscribed(to: $0, line) }
        return shelf.subscriptionSale(
            plan, current: row?.subscription, evidence, of: key.bundleID, in: storefront,
            at: line.now, tempo: line.tempo)
    }

    /// The customer's subscription to a product's group.
    func subscribed(
        to plan: SubscriptionPlan, _ line: CustomerLine
    ) throws -> SubscriptionRow? {
        try SubscriptionRow.find(plan, of: key.customer, in: key.bundleID, line.writing)
    }

    /// Returns the cached catalogue, or the one of this transaction if that is
    /// newer.
    func shelf(_ line: CustomerLine) throws -> Shelf { try shelf.current(in: line) }

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

    private static func answeredBefore(_ answer: ApprovalAnswer?) -> Refusal {
        let words =
            switch answer {
            case .approved: "This purchase was approved before."
            case .declined: "This purchase was declined before."
            case .timedOut: "This purchase has waited too long for an answer."
            case nil: "This purchase does not wait for an answer."
            }
        return Refusal(
            .conflict, code: "approvalAnswered", words, field: "answer",
            rule: "the first answer counts, at most a day after the request",
            remedy: "list the purchase to see its state")
    }
}
