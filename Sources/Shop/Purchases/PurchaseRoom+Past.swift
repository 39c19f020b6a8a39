// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import Work

/// Purchases that a sandbox's customer made at an instant that has passed.
extension PurchaseRoom {
    /// Buys at an instant in the customer's past, and does what fell due since then,
    /// as a jump of the clock would. The purchase is a commit by itself, and each
    /// renewal another; if the process dies, a worker does the rest. Refusals, in
    /// order: `sandboxOnly`, `notificationsUnclear`, `textInvalid`, `textTooLong`,
    /// `uuidInvalid`, `billingPlanUnknown`, those of the offer's form,
    /// `bundleIdUnknown`, `customerNotFound`, `processorCharges`, `dateOutOfRange`,
    /// `dateBeforeLastEvent`, `purchaseIdReused`, and ``PurchaseRefusal``.
    public func buyInPast(
        _ request: PastPurchaseRequest, _ context: RequestContext
    ) async throws -> PastPurchaseAnswer {
        let past = try await past(request)
        let commit = try await commit(past, request)
        let clock = try await realm.clockID(of: past.customer)
        let before = realm.worker.tally(of: clock)
        let jump = try await realm.beginPast(clock, past.notifications, context)
        let bought: PastOutcome
        do { bought = try await write(past, commit, jump, context) } catch let refusal as Refusal {
            realm.giveBack(commit.transactionNumber)
            if let drawn = past.drawnAccount { realm.giveBack(drawn) }
            throw refusal
        }
        giveBackUnused(commit, bought.outcome)
        if let drawn = past.drawnAccount, !bought.usesAccount { realm.giveBack(drawn) }
        if case .refused(let refusal) = bought.outcome.state {
            throw Refusal(.conflict, refusal.wireError)
        }
        do { _ = try await realm.worker.isCaughtUpInTurn(past.customer, by: clock) } catch {
            // The purchase was made. A worker will do the rest.
            realm.ports.log(.error, "due work was not done", context, ["fault": "\(error)"])
        }
        await realm.worker.followUp()
        let sent =
            jump.notifications == .awaited
            ? await realm.sendJumps(of: clock, since: before, context) : nil
        realm.wakeWorkers()
        var answer = try await answer(past, bought)
        answer.notifications = sent
        return answer
    }

    /// Returns what the request names. Refusals: see ``buyInPast(_:_:)``.
    private func past(_ request: PastPurchaseRequest) async throws -> Past {
        guard !realm.isProduction else { throw Self.pastInSandboxOnly }
        let notifications = try Realm.notifications(request.notifications)
        try Edge.text(request.productId, "productId")
        if let username = request.applicationUsername {
            try Edge.text(username, "applicationUsername", bytesMax: Edge.usernameBytesMax)
        }
        let id = try request.purchaseId.map { try Edge.uuid($0, "purchaseId").text }
        let isCommitted = try Edge.isCommitted(request.billingPlan)
        let offer = try request.offer.map { try RequestedOffer($0) }
        let app = try await realm.catalogue.app(request.bundleId)
        guard let place = Storefront.named(app.storefront) else {
            throw StorageFault(.malformedRow, "a storefront that is not known")
        }
        let customer = try await realm.customers.known(request.customer)
        guard realm.processor == nil else { throw Self.processorCharges }
        let values: [SQLValue] = [.integer(customer.value), .text(app.bundleID.value)]
        let (account, count) = try await realm.read(of: customer) { reading in
            (
                try reading.first(Statement.Purchases.appAccount, values)?
                    .integer("app_transaction_id"),
                try reading.first(Statement.Purchases.count, values)?.integer("purchases") ?? 0
            )
        }
        let key = PurchaseKey(
            customer: customer, bundleID: app.bundleID,
            purchaseID: PurchaseID(
                id ?? realm.uuid(for: "purchase/\(customer)/\(app.bundleID)/\(count)")))
        let drawn =
            account == nil
            ? try await realm.newNumber(.appTransaction, bucket: customer.bucket) : nil
        return Past(
            key: key, date: request.date, isCommitted: isCommitted, offer: offer,
            account: account ?? drawn ?? 0, drawnAccount: drawn, notifications: notifications,
            isUnfinished: request.isUnfinished == true, currency: place.currency)
    }

