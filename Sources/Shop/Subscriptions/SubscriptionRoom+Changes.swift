// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import Work

/// Changes by operators and by tests. Each answer lists the events that it
/// caused. A change that was made already causes none. All refuse with
/// `subscriptionNotFound` first.
extension SubscriptionRoom {
    /// Switches the renewal on or off, as the customer would. Refusal:
    /// `subscriptionEnded`.
    @discardableResult
    public func switchRenewal(
        of id: String, on isOn: Bool, _ context: RequestContext
    ) async throws -> SubscriptionAnswer {
        try await change(id, "subscription.switch", context) { change in
            try change.subscription.switching(on: isOn, at: change.now, cause: .operator)
        }
    }

    /// Moves the next renewal by 1 to 90 days. Refusals, in order:
    /// `renewalUnpaid`, `subscriptionEnded`, `daysOutOfRange`.
    @discardableResult
    public func extend(
        _ id: String, days: Int, _ context: RequestContext
    ) async throws -> SubscriptionAnswer {
        try await change(id, "subscription.extend", context) { change in
            try change.subscription.extended(days: days, at: change.now, cause: .operator)
        }
    }

    /// Chooses the product of the next period, without a charge. Refusals, in order:
    /// `productIdUnknown`, `subscriptionEnded`, `renewalUnpaid`, `otherGroup`.
    @discardableResult
    public func choose(
        _ product: String, for id: String, _ context: RequestContext
    ) async throws -> SubscriptionAnswer {
        try await choose(product, for: id, cause: .operator, context) { _ in }
    }

    /// The same for an operator, or for the customer on the store's pages. `check` throws if
    /// the subscription is no longer as the one who chooses has seen it.
    @discardableResult
    func choose(
        _ product: String, for id: String, cause: SubscriptionEvent.Cause,
        _ context: RequestContext,
        checking check: @escaping @Sendable (Subscription) throws -> Void
    ) async throws -> SubscriptionAnswer {
        let deed = cause == .customer ? nil : "subscription.choose"
        return try await change(id, deed, context) { change in
            try check(change.subscription)
            guard let plan = change.renewal.plan(ProductID(product)) else {
                throw Refusal(
                    .notFound, code: "productIdUnknown",
                    "The app sells no such subscription to this customer.", field: "productId",
                    rule: "a subscription that the app sells in the customer's storefront",
                    remedy: "list the products")
            }
            return try change.subscription.choosing(plan, at: change.now, cause: cause)
        }
    }

    /// Announces a higher price. Refusals, in order: `priceInvalid`, `billingPlanUnknown`,
    /// `dateOutOfRange`, `billingPlanDiffers`, `subscriptionEnded`, `priceNotHigher`,
    /// `priceIncreasePending`.
    @discardableResult
    public func raisePrice(
        of id: String, _ request: RaisePriceRequest, _ context: RequestContext
    ) async throws -> SubscriptionAnswer {
        let price = try Edge.price(request.price, "price")
        let isCommitted = try request.billingPlan.map { try Edge.isCommitted($0) }
        return try await change(id, "subscription.raisePrice", context) { change in
            try Self.check(increaseFrom: request.startDate, at: change.now)
            let subscription = change.subscription
            guard isCommitted.map({ $0 == subscription.isPaidInParts }) ?? true else {
                throw Refusal(
                    .badRequest, code: "billingPlanDiffers",
                    "The customer pays by another plan.", field: "billingPlan",
                    rule: "the plan of the subscription's present period",
                    remedy: "leave it out, and send the price of that plan")
            }
            let listed = change.renewal.listedPrice
            return try subscription.raised(
                to: Money(price, subscription.ownPrice(listed: listed).currency),
                from: request.startDate, needsConsent: request.needsConsent ?? true,
                over: listed, at: change.now, cause: .operator)
        }
    }

