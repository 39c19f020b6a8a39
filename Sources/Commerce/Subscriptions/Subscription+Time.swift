// SPDX-License-Identifier: Apache-2.0

/// What falls due for a subscription.
public struct SubscriptionStep: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// To charge the next period.
        case renew
        /// To charge it again after a failure.
        case retry
        case endGrace
        case expire(Expiration)
    }

    public let kind: Kind
    public let at: Timestamp
}

/// What the next period depends on, besides the subscription itself.
public struct RenewalFacts: Hashable, Sendable {
    /// The product of the next period. Nil if it is not sold any more.
    public let plan: SubscriptionPlan?
    /// Whether the customer can be charged.
    public var canBill: Bool
    public let grace: GracePeriod
    /// How long the next period lasts. Nil in the calendar.
    public let tempo: Tempo?
    /// How often a subscription renews at most, after the customer has subscribed. Nil
    /// without a limit.
    public let renewalsMax: Int?
    /// The id of the transaction if the step sells a period.
    public var newID: TransactionID

    public init(
        plan: SubscriptionPlan?, canBill: Bool, grace: GracePeriod, newID: TransactionID,
        tempo: Tempo? = nil, renewalsMax: Int? = nil
    ) {
        self.plan = plan
        self.canBill = canBill
        self.grace = grace
        self.newID = newID
        self.tempo = tempo
        self.renewalsMax = renewalsMax
    }
}

extension RenewalFacts {
    /// What costs nothing cannot fail.
    fileprivate func canPay(_ period: SubscribedPeriod) -> Bool {
        canBill || period.price.amount.milliunits == 0
    }
}

extension Subscription {
    /// Returns what falls due next. Nil if nothing will happen by itself.
    public func nextStep(_ rules: RenewalRules) -> SubscriptionStep? {
        switch state {
        case .active(let hasFailedAhead): activeStep(hasFailedAhead, rules)
        case .unpaid(let failure): unpaidStep(failure)
        case .expired, .revoked: nil
        }
    }

    private func activeStep(_ hasFailedAhead: Bool, _ rules: RenewalRules) -> SubscriptionStep {
        if !renewal.isOn, !isCommitted {
            return SubscriptionStep(kind: .expire(renewal.stop ?? .other), at: current.end)
        }
        if let increase = dueIncrease, !increase.isAgreed, increase.startsAt <= current.end,
            !isCommitted
        {
            return SubscriptionStep(kind: .expire(.priceIncrease), at: current.end)
        }
        guard !hasFailedAhead else { return SubscriptionStep(kind: .renew, at: current.end) }
        let half = current.end.milliseconds(since: current.start) / 2
        let lead = min(rules.leadMilliseconds, half)
        return SubscriptionStep(
            kind: .renew,
            at: current.end.adding(
                milliseconds: rules.delay(of: originalID, lead: lead) - lead))
    }

    private func unpaidStep(_ failure: BillingFailure) -> SubscriptionStep {
        var steps = [retryStep(failure)].compactMap { $0 }
        if let end = failure.graceUntil {
            steps.append(SubscriptionStep(kind: .endGrace, at: end))
        }
        let last = SubscriptionStep(
            kind: .expire(.billing),
            at: failure.day(RenewalRules.retryDaysMax, at: current.tempo))
        // Of two steps at one instant, the attempt comes first.
        return steps.reversed().reduce(last) { $1.at <= $0.at ? $1 : $0 }
    }

    /// The next attempt. Nil after the last one.
    private func retryStep(_ failure: BillingFailure) -> SubscriptionStep? {
        guard (1...RenewalRules.retryDays.count).contains(failure.attempts) else { return nil }
        return SubscriptionStep(
            kind: .retry,
            at: failure.day(RenewalRules.retryDays[failure.attempts - 1], at: current.tempo))
    }

