// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension PurchaseRoom {
    /// Buys under a purchase id that the device generated. A repeated call with
    /// the same contents returns the same answer, newly signed, and does not
    /// charge again. If the store refuses to sell, the answer has the state
    /// `refused`. Throws, in order: `uuidInvalid`, `textInvalid`,
    /// `textTooLong`, `priceInvalid`, `currencyInvalid`, `sessionUnknown`,
    /// `sessionEnded`, `purchaseIdReused`, `replacedNotRefused`; before
    /// `sessionUnknown` those of the requested offer's form. `session` may
    /// be a recent one, because the commit verifies it again.
    public func purchase(
        _ id: String, _ request: PurchaseRequest, _ session: DeviceSession,
        _ context: RequestContext
    ) async throws -> PurchaseResponse {
        let key = PurchaseKey(
            customer: session.customer, bundleID: session.bundleID,
            purchaseID: PurchaseID(try Edge.uuid(id, "purchaseId").text))
        let payment = try payment(request)
        let evidence = try await evidence(
            for: payment, key, appTransactionID: session.appTransactionID, isAsked: false)
        let commit = try await commit(key, payment, evidence, session)
        let asked: PurchaseOutcome
        do { asked = try await ask(commit, context) } catch let refusal as Refusal {
            realm.giveBack(commit.transactionNumber)
            if refusal.kind == .unauthorised { realm.recentSessions.forget(session) }
            throw refusal
        }
        let outcome = try await settle(commit, asked, context)
        giveBackUnused(commit, outcome)
        return try await response(outcome, commit, session)
    }

    /// Returns the payment in a request.
    private func payment(_ request: PurchaseRequest) throws -> Payment {
        try Edge.text(request.productId, "productId")
        if let username = request.applicationUsername {
            try Edge.text(username, "applicationUsername", bytesMax: Edge.usernameBytesMax)
        }
        let price = try Edge.price(request.unitPrice, "unitPrice")
        let currency = try Edge.currency(request.currency, "currency")
        let replaces = try request.replaces.map { try Edge.uuid($0, "replaces").text }
        return Payment(
            productID: ProductID(request.productId), quantity: request.quantity,
            shownUnitPrice: Money(price, currency),
            applicationUsername: request.applicationUsername,
            replaces: replaces.map { PurchaseID($0) },
            simulatesAskToBuy: !realm.isProduction && request.simulatesAskToBuyInSandbox == true,
            offer: try request.offer.map { try RequestedOffer($0) },
            isCommitted: try Edge.isCommitted(request.billingPlan))
    }

    /// Returns a purchase's commits, with everything drawn that they may need.
    private func commit(
        _ key: PurchaseKey, _ payment: Payment, _ evidence: OfferEvidence?,
        _ session: DeviceSession
    ) async throws -> PurchaseCommit {
        let number = try await realm.newNumber(.transaction, bucket: key.customer.bucket)
        return PurchaseCommit(
            key: key, payment: payment, tokenHash: session.tokenHash,
            transactionNumber: number,
            notificationUUID: realm.uuid(for: "notification/ONE_TIME_CHARGE/\(number)"),
            subscriptions: realm.subscriptions.commit,
            appTransactionID: session.appTransactionID, evidence: evidence,
            authoriser: realm.authoriserKind,
            mayHaveLostCharges: realm.mayHaveLostCharges,
            realmID: realm.description.id,
            shelf: try await realm.shelf(
                revision: session.clock.catalogueRevision, for: key.customer),
            wall: realm.ports.wall.now, leases: realm.leases)
    }

    /// Gives back the number of a purchase that did not use it, because it was
    /// sold before or is not sold. Not called after a fault, because then it is
    /// unknown what was written.
    func giveBackUnused(_ commit: PurchaseCommit, _ outcome: PurchaseOutcome) {
        if case .sold(let sold) = outcome.state, sold.value == commit.transactionNumber { return }
        realm.giveBack(commit.transactionNumber)
    }

    /// Makes the first commit, or returns what an earlier one left.
    private func ask(
        _ commit: PurchaseCommit, _ context: RequestContext
    ) async throws -> PurchaseOutcome {
        let ending = try await realm.lineOrLeave(of: commit.key.customer, asking: commit.question) {
            try commit.ask($0)
        }
        if case .commit(let outcome) = ending {
            committed(outcome, commit.key, commit.payment, context)
        }
        return ending.answer
    }

    /// Wakes waiting requests and workers after a successful commit.
    func committed(
        _ outcome: PurchaseOutcome, _ key: PurchaseKey, _ payment: Payment,
        _ context: RequestContext
    ) {
        realm.wake(key.customer)
        if outcome.owesWork { realm.ring(key.customer) }
        var facts = [
            "customer": key.customer.description, "purchase": key.purchaseID.description,
            "state": outcome.state.word, "product": payment.productID.value,
            "quantity": "\(payment.quantity)",
        ]
        if let cause = outcome.cause { facts["cause"] = cause.rawValue }
        if let sold = outcome.transaction { facts["transaction"] = sold.id.description }
        if case .refused(let refusal) = outcome.state { facts["refusal"] = refusal.rawValue }
        realm.ports.log(.info, "purchase", context, facts)
    }

    /// A choice outside of the app that another device took up and finished is answered as
    /// an earlier payment: it would count twice.
    private func response(
        _ outcome: PurchaseOutcome, _ commit: PurchaseCommit, _ session: DeviceSession
    ) async throws -> PurchaseResponse {
        var response = PurchaseResponse(state: outcome.state.word, revision: outcome.revision)
        switch outcome.state {
        case .sold:
            response.signedTransaction = try outcome.transaction.map { facts in
                try realm.sign(facts, at: outcome.now)
            }
            if let facts = outcome.transaction {
                var isRepeat = facts.isRepeated(by: commit.key.purchaseID)
                if facts.isSpent, !isRepeat {
                    isRepeat = try await realm.promotions.isElsewhere(
                        commit.key.purchaseID, session)
                }
                if isRepeat {
                    response.isRepeat = true
                    response.isFinished = facts.finishedAt != nil
                }
            }
            response.content = try await content(of: outcome.transaction)
        case .refused(let refusal):
            response.refusal = refusal.wireError
            if refusal == .priceChanged {
                // The next payment sheet shows what is sold now, in the present
                // storefront.
                let session = try await realm.customers.asOfNow(session)
                response.product = try await described(commit, session, at: outcome.now)
            }
        case .waiting(let reason): response.waitingFor = reason.rawValue
        case .asked, .authorising, .joined: break
        }
        return response
    }

    /// Returns the content as of now. The shelf by which the payment was decided may be
    /// that of a session of a minute ago, and a device asks for a transaction only once.
    private func content(of facts: TransactionFacts?) async throws -> ContentDescription? {
        guard let facts, facts.type == .nonConsumable else { return nil }
        return facts.content(on: try await realm.loadShelf(for: facts.customer))
    }

    /// Returns the product of a payment as its sheet shows it now.
    private func described(
        _ commit: PurchaseCommit, _ session: DeviceSession, at now: Timestamp
    ) async throws -> ProductDescription? {
        let product = commit.payment.productID
        let evidence = commit.evidence
        let shelf = try await realm.loadShelf(for: session.customer)
        if shelf.product(product, of: session.bundleID)?.type == .autoRenewable {
            do {
                return try await quoted(
                    product, evidence, isCommitted: commit.payment.isCommitted, session)
            } catch is Refusal { return nil }
        }
        return try await realm.catalogue.described(product, shelf, session, at: now)
    }
}

extension TransactionFacts {
    /// Whether a payment was answered with the transaction of an earlier one.
    /// Periods of subscriptions are not meant: a payment may change the next one.
    fileprivate func isRepeated(by purchase: PurchaseID) -> Bool {
        type != .autoRenewable && purchaseID != purchase
    }

    /// Whether it is finished and was to be delivered once.
    fileprivate var isSpent: Bool {
        finishedAt != nil && (type == .consumable || type == .nonRenewing)
    }
}