    /// Draws what the commit needs. The price is that of the product, which is known
    /// in the customer's line.
    private func commit(
        _ past: Past, _ request: PastPurchaseRequest
    ) async throws -> PurchaseCommit {
        let payment = Payment(
            productID: ProductID(request.productId), quantity: request.quantity ?? 1,
            shownUnitPrice: Money(Amount(milliunits: 0), past.currency),
            applicationUsername: request.applicationUsername, offer: past.offer,
            isCommitted: past.isCommitted)
        let evidence = try await evidence(
            for: payment, past.key, appTransactionID: past.account, isAsked: false)
        let number = try await realm.newNumber(.transaction, bucket: past.customer.bucket)
        return PurchaseCommit(
            key: past.key, payment: payment, tokenHash: nil, transactionNumber: number,
            notificationUUID: realm.uuid(for: "notification/ONE_TIME_CHARGE/\(number)"),
            subscriptions: realm.subscriptions.commit, appTransactionID: past.account,
            evidence: evidence, authoriser: realm.authoriserKind,
            mayHaveLostCharges: false, realmID: realm.description.id,
            shelf: try await realm.loadShelf(for: past.customer),
            wall: realm.ports.wall.now, leases: realm.leases)
    }

    private func write(
        _ past: Past, _ commit: PurchaseCommit, _ jump: LastJump, _ context: RequestContext
    ) async throws -> PastOutcome {
        let who = context.actor
        let ending = try await realm.lineOrLeave(of: past.customer, asking: commit.question) {
            line -> Ending<PastOutcome> in
            try past.write(commit, jump, who: who, line)
        }
        let bought = ending.answer
        if case .commit = ending {
            committed(bought.outcome, past.key, commit.payment, context)
        }
        return bought
    }

    private func answer(_ past: Past, _ bought: PastOutcome) async throws -> PastPurchaseAnswer {
        let (customer, rules) = (past.customer, realm.renewalRules)
        let (wall, sold) = (realm.ports.wall.now, bought.outcome.transaction)
        return try await realm.read(of: customer) { reading in
            let row = try sold.flatMap { sold in
                try SubscriptionRow.find(sold.originalID, of: customer, reading)
            }
            let values: [SQLValue] = [
                .integer(customer.value),
                .integer(row?.subscription.originalID.value ?? 0),
                .integer(bought.eventsBefore),
            ]
            let events = try reading.query(Statement.Subscriptions.eventsAfter, values).map {
                SubscriptionEventRecord(
                    try StoredJSON.value(try $0.text("body"), "an event that cannot be read"),
                    of: row?.subscription.originalID ?? TransactionID(0),
                    number: try $0.integer("event"))
            }
            return PastPurchaseAnswer(
                customerId: customer.description, purchaseId: past.key.purchaseID.description,
                state: bought.outcome.state.word, transactionId: sold?.id.description,
                subscription: row?.record(rules), events: events,
                now: try Realm.now(of: customer, wall: wall, reading) ?? past.date)
        }
    }

    private static let pastInSandboxOnly = Refusal(
        .forbidden, code: "sandboxOnly", "Production sells at its own time.",
        field: "realm", rule: "purchases are made in the past in sandboxes only",
        remedy: "create a sandbox")

    private static let processorCharges = Refusal(
        .conflict, code: "processorCharges", "A payment processor charges at its own time.",
        field: "date", rule: "only a sandbox without a processor sells in the past",
        remedy: "move the clock back before the first purchase, and then forward")
}

/// A purchase in the past, as it was requested.
private struct Past: Sendable {
    let key: PurchaseKey
    let date: Timestamp
    let isCommitted: Bool
    let offer: RequestedOffer?
    /// The number of the customer's account with the app.
    let account: Int64
    /// The same if it was drawn for this request.
    let drawnAccount: Int64?
    let notifications: JumpNotifications?
    let isUnfinished: Bool
    /// Of the app's storefront, until the price is known.
    let currency: Currency

    var customer: CustomerID { key.customer }

    /// Decides and writes the purchase as of its date. Leaves one that was made
    /// before under the same id.
    func write(
        _ commit: PurchaseCommit, _ jump: LastJump, who: String, _ line: CustomerLine
    ) throws -> Ending<PastOutcome> {
        var commit = commit
        commit.repeats = false
        let known = try PurchaseRow(line.facts, key: key)
        if known == nil { try check(line) }
        let dated = line.dated(date, jump: jump)
        let isNew = try isAccountNew(&commit, dated)
        commit.payment = commit.payment.shown(
            at: try known?.payment.shownUnitPrice ?? commit.priceShown(dated))
        let row = try commit.subscription(dated)
        let ending = try commit.ask(dated)
        let bought = PastOutcome(
            outcome: ending.answer, eventsBefore: known == nil ? row?.events ?? 0 : 0,
            usesAccount: isNew)
        guard case .commit(let outcome) = ending else {
            return .leave(
                PastOutcome(outcome: ending.answer, eventsBefore: 0, usesAccount: false))
        }
        if !isUnfinished, let sold = outcome.transaction {
            _ = try line.writing.first(
                Statement.Transactions.finish,
                [
                    .integer(key.customer.value), .text(key.bundleID.value),
                    .integer(sold.id.value), .integer(date.milliseconds),
                    .integer(line.revision),
                ])
        }
        try AuditEntry(
            who: who, wall: line.wall, deed: "purchase.past",
            subject: "\(key.customer)/\(key.purchaseID)", before: nil,
            after: [
                "bundleId": key.bundleID.value, "productId": commit.payment.productID.value,
                "date": "\(date)", "state": outcome.state.word,
                "transactionId": outcome.transaction?.id.description,
            ]
        ).write(line.writing)
        return .commit(bought)
    }

