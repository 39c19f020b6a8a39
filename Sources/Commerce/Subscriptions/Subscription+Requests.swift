// SPDX-License-Identifier: Apache-2.0

/// Why a subscription is not changed as requested. The cases are in order of
/// precedence.
public enum SubscriptionRefusal: String, Error, Hashable, Sendable, CaseIterable {
    /// It has expired or was revoked.
    case ended
    /// Its renewal could not be charged.
    case unpaid
    /// Its renewal is switched off.
    case notRenewing
    /// The next period is charged already.
    case renewedAlready
    /// The number of days is not 1 to 90, or the end would be after all clocks'.
    case daysOutOfRange
    /// The price is not higher than the customer's.
    case notHigher
    /// An earlier increase does not apply yet.
    case increasePending
    /// There is no increase that waits for an answer.
    case noIncrease
    /// The current period was not refunded.
    case notRefunded
    /// The product belongs to another group.
    case otherGroup
}

/// Changes that a person asks for. Each returns its events, and none if the
/// subscription is already as requested.
extension Subscription {
    /// Switches the renewal on or off. While a renewal is unpaid, switching it off
    /// ends the subscription at once.
    public func switching(
        on isOn: Bool, at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(SubscriptionRefusal) -> [SubscriptionEvent] {
        func event(_ change: SubscriptionEvent.Change) -> SubscriptionEvent {
            SubscriptionEvent(at: at, cause: cause, change: change)
        }
        switch state {
        case .expired, .revoked: throw .ended
        case .unpaid:
            return isOn ? [] : [event(.switchedOff), event(.expired(reason: .cancelled))]
        case .active:
            guard at < current.end else { throw .ended }
            guard isOn != renewal.isOn else { return [] }
            return [event(isOn ? .switchedOn : .switchedOff)]
        }
    }

    /// Chooses the product of the next period, whatever its level: nothing is charged
    /// now. The present product drops a change that was chosen before. The renewal
    /// is switched on, as when the customer chooses.
    public func choosing(
        _ plan: SubscriptionPlan, at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(SubscriptionRefusal) -> [SubscriptionEvent] {
        switch state {
        case .expired, .revoked: throw .ended
        case .unpaid: throw .unpaid
        case .active: break
        }
        guard at < current.end else { throw .ended }
        guard plan.groupID == groupID else { throw .otherGroup }
        var changes: [SubscriptionEvent.Change] = renewal.isOn ? [] : [.switchedOn]
        if plan.productID == current.productID {
            if !renewsOnSameTerms {
                changes.append(
                    .choseNext(
                        product: plan.productID, price: ownPrice(listed: plan.price),
                        isReversal: true, isCommitted: isPaidInParts))
            }
        } else if plan.productID != renewal.productID {
            changes.append(
                .choseNext(product: plan.productID, price: plan.price, isReversal: false))
        }
        return changes.map { SubscriptionEvent(at: at, cause: cause, change: $0) }
    }

    /// The most days by which a renewal is moved at once.
    public static let extensionDaysMax = 90
    /// No extension ends later: a few years after clocks stop.
    static let latestEnd = RealmClock.latest.adding(seconds: 5 * 366 * 86_400)

    /// Moves the next renewal. The customer does not pay for the time. `reason`: the code
    /// that a merchant's server gave.
    public func extended(
        days: Int, reason: Int? = nil, at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(SubscriptionRefusal) -> [SubscriptionEvent] {
        if case .unpaid = state { throw .unpaid }
        guard !hasEnded, at < current.end else { throw .ended }
        guard (1...Self.extensionDaysMax).contains(days) else { throw .daysOutOfRange }
        let end = end(extendedBy: days)
        guard end <= Self.latestEnd else { throw .daysOutOfRange }
        return [
            SubscriptionEvent(at: at, cause: cause, change: .extended(to: end, reason: reason))
        ]
    }

    /// Where the present period ends if it is extended by so many days.
    public func end(extendedBy days: Int) -> Timestamp {
        current.end.adding(seconds: Int64(days) * 86_400)
    }

    /// Announces a higher price of the present product, by the present billing plan, from the
    /// first period that begins at `startsAt` or later. If it needs consent and gets none, the
    /// subscription ends there. `listed`: what the product costs now. Nil if it is not sold.
    public func raised(
        to price: Money, from startsAt: Timestamp, needsConsent: Bool, over listed: Money?,
        at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(SubscriptionRefusal) -> [SubscriptionEvent] {
        guard !hasEnded else { throw .ended }
        let own = ownPrice(listed: listed)
        guard price.currency == own.currency, price.amount > own.amount,
            (listed ?? own).currency == own.currency
        else { throw .notHigher }
        let announced = PriceIncrease(
            price: price, startsAt: startsAt, isAgreed: !needsConsent, over: listed ?? own)
        if let increase {
            guard increase.asks(the: announced) else { throw .increasePending }
            return []
        }
        return [
            SubscriptionEvent(at: at, cause: cause, change: .increaseAnnounced(increase: announced))
        ]
    }

    /// Records the customer's answer to a higher price. A refusal switches the
    /// renewal off.
    public func answeringIncrease(
        _ isAgreed: Bool, at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(SubscriptionRefusal) -> [SubscriptionEvent] {
        guard !hasEnded else { throw .ended }
        guard let increase = shownIncrease else { throw .noIncrease }
        guard !increase.isAgreed else {
            if isAgreed { return [] }
            throw .noIncrease
        }
        let change: SubscriptionEvent.Change =
            isAgreed ? .increaseAgreed : .stopped(reason: .priceIncrease)
        if !isAgreed, renewal.stop == .priceIncrease { return [] }
        return [SubscriptionEvent(at: at, cause: cause, change: change)]
    }

    /// Revokes the current period, because its price was refunded, or without that. If
    /// it was charged ahead, the period before it remains.
    public func revoked(
        isRefunded: Bool = true, at: Timestamp, cause: SubscriptionEvent.Cause
    ) -> [SubscriptionEvent] {
        if case .revoked = state { return [] }
        let change: SubscriptionEvent.Change =
            running(at: at) != nil ? .aheadRevoked : isRefunded ? .refunded : .revoked
        return [SubscriptionEvent(at: at, cause: cause, change: change)]
    }

    /// Takes back the refund or revocation of the current period.
    public func refundReversed(
        at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(SubscriptionRefusal) -> [SubscriptionEvent] {
        guard case .revoked = state else { throw .notRefunded }
        return [SubscriptionEvent(at: at, cause: cause, change: .refundReversed)]
    }

    /// Ends it now, whatever was paid. For tests.
    public func expiring(
        at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(SubscriptionRefusal) -> [SubscriptionEvent] {
        guard !hasEnded else { throw .ended }
        return [SubscriptionEvent(at: at, cause: cause, change: .expired(reason: .other))]
    }

    /// Returns the step that charges the next period now, for tests.
    public func charging(at: Timestamp) throws(SubscriptionRefusal) -> SubscriptionStep.Kind {
        switch state {
        case .expired, .revoked: throw .ended
        case .unpaid: return .retry
        case .active:
            guard renewal.isOn || isCommitted else { throw .notRenewing }
            // Otherwise an upgrade would give back only the last of several periods.
            guard current.start <= at else { throw .renewedAlready }
            return .renew
        }
    }

    /// Whether it has expired or was revoked.
    public var hasEnded: Bool {
        switch state {
        case .active, .unpaid: false
        case .expired, .revoked: true
        }
    }
}

extension PriceIncrease {
    /// Whether both ask the same of the customer, whatever the product cost.
    fileprivate func asks(the other: PriceIncrease) -> Bool {
        price == other.price && startsAt == other.startsAt && isAgreed == other.isAgreed
    }
}
