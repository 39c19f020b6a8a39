// SPDX-License-Identifier: Apache-2.0

/// Three separate answers about a subscription: what the customer may use
/// (``mayUse(at:)``), what is charged next (``nextCharge(_:)``), and what is
/// shown (``status(at:)``).
extension Subscription {
    /// Whether the customer may use the product: until the end of what was paid,
    /// and within a grace period. While a period that was charged ahead has not
    /// begun, the period before it decides.
    public func mayUse(at instant: Timestamp) -> Bool {
        if instant < current.start { return running(at: instant) != nil }
        return usableUntil.map { instant < $0 } ?? false
    }

    /// Until when the customer may use the product, if nothing is charged before.
    /// Nil if not at all any more.
    public var usableUntil: Timestamp? {
        switch state {
        case .active: current.end
        case .unpaid(let failure): failure.graceUntil
        case .expired, .revoked: nil
        }
    }

    /// From when the customer may use it again, after the period that still ran was
    /// refunded. Nil if there is no such pause.
    public var usableFrom: Timestamp? {
        guard case .active = state, running?.isRevoked == true else { return nil }
        return current.start
    }

    /// The next charge, as far as it is known: its product, price and instant.
    /// Nil if nothing will be charged.
    public func nextCharge(_ rules: RenewalRules) -> SubscriptionCharge? {
        guard let step = chargingStep(rules) else { return nil }
        let product = isCommitted ? current.productID : renewal.productID
        return SubscriptionCharge(
            productID: product, price: nextShownPrice(at: step.at), at: step.at)
    }

    /// The offer of the next charge.
    public var nextShownOffer: AppliedOffer? {
        isCommitted ? current.offer?.next : renewal.offer
    }

    /// The price of the next charge, as far as the subscription knows it at an instant.
    public func nextShownPrice(at now: Timestamp) -> Money {
        guard isCommitted, let part = current.nextPart else { return shownPrice(at: now) }
        return current.offer?.next.map { Money($0.price, part.periodPrice.currency) }
            ?? part.periodPrice
    }

    /// The price of the next period that is no part of the present commitment, as
    /// far as the subscription knows it at an instant.
    public func shownPrice(at now: Timestamp) -> Money {
        if let offer = renewal.offer { return Money(offer.price, renewal.price.currency) }
        return raisedPrice(from: nextStart(at: now)) ?? renewal.price
    }

    /// The higher price that waits for the next period's product and billing plan, or that was
    /// not agreed to when the subscription ended.
    public var shownIncrease: PriceIncrease? {
        guard let increase = dueIncrease else { return nil }
        switch state {
        case .active, .unpaid, .expired(.priceIncrease, _): return increase
        case .expired, .revoked: return nil
        }
    }

    /// What merchants are shown at an instant. It is revoked while the next period, which
    /// was charged ahead, waits for the end of one that was given back.
    public func status(at instant: Timestamp) -> SubscriptionStatus {
        revoked(at: instant) == nil ? state(at: instant).status : .revoked
    }

    /// The state at an instant. The end of a subscription whose renewal is switched off is
    /// certain, so it is expired then, also while the event that says so is still due. What
    /// a charge at the end comes to is not known before.
    public func state(at instant: Timestamp) -> State {
        guard case .active = state, !renewal.isOn, !isCommitted, instant >= current.end else {
            return state
        }
        return .expired(reason: renewal.stop ?? .other, at: current.end)
    }

    /// Whether the customer cancelled it in a grace period, which ended with that.
    public var wasCancelledInGrace: Bool {
        guard case .expired(.cancelled, _) = state else { return false }
        return renewal.stoppedInGrace == true
    }

    /// The transaction that ``status(at:)`` is about.
    public func shownTransaction(at instant: Timestamp) -> TransactionID {
        shownPeriod(at: instant).transaction
    }

    /// The period that ``status(at:)`` is about: the current one, or the revoked one before
    /// it while the current one has not begun.
    public func shownPeriod(at instant: Timestamp) -> SubscribedPeriod {
        revoked(at: instant) ?? current
    }

    private func revoked(at instant: Timestamp) -> SubscribedPeriod? {
        guard let running, running.isRevoked, instant < running.period.end else { return nil }
        // Nothing follows it, and time that has come to its end may be set back.
        if case .expired = state { return nil }
        return running.period
    }

    /// The state that its last event left it in.
    public var status: SubscriptionStatus { state.status }
}

extension Subscription.State {
    fileprivate var status: SubscriptionStatus {
        switch self {
        case .active: .active
        case .unpaid(let failure): failure.graceUntil == nil ? .retry : .grace
        case .expired: .expired
        case .revoked: .revoked
        }
    }
}

public struct SubscriptionCharge: Hashable, Sendable {
    public let productID: ProductID
    public let price: Money
    public let at: Timestamp
}

/// The states that a subscription is shown in. The raw values are Apple's.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/status)
public enum SubscriptionStatus: Int, Sendable, CaseIterable {
    case active = 1
    case expired = 2
    /// The renewal is being charged again, and the customer may not use it.
    case retry = 3
    /// The same, and the customer may use it.
    case grace = 4
    case revoked = 5
}
