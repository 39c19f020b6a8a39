// SPDX-License-Identifier: Apache-2.0

/// One change of a subscription. A subscription is its events, applied in order.
///
/// Stores keep events as JSON, so the names of cases and properties are part of
/// the stored form.
public struct SubscriptionEvent: Hashable, Sendable, Codable {
    /// Commercial time. Not before the event before it.
    public let at: Timestamp
    public let cause: Cause
    public let change: Change

    /// The source of an event.
    public enum Cause: String, Hashable, Sendable, CaseIterable, Codable {
        /// The customer, on a device.
        case customer
        /// It fell due.
        case time
        /// A person who administers the store.
        case `operator`
        /// A test's command to a sandbox.
        case tester
        /// The merchant's server.
        case merchant
    }

    public enum Change: Hashable, Sendable, Codable {
        /// The first period, or the first one after the subscription had ended.
        /// `regularPrice`: of the product, without the offer of this period.
        /// `laterOffer`: that of a code, which begins after the introductory one.
        case subscribed(
            period: SubscribedPeriod, groupID: String, regularPrice: Money, isFirst: Bool,
            laterOffer: AppliedOffer? = nil)
        case renewed(period: SubscribedPeriod)
        /// A renewal that had failed was charged.
        case recovered(period: SubscribedPeriod)
        /// Another product from now on. `refund`: for the unused part of the
        /// period that it replaces. `runningRefund`: for that of the period before
        /// it, if that still runs.
        case upgraded(
            period: SubscribedPeriod, regularPrice: Money, refund: Money,
            runningRefund: Money? = nil)
        /// Another product from the next period on. `isReversal`: the present one
        /// again. `offer`: for the next period.
        case choseNext(
            product: ProductID, price: Money, isReversal: Bool, offer: AppliedOffer? = nil,
            isCommitted: Bool = false)
        /// An offer for the next period of the present product.
        case redeemed(offer: AppliedOffer)
        case switchedOn
        case switchedOff
        /// The renewal was switched off by the store.
        case stopped(reason: Expiration)
        /// The charge before the end of the period was declined.
        case failedAhead
        /// The charge at the end of the period was declined.
        case failed(graceUntil: Timestamp?)
        /// One more attempt was declined.
        case failedAgain
        case graceEnded
        case expired(reason: Expiration)
        /// The period ends later, and is not charged again. `reason`: the code that a
        /// merchant's server gave for one subscription.
        case extended(to: Timestamp, reason: Int? = nil)
        /// The current period was refunded, in full or for its unused time.
        case refunded
        /// The current period was revoked without a refund.
        case revoked
        /// The refund or revocation was taken back.
        case refundReversed
        /// The period that still runs was refunded or revoked. The current one,
        /// which was charged ahead, begins at its date.
        case runningRevoked
        /// That was taken back.
        case runningReinstated
        /// The current period, which was charged ahead, was refunded or revoked. The
        /// one that still runs is the last.
        case aheadRevoked
        /// That was taken back.
        case aheadReinstated
        case increaseAnnounced(increase: PriceIncrease)
        case increaseAgreed
    }

    public init(at: Timestamp, cause: Cause, change: Change) {
        self.at = at
        self.cause = cause
        self.change = change
    }
}

extension SubscriptionEvent.Change {
    /// The period that the change sold.
    public var sold: SubscribedPeriod? {
        switch self {
        case .subscribed(let period, _, _, _, _), .renewed(let period), .recovered(let period),
            .upgraded(let period, _, _, _):
            period
        default: nil
        }
    }
}

extension Subscription {
    /// Makes a subscription from its events. Nil if there are none, or the first
    /// is not a purchase.
    public init?(_ events: some Sequence<SubscriptionEvent>) {
        var whole: Subscription?
        for event in events {
            if var known = whole {
                known.apply(event)
                whole = known
            } else {
                whole = Subscription(first: event)
            }
        }
        guard let whole else { return nil }
        self = whole
    }

