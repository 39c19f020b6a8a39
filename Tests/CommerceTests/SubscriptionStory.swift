// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// A subscription of one customer in a world of six products, worked by the
/// words of a table.
struct SubscriptionStory {
    private(set) var subscription: Subscription?
    private(set) var events: [SubscriptionEvent] = []
    /// What was charged, minus what was given back.
    private(set) var paid: Int64 = 0
    private(set) var now = Timestamp(milliseconds: 0)
    private var canBill = true
    private var grace = GracePeriod.off
    private var plans = SubscriptionStory.plans
    private var lastID: Int64 = 100
    let rules = RenewalRules.production

    static let dollar: Currency = Currency(code: "USD") ?? fallback
    private static var fallback: Currency { preconditionFailure("USD is a currency") }

    /// The offers that every product has: `half` and `free` are signed, `back` and
    /// `gift` win back, and the codes are called after their customers.
    private static func redeemable(_ period: Period) -> [OfferKind: [Offer]] {
        func offer(
            _ id: String, _ mode: Offer.PaymentMode, _ length: Period, _ count: Int,
            _ price: Int64, for customers: Set<Offer.Eligibility> = [], isStackable: Bool = false,
            isEligible: Bool = true
        ) -> Offer {
            Offer(
                id: id, referenceName: id, mode: mode, period: length, periodCount: count,
                price: Amount(milliunits: price), eligibility: customers,
                isStackable: isStackable, isEligible: isEligible)
        }
        let month = Period(1, .month)
        return [
            .promotional: [
                offer("half", .payAsYouGo, period, 2, 2490), offer("free", .free, month, 1, 0),
                offer("quarter", .payUpFront, Period(3, .month), 1, 7990),
            ],
            .winBack: [
                offer("back", .payAsYouGo, period, 3, 1990), offer("gift", .free, month, 1, 0),
                offer("off", .free, month, 1, 0, isEligible: false),
            ],
            .code: [
                offer("new", .free, month, 1, 0, for: [.new]),
                offer("existing", .free, month, 1, 0, for: [.existing]),
                offer("expired", .free, month, 1, 0, for: [.expired]),
                offer(
                    "after", .payAsYouGo, period, 2, 990, for: [.new], isStackable: true),
            ],
        ]
    }

    private static let plans: [String: SubscriptionPlan] = {
        func plan(
            _ id: String, _ level: Int, _ period: Period, _ price: Int64, _ offer: Offer? = nil
        ) -> (String, SubscriptionPlan) {
            let offers = redeemable(period)
            let money = Money(Amount(milliunits: price), dollar)
            return (
                id,
                SubscriptionPlan(
                    productID: ProductID(id), groupID: "g", level: level, period: period,
                    price: money, introductoryOffer: offer, redeemableOffers: offers)
            )
        }
        func committed(_ id: String, _ level: Int, _ price: Int64, _ offer: Offer? = nil)
            -> (String, SubscriptionPlan)
        {
            (
                "\(id)/month",
                SubscriptionPlan(
                    productID: ProductID(id), groupID: "g", level: level,
                    period: Period(1, .month), price: Money(Amount(milliunits: price), dollar),
                    introductoryOffer: offer, redeemableOffers: redeemable(Period(1, .month)),
                    commitment: CommitmentTerms(
                        price: Money(Amount(milliunits: price * 12), dollar)))
            )
        }
        let free = Amount(milliunits: 0)
        return Dictionary(uniqueKeysWithValues: [
            plan("weekly", 2, Period(1, .week), 1490), plan("monthly", 2, Period(1, .month), 4990),
            plan("rival", 2, Period(1, .month), 3990), plan("yearly", 2, Period(1, .year), 49_990),
            plan("premium", 1, Period(1, .month), 9990), plan("basic", 3, Period(1, .month), 1990),
            plan("gift", 3, Period(1, .month), 0),
            committed("yearly", 2, 4490), committed("gold", 1, 8990),
            committed(
                "try", 2, 4490,
                Offer(
                    mode: .payAsYouGo, period: Period(1, .month), periodCount: 2,
                    price: Amount(milliunits: 990))),
            plan(
                "trial", 2, Period(1, .month), 4990,
                Offer(mode: .free, period: Period(1, .week), price: free)),
            plan(
                "upfront", 2, Period(1, .month), 4990,
                Offer(
                    mode: .payUpFront, period: Period(3, .month),
                    price: Amount(milliunits: 8990))),
            plan(
                "slow", 2, Period(1, .month), 4990,
                Offer(
                    mode: .payAsYouGo, period: Period(1, .month), periodCount: 2,
                    price: Amount(milliunits: 990))),
        ])
    }()

