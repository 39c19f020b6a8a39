// SPDX-License-Identifier: Apache-2.0

/// What the decision on buying a subscription needs besides the payment.
public struct SubscriptionFacts: Hashable, Sendable {
    /// The product as it is sold.
    public let plan: SubscriptionPlan
    /// The customer's subscription to the product's group.
    public let current: Subscription?
    /// The present product of that subscription. Nil if it is not sold any more.
    public let currentPlan: SubscriptionPlan?
    /// Whether the customer gets an introductory offer: has never had one of the
    /// group, unless the merchant's server has decided otherwise.
    public let isEligibleForIntroduction: Bool
    /// What is known about the offer that the payment asks for. Nil if it asks for
    /// none.
    public let evidence: OfferEvidence?
    /// How long a period that begins now lasts. Nil in the calendar.
    public let tempo: Tempo?

    public init(
        plan: SubscriptionPlan, current: Subscription?, currentPlan: SubscriptionPlan?,
        evidence: OfferEvidence? = nil, tempo: Tempo? = nil
    ) {
        self.tempo = tempo
        self.plan = plan
        self.current = current
        self.currentPlan = currentPlan
        self.evidence = evidence
        isEligibleForIntroduction =
            if case .introduction(let isAllowed) = evidence { isAllowed } else {
                current?.hadIntroduction != true
            }
    }

    /// The introductory offer that the customer gets by buying the product now.
    public var introduction: Offer? {
        isEligibleForIntroduction ? plan.introductoryOffer : nil
    }
}

/// What buying a subscription does.
public enum SubscriptionPurchase: Hashable, Sendable {
    /// Begins the subscription, or begins it again.
    case begin
    /// Pays a renewal that had failed.
    case recover
    /// Changes to another product at once. The unused part of the present period
    /// is given back.
    case upgrade
    /// Changes to another product at the next renewal. Nothing is charged now.
    case chooseNext
    /// Keeps the present product: a change that was chosen before is dropped, and
    /// the renewal is switched on. Nothing is charged now. An offer applies from
    /// the next period on.
    case keep
}

/// What a payment for a subscription sells, or changes without a sale.
public struct SubscriptionSale: Hashable, Sendable {
    public let purchase: SubscriptionPurchase
    public let plan: SubscriptionPlan
    /// The offer of the period that begins now or next.
    public let offer: AppliedOffer?
    /// The offer after that one: that of a code which the introductory offer comes
    /// before.
    public let laterOffer: AppliedOffer?
    /// The price of one charge now. If nothing is charged now, that of the next
    /// period.
    public let price: Money
    /// The customer's subscription to the group before.
    public let current: Subscription?
    /// Why the customer does not get the requested offer.
    public let refusal: PurchaseRefusal?
    /// When a new period begins. It is known only at the sale.
    let at: Timestamp
    private let tempo: Tempo?

    /// What a customer with these facts gets at an instant.
    public init(_ facts: SubscriptionFacts, at: Timestamp) {
        purchase = SubscriptionPurchase(facts, at: at)
        plan = facts.plan
        current = facts.current
        self.at = at
        tempo = facts.tempo
        var redeemed: RedeemedOffer?
        do throws(PurchaseRefusal) {
            (redeemed, refusal) = (try facts.redeemed(), nil)
        } catch {
            refusal = error
        }
        (offer, laterOffer) = Self.offers(purchase, facts, redeemed)
        price = Self.price(purchase, facts, offer, at: at)
    }

    private static func offers(
        _ purchase: SubscriptionPurchase, _ facts: SubscriptionFacts, _ redeemed: RedeemedOffer?
    ) -> (now: AppliedOffer?, later: AppliedOffer?) {
        switch purchase {
        case .begin, .upgrade:
            let introduction = facts.introduction.map { AppliedOffer($0, as: .introductory) }
            guard let redeemed else { return (introduction, nil) }
            guard purchase == .begin, redeemed.offer.isStackable, let introduction else {
                return (redeemed.applied, nil)
            }
            return (introduction, redeemed.applied)
        case .recover, .chooseNext, .keep: return (redeemed?.applied, nil)
        }
    }

    private static func price(
        _ purchase: SubscriptionPurchase, _ facts: SubscriptionFacts, _ offer: AppliedOffer?,
        at: Timestamp
    ) -> Money {
        let regular = facts.plan.price
        if let offer { return Money(offer.price, regular.currency) }
        guard purchase == .recover else { return regular }
        return facts.current?.recoveryPrice(facts.plan, at: at) ?? regular
    }

    /// Whether a payment sheet that showed `shown` allows the sale. A customer who
    /// pays a failed renewal may have a lower price than the product's, and a
    /// change that is dropped charges nothing.
    public func isCovered(by shown: Money) -> Bool {
        switch purchase {
        case .keep: true
        case .recover: shown.currency == price.currency && shown.amount >= price.amount
        case .begin, .upgrade, .chooseNext: shown == price
        }
    }

    /// Whether it charges and sells a period now.
    public var isSale: Bool { purchase != .chooseNext && purchase != .keep }