    /// Throws unless the date is before the customer's time, and not before anything
    /// that has happened to the customer. A period that was charged ahead happened when it
    /// was charged.
    private func check(_ line: CustomerLine) throws {
        guard (RealmClock.earliest...line.now).contains(date) else {
            throw Refusal(
                .badRequest, code: "dateOutOfRange", "A purchase in the past has passed.",
                field: "date",
                rule: "from \(RealmClock.earliest) to the customer's time, "
                    + "which is \(line.now)",
                remedy: "choose an instant between them, or move the clock first")
        }
        let last = try line.writing.first(
            Statement.Purchases.lastDates,
            [.integer(key.customer.value), .integer(line.now.milliseconds)])
        let dates = try ["transaction_at", "event_at", "asked_at"].compactMap {
            try last?.optionalInteger($0)
        }
        guard let latest = dates.max(), latest > date.milliseconds else { return }
        throw Refusal(
            .conflict, code: "dateBeforeLastEvent",
            "Something has happened to the customer since then.", field: "date",
            rule: "not before the customer's last event, "
                + "\(Timestamp(milliseconds: latest))",
            remedy: "choose a later instant, or another customer")
    }

    /// Writes the customer's account with the app if there is none.
    private func isAccountNew(
        _ commit: inout PurchaseCommit, _ line: CustomerLine
    ) throws -> Bool {
        let values: [SQLValue] = [.integer(key.customer.value), .text(key.bundleID.value)]
        let known = try line.writing.first(Statement.Purchases.appAccount, values)
        if let known {
            commit.appTransactionID = try known.integer("app_transaction_id")
            return false
        }
        try line.writing.execute(
            Statement.Sessions.putAppAccount,
            RealmSchema.appAccounts.row([
                "customer_id": values[0], "bundle_id": values[1],
                "app_transaction_id": .integer(commit.appTransactionID),
                "original_purchased_at": .integer(date.milliseconds),
                "original_version": .text(CustomerRoom.unknownVersion),
            ]))
        return true
    }
}

/// What became of a purchase in the past.
private struct PastOutcome: Sendable {
    let outcome: PurchaseOutcome
    /// The number of the subscription's events before it.
    let eventsBefore: Int64
    /// Whether the commit wrote the account whose number was drawn.
    let usesAccount: Bool
}

extension PurchaseCommit {
    /// The price of one unit that a payment sheet would show.
    fileprivate func priceShown(_ line: CustomerLine) throws -> Money {
        let (storefront, shelf) = (try storefront(line), try shelf(line))
        let plan = shelf.plan(
            payment.productID, isCommitted: payment.isCommitted, of: key.bundleID,
            in: storefront, at: line.now)
        let product = shelf.offered(
            payment.productID, of: key.bundleID, in: storefront, at: line.now)
        let sale = try plan.flatMap { plan in
            shelf.subscriptionSale(
                plan, current: try subscribed(to: plan, line)?.subscription, evidence,
                of: key.bundleID, in: storefront, at: line.now)
        }
        return sale?.price ?? Money(product?.price ?? Amount(milliunits: 0), storefront.currency)
    }

    /// The customer's subscription to the group of the product.
    fileprivate func subscription(_ line: CustomerLine) throws -> SubscriptionRow? {
        let (storefront, shelf) = (try storefront(line), try shelf(line))
        return try shelf.plan(
            payment.productID, isCommitted: payment.isCommitted, of: key.bundleID,
            in: storefront, at: line.now
        ).flatMap { try subscribed(to: $0, line) }
    }
}

extension Payment {
    /// The same payment with the price that its sheet showed.
    fileprivate func shown(at price: Money) -> Payment {
        Payment(
            productID: productID, quantity: quantity, shownUnitPrice: price,
            applicationUsername: applicationUsername, replaces: replaces,
            simulatesAskToBuy: simulatesAskToBuy, offer: offer, isCommitted: isCommitted)
    }
}