    /// Works until an instant, then does a command. Returns the events of both.
    mutating func play(_ when: String, _ command: String) throws -> [SubscriptionEvent] {
        let before = events.count
        let text = when.count == 10 ? "\(when)T10:00:00Z" : "\(when.replacing(" ", with: "T")):00Z"
        try work(until: try #require(Timestamp(iso8601: text), "\(when) is no date"))
        try obey(command.split(separator: " ").map(String.init))
        return Array(events[before...])
    }

    private mutating func work(until instant: Timestamp) throws {
        while let known = subscription, let step = known.nextStep(rules), step.at <= instant {
            now = max(now, step.at)
            take(step.kind, .time)
        }
        now = instant
    }

    private mutating func take(_ kind: SubscriptionStep.Kind, _ cause: SubscriptionEvent.Cause) {
        guard let known = subscription else { return }
        lastID += 1
        let facts = RenewalFacts(
            plan: plan(of: known), canBill: canBill, grace: grace, newID: TransactionID(lastID))
        add(known.events(of: kind, facts, at: now, cause: cause))
    }

    /// The product of the next period, as it is sold now.
    private func plan(ofPresent known: Subscription) -> SubscriptionPlan? {
        let name = known.current.productID.value
        return plans[known.isPaidInParts ? "\(name)/month" : name]
    }

    private func plan(of known: Subscription) -> SubscriptionPlan? {
        let name = known.renewal.productID.value
        return plans[known.renewal.isCommitted ? "\(name)/month" : name]
    }

    private mutating func add(_ new: [SubscriptionEvent]) {
        for event in new {
            if subscription?.apply(event) == nil { subscription = Subscription(first: event) }
            paid += event.change.sold?.price.amount.milliunits ?? 0
            if case .upgraded(_, _, let refund, let running) = event.change {
                paid -= refund.amount.milliunits + (running?.amount.milliunits ?? 0)
            }
            let running = subscription?.running?.period.price.amount.milliunits ?? 0
            if case .runningRevoked = event.change { paid -= running }
            if case .runningReinstated = event.change { paid += running }
            if case .aheadRevoked = event.change {
                paid -= subscription?.givenBack?.price.amount.milliunits ?? 0
            }
            if case .aheadReinstated = event.change {
                paid += subscription?.current.price.amount.milliunits ?? 0
            }
            if case .refunded = event.change {
                paid -= subscription?.current.price.amount.milliunits ?? 0
            }
            if case .refundReversed = event.change {
                paid += subscription?.current.price.amount.milliunits ?? 0
            }
        }
        events += new
    }

    private mutating func obey(_ words: [String]) throws {
        switch (words[0], words.count > 1 ? words[1] : "") {
        case ("wait", _): break
        case ("buy", let id): try buy(id, Array(words.dropFirst(2)))
        case ("decide", let id):
            try buy(id, .introduction(isAllowed: words[2] == "yes"))
        case ("bill", let how): canBill = how == "works"
        case ("grace", let days):
            grace = try #require(Int(days).flatMap(GracePeriod.init(rawValue:)))
        case ("withdraw", let id): plans[id] = nil
        case ("price", let id): try reprice(id, words[2])
        case ("retry", _): take(.retry, .tester)
        default: try ask(words)
        }
    }

    /// `offer`: none, or a kind and a name.
    private mutating func buy(_ id: String, _ offer: [String]) throws {
        guard let kind = offer.first else { return try buy(id, nil) }
        try buy(id, .proven(try #require(OfferKind(rawValue: kind)), name: offer[1]))
    }

    private mutating func buy(_ id: String, _ evidence: OfferEvidence?) throws {
        let plan = try #require(plans[id], "no product \(id)")
        let facts = SubscriptionFacts(
            plan: plan, current: subscription,
            currentPlan: subscription.flatMap { known in
                let name = known.current.productID.value
                return plans[known.current.commitment == nil ? name : "\(name)/month"]
            },
            evidence: evidence)
        lastID += 1
        let sale = SubscriptionSale(facts, at: now)
        if let refusal = sale.refusal { throw refusal }
        add(sale.events(as: TransactionID(lastID)))
    }

    private mutating func reprice(_ id: String, _ price: String) throws {
        let plan = try #require(plans[id])
        let amount = try #require(Amount(decimal: price))
        plans[id] = SubscriptionPlan(
            productID: plan.productID, groupID: plan.groupID, level: plan.level,
            period: plan.period, price: Money(amount, Self.dollar), commitment: plan.commitment)
    }

    /// Asks the subscription itself.
    private mutating func ask(_ words: [String]) throws {
        let known = try #require(subscription)
        switch words[0] {
        case "on": add(try known.switching(on: true, at: now, cause: .customer))
        case "off": add(try known.switching(on: false, at: now, cause: .customer))
        case "extend":
            let days = try #require(Int(words[1]))
            add(try known.extended(days: days, at: now, cause: .operator))
        case "raise":
            let from = try #require(Timestamp(iso8601: "\(words[3])T00:00:00Z"))
            let amount = try #require(Amount(decimal: words[1]))
            add(
                try known.raised(
                    to: Money(amount, Self.dollar), from: from, needsConsent: words[4] == "asking",
                    over: plan(ofPresent: known)?.price, at: now, cause: .operator))
        case "agree": add(try known.answeringIncrease(true, at: now, cause: .customer))
        case "disagree": add(try known.answeringIncrease(false, at: now, cause: .customer))
        case "refund": add(known.revoked(at: now, cause: .operator))
        case "refund-ahead", "reverse-ahead":
            let ahead = (known.givenBack ?? known.current).transaction
            add(known.events(ofRefund: words[0] == "refund-ahead" ? refund : reversal, of: ahead))
        case "reverse": add(try known.refundReversed(at: now, cause: .operator))
        case "refund-running": add(known.events(ofRefund: refund, of: try running(known)))
        case "reverse-running":
            add(known.events(ofRefund: reversal, of: try running(known)))
        case "choose":
            add(try known.choosing(try #require(plans[words[1]]), at: now, cause: .operator))
        case "renew": take(try known.charging(at: now), .tester)
        case "expire": add(try known.expiring(at: now, cause: .tester))
        default: Issue.record("no such word: \(words)")
        }
    }
}

extension SubscriptionStory {
    private var refund: RefundEvent {
        let sum = Money(Amount(milliunits: 0), Self.dollar)
        return RefundEvent(
            at: now, cause: .operator, change: .granted(grant: RefundGrant(kind: .full, sum: sum)))
    }

    private var reversal: RefundEvent {
        RefundEvent(at: now, cause: .operator, change: .reversed)
    }

    private func running(_ known: Subscription) throws -> TransactionID {
        try #require(known.running?.period.transaction)
    }

    /// An event as the tables write it: its date if that is not the line's, and
    /// what happened.
    static func text(_ event: SubscriptionEvent, on day: String) -> String {
        let date = self.day(event.at)
        let words = text(event.change)
        return date == day ? words : "\(date): \(words)"
    }

    private static func text(_ change: SubscriptionEvent.Change) -> String {
        switch change {
        case .subscribed(let period, _, _, let isFirst, _):
            "\(isFirst ? "subscribed" : "resubscribed") \(text(period))"
        case .renewed(let period): "renewed \(text(period))"
        case .recovered(let period): "recovered \(text(period))"
        case .upgraded(let period, _, let refund, let running):
            "upgraded \(text(period)) back \(refund.amount.decimal(decimals: 2))"
                + (running.map { " and \($0.amount.decimal(decimals: 2))" } ?? "")
        case .choseNext(let product, let price, let isReversal, let offer, let isCommitted):
            "\(isReversal ? "keeps" : "next") \(product)\(isCommitted ? "/month" : "") "
                + "\(price.amount.decimal(decimals: 2))"
                + (offer.map { " with \($0.id ?? "")" } ?? "")
        case .redeemed(let offer): "redeemed \(offer.id ?? "")"
        case .switchedOn: "on"
        case .switchedOff: "off"
        case .stopped(let reason): "stopped \(reason)"
        case .failedAhead: "failedAhead"
        case .failed(let until): until.map { "failed grace \(day($0))" } ?? "failed"
        case .failedAgain: "failedAgain"
        case .graceEnded: "graceEnded"
        case .expired(let reason): "expired \(reason)"
        case .extended(let end, _): "extended \(day(end))"
        case .refunded: "refunded"
        case .revoked: "revoked"
        case .refundReversed: "reversed"
        case .runningRevoked: "runningRevoked"
        case .runningReinstated: "runningReinstated"
        case .aheadRevoked: "aheadRevoked"
        case .aheadReinstated: "aheadReinstated"
        case .increaseAnnounced(let increase):
            "\(increase.isAgreed ? "announced" : "asked") \(increase.price.amount.decimal(decimals: 2))"
        case .increaseAgreed: "agreed"
        }
    }

    private static func text(_ period: SubscribedPeriod) -> String {
        "\(period.productID) \(period.price.amount.decimal(decimals: 2)) "
            + "\(day(period.start))..\(day(period.end))"
            + (period.commitment.map { " \($0.number)/\($0.periods)" } ?? "")
    }

    /// The three answers: what is shown, whether the customer may use it, and the
    /// next charge.
    var answers: String {
        guard let subscription else { return "-" }
        let charge = subscription.nextCharge(rules).map { charge in
            "\(charge.productID) \(charge.price.amount.decimal(decimals: 2)) \(Self.day(charge.at))"
        }
        return
            "\(subscription.status(at: now)), \(subscription.mayUse(at: now) ? "uses" : "no use"), "
            + (charge ?? "no charge")
    }

    static func day(_ instant: Timestamp) -> String { String("\(instant)".prefix(10)) }
}