    /// Makes a subscription from its first event. Nil if that is not a purchase.
    public init?(first event: SubscriptionEvent) {
        guard case .subscribed(let period, let group, let price, _, let later) = event.change
        else { return nil }
        self.init(
            originalID: period.transaction, groupID: group, current: period,
            recentStart: period.start, renewal: Renewal(at: price, after: period, then: later),
            state: .active(hasFailedAhead: false),
            hadIntroduction: period.offer?.kind == .introductory)
    }

    /// Applies a later event.
    public mutating func apply(_ event: SubscriptionEvent) {
        switch event.change {
        case .subscribed(let period, _, let price, _, let later):
            let pause = period.start.milliseconds(since: wasPaidUntil)
            if pause > RenewalRules.pauseMilliseconds { recentStart = period.start }
            begin(period, Renewal(at: price, after: period, then: later))
            renewals = 0
        case .upgraded(let period, let price, _, _):
            begin(period, Renewal(at: price, after: period))
        case .renewed(let period), .recovered(let period): renew(period, at: event.at)
        case .choseNext(let product, let price, let isReversal, let offer, let isCommitted):
            chooseNext(
                Renewal(
                    productID: product, price: price, offer: offer, isCommitted: isCommitted),
                isReversal: isReversal)
        case .redeemed(let offer): (renewal.offer, renewal.laterOffer) = (offer, nil)
        case .switchedOn: (renewal.isOn, renewal.stop) = (true, nil)
        case .switchedOff:
            (renewal.isOn, renewal.stop) = (false, .cancelled)
            renewal.stoppedInGrace = isInGrace(at: event.at) ? true : nil
        case .stopped(let reason): (renewal.isOn, renewal.stop) = (false, reason)
        case .failedAhead: state = .active(hasFailedAhead: true)
        case .failed(let graceUntil):
            state = .unpaid(
                failure: BillingFailure(since: current.end, attempts: 1, graceUntil: graceUntil))
        case .failedAgain:
            // A test's attempt takes none from those that come by themselves.
            if event.cause == .time { changeFailure { $0.attempts += 1 } }
        case .graceEnded: changeFailure { $0.graceUntil = nil }
        case .expired(let reason):
            cut(at: event.at)
            state = .expired(reason: reason, at: event.at)
            (renewal.isOn, renewal.stop) = (false, reason)
        case .extended(let end, _):
            current.extend(to: end)
            givenBack = nil
            state = .active(hasFailedAhead: false)
        case .refunded, .revoked:
            state = .revoked(at: event.at)
            stop(for: .other)
        case .refundReversed: reinstate(at: event.at)
        case .runningRevoked: running?.isRevoked = true
        case .runningReinstated:
            running?.isRevoked = false
            if case .revoked = state { keepRunning() }
        case .aheadRevoked: keepRunning()
        case .aheadReinstated: takeBack(at: event.at)
        case .increaseAnnounced(let announced): increase = announced
        case .increaseAgreed: increase?.isAgreed = true
        }
    }

    /// The end of what the customer had, of a subscription that has ended.
    private var wasPaidUntil: Timestamp {
        guard case .revoked(let instant) = state else { return current.end }
        return min(instant, current.end)
    }

    private func isInGrace(at instant: Timestamp) -> Bool {
        guard case .unpaid(let failure) = state else { return false }
        return failure.graceUntil.map { instant < $0 } ?? false
    }

    private mutating func chooseNext(_ next: Renewal, isReversal: Bool) {
        if isReversal {
            renewal = kept.flatMap { isOnSameTerms($0) ? $0 : nil } ?? next
            (renewal.isOn, renewal.stop) = (true, nil)
            kept = nil
        } else {
            if kept == nil, renewsOnSameTerms { kept = renewal }
            renewal = next
        }
    }

    private mutating func begin(_ period: SubscribedPeriod, _ next: Renewal) {
        current = period
        renewal = next
        (increase, kept, running, givenBack) = (nil, nil, nil, nil)
        if period.offer?.kind == .introductory { hadIntroduction = true }
        state = .active(hasFailedAhead: false)
    }