    /// Returns the step that charges next, if nothing else happens before. Nil if
    /// nothing will be charged.
    func chargingStep(_ rules: RenewalRules) -> SubscriptionStep? {
        switch state {
        case .active(let hasFailedAhead):
            let step = activeStep(hasFailedAhead, rules)
            return step.kind == .renew ? step : nil
        case .unpaid(let failure): return retryStep(failure)
        case .expired, .revoked: return nil
        }
    }

    /// Returns the events of a step that is due at `at`.
    public func events(
        of step: SubscriptionStep.Kind, _ facts: RenewalFacts, at: Timestamp,
        cause: SubscriptionEvent.Cause = .time
    ) -> [SubscriptionEvent] {
        let change: SubscriptionEvent.Change =
            switch step {
            case .renew: renewed(facts, at: at)
            case .retry: retried(facts, at: at)
            case .endGrace: .graceEnded
            case .expire(let reason): .expired(reason: reason)
            }
        return [SubscriptionEvent(at: at, cause: cause, change: change)]
    }

    private func renewed(_ facts: RenewalFacts, at: Timestamp) -> SubscriptionEvent.Change {
        if let most = facts.renewalsMax, renewals >= most, !isCommitted {
            // As if the customer had switched the renewal off.
            return at < current.end ? .stopped(reason: .cancelled) : .expired(reason: .cancelled)
        }
        guard let period = next(facts, from: current.end) else {
            return at < current.end
                ? .stopped(reason: .unavailable) : .expired(reason: .unavailable)
        }
        if facts.canPay(period) { return .renewed(period: period) }
        guard at >= current.end else { return .failedAhead }
        return .failed(
            graceUntil: facts.grace.end(
                from: current.end, length: period.length, at: current.tempo))
    }

    /// The period that comes next. Nil if the product is not sold any more, and the
    /// customer is not committed to it.
    private func next(_ facts: RenewalFacts, from start: Timestamp) -> SubscribedPeriod? {
        let tempo = facts.tempo
        if let part = current.nextPart {
            return committed(part, facts.newID, from: start, at: tempo)
        }
        return facts.plan.map { next($0, facts.newID, from: start, at: tempo) }
    }

    /// The next part of the commitment, with what is left of its offer.
    private func committed(
        _ part: Commitment, _ id: TransactionID, from start: Timestamp, at tempo: Tempo?
    ) -> SubscribedPeriod {
        let offer = current.offer?.next
        return SubscribedPeriod(
            id, current.productID, from: start, for: current.length, after: current,
            price: offer.map { Money($0.price, part.periodPrice.currency) } ?? part.periodPrice,
            offer: offer, commitment: part, tempo: tempo)
    }

    private func retried(_ facts: RenewalFacts, at: Timestamp) -> SubscriptionEvent.Change {
        guard case .unpaid(let failure) = state,
            let period = next(facts, from: start(after: failure, at: at))
        else { return .failedAgain }
        return facts.canPay(period) ? .recovered(period: period) : .failedAgain
    }

    /// The period that a failed renewal buys when it is paid. Within the grace
    /// period the dates stay. After it, a new period begins at the payment.
    /// `redeemed`: an offer that the customer asks for now.
    func recovery(
        _ failure: BillingFailure, _ plan: SubscriptionPlan, _ id: TransactionID, at: Timestamp,
        with redeemed: AppliedOffer? = nil, tempo: Tempo? = nil
    ) -> SubscribedPeriod {
        let start = start(after: failure, at: at)
        if let part = current.nextPart { return committed(part, id, from: start, at: tempo) }
        return next(plan, id, from: start, at: tempo, with: redeemed)
    }

    /// What paying the renewal at an instant costs.
    func recoveryPrice(_ plan: SubscriptionPlan, at: Timestamp) -> Money {
        guard case .unpaid(let failure) = state else { return nextPrice(plan, from: at) }
        return nextPrice(plan, from: start(after: failure, at: at))
    }

    /// When the next period begins that is no part of the present commitment, if it is charged
    /// when that falls due.
    func nextStart(at now: Timestamp) -> Timestamp {
        if isCommitted { return current.commitmentEnd ?? current.end }
        guard case .unpaid(let failure) = state else { return current.end }
        return start(after: failure, at: max(now, retryStep(failure)?.at ?? now))
    }