    /// Whether it changes anything.
    public var isChange: Bool { !changes(as: TransactionID(0)).isEmpty }

    /// The period that is sold under a transaction's id. Nil if nothing is.
    public func period(as id: TransactionID) -> SubscribedPeriod? {
        switch purchase {
        case .begin, .upgrade:
            SubscribedPeriod(
                id, plan.productID, from: at, for: offer?.length(in: plan) ?? plan.period,
                after: nil, price: price, offer: offer,
                commitment: Commitment(beginning: plan, at: plan.price), tempo: tempo)
        case .recover: recovery(as: id)
        case .chooseNext, .keep: nil
        }
    }

    private func recovery(as id: TransactionID) -> SubscribedPeriod? {
        guard let current, case .unpaid(let failure) = current.state else { return nil }
        return current.recovery(failure, plan, id, at: at, with: offer, tempo: tempo)
    }

    /// The events of the purchase. None if nothing changes.
    public func events(as id: TransactionID) -> [SubscriptionEvent] {
        changes(as: id).map { SubscriptionEvent(at: at, cause: .customer, change: $0) }
    }

    private func changes(as id: TransactionID) -> [SubscriptionEvent.Change] {
        switch purchase {
        case .begin:
            period(as: id).map { period in
                [
                    .subscribed(
                        period: period, groupID: plan.groupID, regularPrice: plan.price,
                        isFirst: current == nil, laterOffer: laterOffer)
                ]
            } ?? []
        case .recover: period(as: id).map { [.recovered(period: $0)] } ?? []
        case .upgrade:
            period(as: id).map { period in
                [
                    .upgraded(
                        period: period, regularPrice: plan.price, refund: unused,
                        runningRefund: unusedOfRunning)
                ]
            } ?? []
        case .chooseNext:
            switchedOn + [
                .choseNext(
                    product: plan.productID, price: plan.price, isReversal: false, offer: offer,
                    isCommitted: plan.commitment != nil)
            ]
        case .keep: switchedOn + reversal + (offer.map { [.redeemed(offer: $0)] } ?? [])
        }
    }

    /// What is given back for the rest of the present period.
    private var unused: Money {
        guard let current else { return Money(Amount(milliunits: 0), plan.price.currency) }
        return Money(current.unused(at: at), current.current.price.currency)
    }

    /// The same for the period before it, if the present one was charged ahead.
    private var unusedOfRunning: Money? {
        guard let current, let running = current.running(at: at) else { return nil }
        return UnusedTime(of: running, at: at).share(of: running.price)
    }

    private var switchedOn: [SubscriptionEvent.Change] {
        current?.renewal.isOn == false ? [.switchedOn] : []
    }

    private var reversal: [SubscriptionEvent.Change] {
        guard let current,
            current.renewal.productID != plan.productID
                || current.renewal.isCommitted != (plan.commitment != nil)
        else { return [] }
        let price = current.ownPrice(listed: plan.price)
        return [
            .choseNext(
                product: plan.productID, price: price, isReversal: true,
                isCommitted: plan.commitment != nil)
        ]
    }
}

extension SubscriptionPurchase {
    fileprivate init(_ facts: SubscriptionFacts, at: Timestamp) {
        guard let current = facts.current else {
            self = .begin
            return
        }
        switch current.state {
        case .expired, .revoked: self = .begin
        case .unpaid:
            self = current.isPaid(by: facts.plan) ? .recover : .begin
        case .active:
            guard at < current.end else {
                self = .begin
                return
            }
            self = Self.change(from: current, facts)
        }
    }

    /// An upgrade, and a product of the same level whose periods are as long,
    /// begin at once. Everything else begins at the next renewal.
    private static func change(
        from current: Subscription, _ facts: SubscriptionFacts
    ) -> SubscriptionPurchase {
        let isCommitted = current.current.commitment != nil
        if facts.plan.productID == current.current.productID {
            return isCommitted == (facts.plan.commitment != nil) ? .keep : .chooseNext
        }
        guard let now = facts.currentPlan else { return .upgrade }
        if facts.plan.level < now.level { return .upgrade }
        let isAlike = facts.plan.level == now.level && facts.plan.term == now.term
        return isAlike ? .upgrade : .chooseNext
    }
}

extension SubscriptionPlan {
    /// The time for which a customer decides: that of the commitment.
    fileprivate var term: Period {
        commitment.map { Period($0.periods / 12, .year) } ?? period
    }
}

extension Subscription {
    /// Whether buying a product pays the renewal that has failed.
    fileprivate func isPaid(by plan: SubscriptionPlan) -> Bool {
        isCommitted
            ? current.productID == plan.productID && plan.commitment != nil
            : renewal.productID == plan.productID
                && renewal.isCommitted == (plan.commitment != nil)
    }

    /// The end of the current period.
    public var end: Timestamp { current.end }

    /// Returns the part of the current period's price that is for the time after
    /// `instant`, rounded down to the currency's smallest unit.
    public func unused(at instant: Timestamp) -> Amount {
        UnusedTime(of: current, at: instant).share(of: current.price).amount
    }
}