    private mutating func renew(_ period: SubscribedPeriod, at instant: Timestamp) {
        renewals += 1
        let raised = dueIncrease
        let isSamePart = current.nextPart != nil && period.commitment == current.nextPart
        running = instant < current.end ? RunningPeriod(period: current) : nil
        givenBack = nil
        replaceCurrent(with: period)
        state = .active(hasFailedAhead: false)
        // What was chosen begins after the commitment.
        if isSamePart { return }
        kept = nil
        takeOffer(after: period)
        let hasBegun = increase.map { $0.startsAt <= period.start } ?? false
        // Consent that is still missing is asked for again.
        if hasBegun, increase?.isAgreed == true || increase != raised { increase = nil }
        if hasBegun, let raised, raised.isAgreed, raised.price.currency == period.price.currency {
            (renewal.price, renewal.raisedOver) = (raised.price, raised.over)
        } else if period.offer == nil, period.price != renewal.price {
            // A lower price that the customer paid stays.
            (renewal.price, renewal.raisedOver) = (period.price, nil)
        }
    }

    /// An increase and a renewal that is kept are of the present product and billing plan, and
    /// end with them.
    private mutating func replaceCurrent(with period: SubscribedPeriod) {
        let isOther =
            period.productID != current.productID
            || (period.commitment == nil) != (current.commitment == nil)
        current = period
        if isOther { (increase, kept) = (nil, nil) }
    }

    /// The offer of the period goes on, or the one after it begins.
    private mutating func takeOffer(after period: SubscribedPeriod) {
        // Within a commitment, the period itself has the offer that goes on.
        if period.nextPart == nil, let next = period.offer?.next {
            renewal.offer = next
        } else {
            (renewal.offer, renewal.laterOffer) = (renewal.laterOffer, nil)
        }
    }

    /// A test ends it early, with all periods that were sold.
    private mutating func cut(at instant: Timestamp) {
        guard instant < current.end else { return }
        // Time that was set back ends it at its start, unless it was charged ahead.
        current.extend(to: running == nil ? max(instant, current.start) : instant)
        if let end = running?.period.end, instant < end { running?.period.extend(to: instant) }
        givenBack?.extend(to: instant)
    }

    /// The renewal is off from now on, for the reason that it was switched off for
    /// before, if it was.
    private mutating func stop(for reason: Expiration) {
        if renewal.isOn { (renewal.isOn, renewal.stop) = (false, reason) }
    }

    /// The period that was charged ahead is given back, and the one before it is the
    /// last.
    private mutating func keepRunning() {
        guard let period = running?.period else { return }
        (givenBack, running) = (current, nil)
        replaceCurrent(with: period)
        renewals -= 1
        state = .active(hasFailedAhead: false)
        stop(for: .other)
    }

    /// The period that was given back follows the current one again.
    private mutating func takeBack(at instant: Timestamp) {
        guard let period = givenBack else { return }
        running =
            instant < current.end
            ? RunningPeriod(period: current, isRevoked: status == .revoked) : nil
        givenBack = nil
        replaceCurrent(with: period)
        renewals += 1
        reinstate(at: instant)
    }

    private mutating func reinstate(at instant: Timestamp) {
        state =
            instant < current.end
            ? .active(hasFailedAhead: false) : .expired(reason: .other, at: instant)
    }

    private mutating func changeFailure(_ body: (inout BillingFailure) -> Void) {
        guard case .unpaid(var failure) = state else { return }
        body(&failure)
        state = .unpaid(failure: failure)
    }
}

extension Renewal {
    /// The renewal after a period that was just bought. `later`: the offer that
    /// follows that of the period.
    fileprivate init(
        at regularPrice: Money, after period: SubscribedPeriod, then later: AppliedOffer? = nil
    ) {
        let next = period.nextPart == nil ? period.offer?.next : nil
        self.init(
            productID: period.productID, price: regularPrice, offer: next ?? later,
            laterOffer: next == nil ? nil : later, isCommitted: period.commitment != nil)
    }
}