    private func start(after failure: BillingFailure, at: Timestamp) -> Timestamp {
        failure.graceUntil == nil ? at : current.end
    }

    private func next(
        _ plan: SubscriptionPlan, _ id: TransactionID, from start: Timestamp, at tempo: Tempo?,
        with redeemed: AppliedOffer? = nil
    ) -> SubscribedPeriod {
        let offer = redeemed ?? nextOffer(plan)
        return SubscribedPeriod(
            id, plan.productID, from: start, for: offer?.length(in: plan) ?? plan.period,
            after: current,
            price: redeemed.map { Money($0.price, plan.price.currency) }
                ?? nextPrice(plan, from: start),
            offer: offer,
            commitment: Commitment(beginning: plan, at: regularPrice(plan, from: start)),
            tempo: tempo)
    }

    /// Returns what the next period costs: the offer's price, otherwise the
    /// customer's own, unless the product is cheaper. A higher price that was announced stays
    /// the customer's until the product is cheaper than it was then.
    func nextPrice(_ plan: SubscriptionPlan, from start: Timestamp) -> Money {
        if let part = current.nextPart {
            return committed(part, current.transaction, from: start, at: nil).price
        }
        if let offer = nextOffer(plan) { return Money(offer.price, plan.price.currency) }
        return regularPrice(plan, from: start)
    }

    /// Returns what it costs without an offer.
    private func regularPrice(_ plan: SubscriptionPlan, from start: Timestamp) -> Money {
        // In another storefront there is no price of the customer's own.
        guard renewal.price.currency == plan.price.currency else { return plan.price }
        if let raised = raisedPrice(from: start) { return raised }
        if let over = renewal.raisedOver, over.amount <= plan.price.amount { return renewal.price }
        return renewal.price.amount < plan.price.amount ? renewal.price : plan.price
    }

    /// The higher price of a period that begins at `start`. Nil if none applies then.
    func raisedPrice(from start: Timestamp) -> Money? {
        guard let increase = dueIncrease, increase.isAgreed, increase.startsAt <= start else {
            return nil
        }
        return increase.price
    }

    /// Whether the present period is a part of a commitment, by the monthly billing plan.
    public var isPaidInParts: Bool { current.commitment != nil }

    /// Whether the next period that is no part of the present commitment is of the present
    /// product and paid for as now.
    public var renewsOnSameTerms: Bool { isOnSameTerms(renewal) }

    func isOnSameTerms(_ renewal: Renewal) -> Bool {
        renewal.productID == current.productID && renewal.isCommitted == isPaidInParts
    }

    /// The increase, if it concerns the next period that is no part of the present commitment:
    /// it is of the present product and billing plan, as that period is then, and it is more
    /// than the customer pays.
    var dueIncrease: PriceIncrease? {
        guard let increase, renewsOnSameTerms, increase.price.currency == renewal.price.currency,
            increase.price.amount > renewal.price.amount
        else { return nil }
        return increase
    }

    /// What the customer pays for the present product by the present billing plan, without an
    /// offer. `listed`: what it costs now, for a customer of whom nothing else is known.
    public func ownPrice(listed: Money?) -> Money {
        [renewal, kept].compactMap(\.self).first(where: isOnSameTerms)?.price
            ?? current.commitment?.periodPrice ?? listed ?? renewal.price
    }

    /// The offer for the next period. A price in one currency is none in another.
    private func nextOffer(_ plan: SubscriptionPlan) -> AppliedOffer? {
        current.price.currency == plan.price.currency ? renewal.offer : nil
    }
}

extension BillingFailure {
    /// The instant of a day after the end of the last paid period.
    fileprivate func day(_ days: Int64, at tempo: Tempo?) -> Timestamp {
        since.adding(
            milliseconds: tempo.map { $0.retryMilliseconds(day: days) } ?? days * 86_400_000)
    }
}