    /// An increase that is pending stands in the way of another one, so a mistaken date
    /// must not keep it pending for ever. Refusal: `dateOutOfRange`.
    static func check(increaseFrom date: Timestamp, at now: Timestamp) throws {
        let latest = now.adding(Period(2, .year))
        guard (RealmClock.earliest...latest).contains(date) else {
            throw Refusal(
                .badRequest, code: "dateOutOfRange", "The increase is out of range.",
                field: "startDate",
                rule: "from \(RealmClock.earliest) to two years from now, which is \(latest)",
                remedy: "send milliseconds since 1970, at most two years ahead")
        }
    }

    /// Answers a higher price for the customer. Refusals, in order:
    /// `sandboxOnly`, `subscriptionEnded`, `noPriceIncrease`.
    @discardableResult
    public func answerIncrease(
        of id: String, isAgreed: Bool, _ context: RequestContext
    ) async throws -> SubscriptionAnswer {
        try checkSandbox()
        return try await change(id, "subscription.consent", context) { change in
            try change.subscription.answeringIncrease(
                isAgreed, at: change.now, cause: .tester)
        }
    }

    /// Ends it now, whatever was paid. Refusals, in order: `sandboxOnly`,
    /// `subscriptionEnded`.
    @discardableResult
    public func expire(_ id: String, _ context: RequestContext) async throws
        -> SubscriptionAnswer
    {
        try checkSandbox()
        return try await change(id, "subscription.expire", context) { change in
            try change.subscription.expiring(at: change.now, cause: .tester)
        }
    }

    /// Charges the next period now. If a payment processor does not answer, the
    /// answer has no events, and they follow. Refusals, in order: `sandboxOnly`,
    /// `subscriptionEnded`, `notRenewing`, `renewedAlready`.
    @discardableResult
    public func renew(_ id: String, _ context: RequestContext) async throws
        -> SubscriptionAnswer
    {
        try checkSandbox()
        return try await change(id, "subscription.renew", context) { change in
            try change.charging(.tester)
        }
    }

    /// Lets its renewals fail from now on, or succeed again. Charges an unpaid
    /// renewal at once when they succeed again. Refusals, in order:
    /// `sandboxOnly`, `subscriptionNotFound`.
    @discardableResult
    public func failBilling(
        of id: String, _ fails: Bool, _ context: RequestContext
    ) async throws -> SubscriptionAnswer {
        try checkSandbox()
        return try await change(id, "subscription.failBilling", context) { change in
            change.renewal.row.failsBilling = fails
            guard !fails, case .unpaid = change.subscription.state else { return [] }
            return try change.charging(.tester)
        }
    }

    private func checkSandbox() throws {
        guard realm.isProduction else { return }
        throw Refusal(
            .forbidden, code: "sandboxOnly", "A production realm's customers are not simulated.",
            field: "realm", rule: "subscriptions are forced in sandboxes only",
            remedy: "create a sandbox")
    }

    /// Changes a subscription in its customer's line. `deed`: for the audit; nil for
    /// what the customer does, which is in the history only.
    @discardableResult
    func change(
        _ id: String, _ deed: String?, _ context: RequestContext,
        _ body: @escaping @Sendable (inout SubscriptionChange) throws -> [SubscriptionEvent]
    ) async throws -> SubscriptionAnswer {
        let found = try await row(id)
        let shelf = try await realm.loadShelf(for: found.customer)
        let number = try await realm.newNumber(.transaction, bucket: found.customer.bucket)
        let (commit, who) = (self.commit, context.actor)
        let isCharged = realm.chargesRenewals
        // The answer, and the number of events before the change.
        var ending: Ending<(answer: SubscriptionAnswer, events: Int64)>
        do {
            ending = try await realm.lineOrLeave(of: found.customer) { line in
                let id = found.subscription.originalID
                guard let row = try SubscriptionRow.find(id, of: found.customer, line.writing)
                else { throw Self.subscriptionNotFound }
                var change = SubscriptionChange(
                    renewal: try RenewalContext(
                        row, shelf, line, at: line.now, isCharged: isCharged),
                    newID: TransactionID(number), asksProcessor: commit.asksProcessor)
                let events = try body(&change)
                // A charge that was asked for before has its answer still to come.
                if change.charge != nil, try commit.isAsked(row, line.writing) {
                    change.charge = nil
                }
                return try Self.write(events, change, row, commit, who, deed, line)
            }
        } catch let refusal as SubscriptionRefusal {
            realm.giveBack(number)
            throw refusal.refusal
        } catch let refusal as Refusal {
            realm.giveBack(number)
            throw refusal
        }
        let before = ending.answer.events
        if ending.answer.answer.subscription.transactionId != "\(number)" {
            realm.giveBack(number)
        }
        if case .commit(let made) = ending {
            ending = .commit((try await answered(made.answer, found, after: before), before))
            realm.wake(found.customer)
            realm.ring(found.customer)
            realm.ports.log(.info, "subscription changed", context, ["deed": deed ?? "customer"])
        }
        return ending.answer.answer
    }

