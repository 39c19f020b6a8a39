// SPDX-License-Identifier: Apache-2.0

/// What the decision on buying a subscription needs besides the payment.
public struct SubscriptionFacts: Hashable, Sendable {
    /// The product as it is sold.
    public let plan: SubscriptionPlan
    /// The customer's subscription to the product's group.
    public let current: Subscription?
    /// The present product of that subscription. Nil if it is not sold any more.
    public let currentPlan: SubscriptionPlan?
    /// Whether the customer has never had an introductory offer of the group.
    public let isEligibleForIntroduction: Bool

    public init(
        plan: SubscriptionPlan, current: Subscription?, currentPlan: SubscriptionPlan?,
        isEligibleForIntroduction: Bool
    ) {
        self.plan = plan
        self.current = current
        self.currentPlan = currentPlan
        self.isEligibleForIntroduction = isEligibleForIntroduction
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
    /// the renewal is switched on. Nothing is charged now.
    case keep
}

/// What a payment for a subscription sells, or changes without a sale.
public struct SubscriptionSale: Hashable, Sendable {
    public let purchase: SubscriptionPurchase
    public let plan: SubscriptionPlan
    /// The introductory offer that begins now.
    public let offer: AppliedOffer?
    /// The price of one charge now.
    public let price: Money
    /// The customer's subscription to the group before.
    public let current: Subscription?
    /// When a new period begins. It is known only at the sale.
    let at: Timestamp

    /// What a customer with these facts gets at an instant.
    public init(_ facts: SubscriptionFacts, at: Timestamp) {
        purchase = SubscriptionPurchase(facts, at: at)
        plan = facts.plan
        current = facts.current
        self.at = at
        let offered = facts.introduction.map { AppliedOffer($0, as: .introductory) }
        switch purchase {
        case .begin, .upgrade:
            offer = offered
            price = Money(offered?.price ?? plan.price.amount, plan.price.currency)
        case .recover:
            offer = nil
            price = facts.current?.recoveryPrice(plan, at: at) ?? plan.price
        case .chooseNext, .keep:
            offer = nil
            price = plan.price
        }
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

    /// The period that is sold under a transaction's id. Nil if nothing is.
    public func period(as id: TransactionID) -> SubscribedPeriod? {
        switch purchase {
        case .begin, .upgrade:
            SubscribedPeriod(
                id, plan.productID, from: at, for: offer?.length(in: plan) ?? plan.period,
                after: nil, price: price, offer: offer)
        case .recover: recovery(as: id)
        case .chooseNext, .keep: nil
        }
    }

    private func recovery(as id: TransactionID) -> SubscribedPeriod? {
        guard let current, case .unpaid(let failure) = current.state else { return nil }
        return current.recovery(failure, plan, id, at: at)
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
                        isFirst: current == nil)
                ]
            } ?? []
        case .recover: period(as: id).map { [.recovered(period: $0)] } ?? []
        case .upgrade:
            period(as: id).map { period in
                [
                    .upgraded(
                        period: period, regularPrice: plan.price,
                        refund: current.map { Money($0.unused(at: at), $0.current.price.currency) }
                            ?? Money(Amount(milliunits: 0), plan.price.currency))
                ]
            } ?? []
        case .chooseNext:
            switchedOn + [.choseNext(product: plan.productID, price: plan.price, isReversal: false)]
        case .keep: switchedOn + reversal
        }
    }

    private var switchedOn: [SubscriptionEvent.Change] {
        current?.renewal.isOn == false ? [.switchedOn] : []
    }

    private var reversal: [SubscriptionEvent.Change] {
        guard let current, current.renewal.productID != plan.productID else { return [] }
        let price = current.kept?.price ?? plan.price
        return [.choseNext(product: plan.productID, price: price, isReversal: true)]
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
            self = current.renewal.productID == facts.plan.productID ? .recover : .begin
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
        if facts.plan.productID == current.current.productID { return .keep }
        guard let now = facts.currentPlan else { return .upgrade }
        if facts.plan.level < now.level { return .upgrade }
        let isAlike = facts.plan.level == now.level && facts.plan.period == now.period
        return isAlike ? .upgrade : .chooseNext
    }
}

extension AppliedOffer {
    /// The length of the first period with this offer.
    fileprivate func length(in plan: SubscriptionPlan) -> Period {
        mode == .payAsYouGo ? plan.period : period
    }
}

extension Subscription {
    /// The end of the current period.
    public var end: Timestamp { current.end }

    /// Returns the part of the current period's price that is for the time after
    /// `instant`, rounded down to thousandths.
    public func unused(at instant: Timestamp) -> Amount {
        let whole = current.end.milliseconds(since: current.start)
        let left = min(max(0, current.end.milliseconds(since: instant)), whole)
        guard whole > 0 else { return Amount(milliunits: 0) }
        let (high, low) = current.price.amount.milliunits.multipliedFullWidth(by: left)
        return Amount(milliunits: whole.dividingFullWidth((high, low)).quotient)
    }
}