    /// Asks the payment processor at once if the change owes that. Returns the
    /// answer with what became of it.
    private func answered(
        _ answer: SubscriptionAnswer, _ before: SubscriptionRow, after events: Int64
    ) async throws -> SubscriptionAnswer {
        let (id, customer) = (before.subscription.originalID, before.customer)
        let asked =
            realm.processor == nil
            ? []
            : try await realm.read(of: customer) {
                try RenewalChargeRow.asked(of: id, customer, $0)
            }
        if asked.isEmpty { return answer }
        for charge in asked {
            try await realm.settle(WorkKind.renewal, charge.key.subject, customer)
        }
        let values: [SQLValue] = [
            .integer(customer.value), .integer(id.value), .integer(events),
        ]
        return try await realm.read(of: customer) { [rules = commit.rules] reading in
            guard let row = try SubscriptionRow.find(id, of: customer, reading) else {
                return answer
            }
            let events = try reading.query(Statement.Subscriptions.eventsAfter, values).map {
                SubscriptionEventRecord(
                    try StoredJSON.value(try $0.text("body"), "an event that cannot be read"),
                    of: id, number: try $0.integer("event"))
            }
            return SubscriptionAnswer(
                subscription: row.record(rules), events: events, now: answer.now)
        }
    }

    private static func write(
        _ events: [SubscriptionEvent], _ change: SubscriptionChange, _ before: SubscriptionRow,
        _ commit: SubscriptionCommit, _ who: String, _ deed: String?, _ line: CustomerLine
    ) throws -> Ending<(answer: SubscriptionAnswer, events: Int64)> {
        let context = change.renewal
        let isSwitched = context.row.failsBilling != before.failsBilling
        guard isSwitched || !events.isEmpty || change.charge != nil else {
            return .leave((answer(before, [], commit, line), before.events))
        }
        var after = context.row
        if let charge = change.charge {
            try commit.ask(charge, of: after, in: context.storefront, line)
        }
        if let written = try commit.write(
            events, to: after, line, hasURL: context.hasURL,
            selling: { context.transaction($0, line) })
        {
            after = written
        }
        if events.isEmpty {
            after.revision = line.revision
            try line.writing.execute(Statement.Subscriptions.put, after.row)
        }
        if let deed {
            try AuditEntry(
                who: who, wall: line.wall, deed: deed,
                subject: "\(before.customer)/\(before.subscription.originalID)",
                before: before.audited(commit.rules, at: line.now),
                after: after.audited(commit.rules, at: line.now)
            ).write(line.writing)
        }
        return .commit((answer(after, events, commit, line), before.events))
    }

    private static func answer(
        _ row: SubscriptionRow, _ events: [SubscriptionEvent], _ commit: SubscriptionCommit,
        _ line: CustomerLine
    ) -> SubscriptionAnswer {
        let first = row.events - Int64(events.count) + 1
        return SubscriptionAnswer(
            subscription: row.record(commit.rules),
            events: events.enumerated().map { index, event in
                SubscriptionEventRecord(
                    event, of: row.subscription.originalID, number: first + Int64(index))
            }, now: line.now)
    }
}

/// A subscription that is being changed, with what its renewal depends on.
struct SubscriptionChange {
    var renewal: RenewalContext
    /// The id of the transaction if the change sells a period.
    let newID: TransactionID
    /// Whether a payment processor charges renewals.
    let asksProcessor: Bool
    /// What it is to be asked for.
    var charge: RenewalCharge?

    var subscription: Subscription { renewal.row.subscription }
    var now: Timestamp { renewal.at }

    /// The events of charging the next period now. None if a payment processor is
    /// to be asked first.
    mutating func charging(_ cause: SubscriptionEvent.Cause) throws -> [SubscriptionEvent] {
        let (step, facts) = (try subscription.charging(at: now), renewal.facts(newID: newID))
        if asksProcessor {
            charge = RenewalCharge(step, of: subscription, facts, at: now, cause: cause)
            if charge != nil { return [] }
        }
        return subscription.events(of: step, facts, at: now, cause: cause)
    }
}

extension SubscriptionRow {
    /// The fields for the audit.
    fileprivate func audited(_ rules: RenewalRules, at now: Timestamp) -> AuditFields {
        let record = record(rules)
        return [
            "status": record.status, "productId": record.productId,
            "endDate": "\(record.endDate)", "isRenewing": "\(record.isRenewing)",
            "nextProductId": record.nextProductId,
            "nextPrice": "\(subscription.shownPrice(at: now))",
            "priceIncrease": subscription.increase.map {
                "\($0.price) from \($0.startsAt)\($0.isAgreed ? ", agreed" : "")"
            },
            "failsBilling": "\(failsBilling)",
        ]
    }
}

extension SubscriptionRefusal {
    /// The refusal with field, rule and remedy.
    fileprivate var refusal: Refusal {
        switch self {
        case .ended:
            Refusal(
                .conflict, code: "subscriptionEnded", "The subscription has ended.",
                field: "subscriptionId", rule: "one that is active, or whose renewal is unpaid",
                remedy: "let the customer subscribe again")
        case .unpaid:
            Refusal(
                .conflict, code: "renewalUnpaid", "The renewal is unpaid.",
                field: "subscriptionId", rule: "one whose period is paid for",
                remedy: "wait until the renewal is charged")
        case .notRenewing:
            Refusal(
                .conflict, code: "notRenewing", "The renewal is switched off.",
                field: "subscriptionId", rule: "one that renews", remedy: "switch it on first")
        case .renewedAlready:
            Refusal(
                .conflict, code: "renewedAlready", "The next period is charged already.",
                field: "subscriptionId", rule: "one period ahead at most",
                remedy: "advance the clock to the period's beginning")
        case .increasePending:
            Refusal(
                .conflict, code: "priceIncreasePending",
                "An earlier increase does not apply yet.", field: "price",
                rule: "one increase at a time", remedy: "wait until it applies")
        case .daysOutOfRange:
            Refusal(
                .badRequest, code: "daysOutOfRange", "The extension is out of range.",
                field: "days", rule: "1 to \(Subscription.extensionDaysMax)",
                remedy: "extend it several times")
        case .notHigher:
            Refusal(
                .badRequest, code: "priceNotHigher", "The price is not higher.", field: "price",
                rule: "more than the customer pays now",
                remedy: "change the product's price, which applies to everybody if it is lower")
        case .noIncrease:
            Refusal(
                .conflict, code: "noPriceIncrease", "No higher price waits for an answer.",
                field: "isAgreed", rule: "an increase that needs consent was announced",
                remedy: "announce one first")
        case .otherGroup:
            Refusal(
                .conflict, code: "otherGroup", "The product belongs to another group.",
                field: "productId", rule: "a product of the subscription's group",
                remedy: "list the groups; a subscription stays in its own")
        case .notRefunded:
            Refusal(
                .conflict, code: "notRefunded", "The period was not refunded.",
                field: "subscriptionId", rule: "one whose present period was refunded",
                remedy: "show the subscription")
        }
    }
}
