// SPDX-License-Identifier: Apache-2.0

/// Why a refund is not made, declined or taken back. The cases are in order of
/// precedence.
public enum RefundRefusal: String, Error, Hashable, Sendable, CaseIterable {
    /// A member of the family bought it, and has the refund.
    case shared
    /// It was refunded or revoked before.
    case refundedAlready
    /// The customer does not wait for an answer.
    case notRequested
    /// Nothing was given back that can be taken.
    case notRefunded
    /// Only subscriptions are sold for a time, and the merchant has not reported how
    /// much of another product was used.
    case notProratable
    /// No time of the period is left, or everything was used.
    case nothingUnused
    /// The customer has bought the product again since.
    case ownedAgain
}

/// A sale with all that a decision on its refund needs. Each decision returns the
/// step to make, or nil if everything is as requested already.
public struct RefundableSale: Hashable, Sendable {
    /// The price of the whole quantity.
    public let total: Money
    public let ownership: Ownership
    /// What is left of the current period. Nil unless it is one that still runs.
    public let unused: UnusedTime?
    /// Whether it sold a subscription's period.
    public let isPeriod: Bool
    /// Whether the customer owns the same product by a later sale.
    public let isOwnedAgain: Bool
    /// Its refunds, from number 1.
    public let refunds: [Refund]

    public init(
        total: Money, ownership: Ownership = .purchased, isPeriod: Bool = false,
        unused: UnusedTime? = nil, isOwnedAgain: Bool = false, refunds: [Refund] = []
    ) {
        self.total = total
        self.ownership = ownership
        self.isPeriod = isPeriod
        self.unused = unused
        self.isOwnedAgain = isOwnedAgain
        self.refunds = refunds
    }

    /// What the customer has paid and not got back.
    public var kept: Amount {
        Amount(milliunits: total.amount.milliunits - refunds.map(\.given.milliunits).reduce(0, +))
    }

    /// The customer asks for the money.
    public func requesting(
        _ wish: RefundWish, at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(RefundRefusal) -> RefundStep? {
        guard ownership == .purchased else { throw .shared }
        guard revoking == nil else { throw .refundedAlready }
        guard open == nil else { return nil }
        return RefundStep(next, RefundEvent(at: at, cause: cause, change: .requested(wish: wish)))
    }

    /// The merchant reports about the purchase. Nil if the customer does not wait, or
    /// the same was reported before.
    public func informing(
        _ report: ConsumptionReport, at: Timestamp, cause: SubscriptionEvent.Cause
    ) -> RefundStep? {
        guard let open, refunds[Int(open) - 1].report != report else { return nil }
        return RefundStep(
            open, RefundEvent(at: at, cause: cause, change: .informed(report: report)))
    }

    /// What the request that waits for an answer should come to. Nil if none does. It is
    /// declined if the price of what is unused is less than the currency's smallest unit,
    /// because the customer would lose the product and get nothing.
    public var advice: RefundAdvice? {
        guard let open, let wish = refunds[Int(open) - 1].wish else { return nil }
        let part = unusedPart
        let advice = RefundAdvice(for: wish, refunds[Int(open) - 1].report, unused: part)
        let isPaid = total.amount.milliunits > 0
        let isNothing = part.map { $0.share(of: total).amount.milliunits == 0 } ?? false
        return advice == .prorated && isPaid && isNothing ? .declined : advice
    }

    /// Decides a request as advised. Nil if it was decided before.
    public func following(
        _ reason: RevocationReason, at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(RefundRefusal) -> RefundStep? {
        switch advice {
        case nil:
            guard lastDecided?.refund.wish != nil else { throw .notRequested }
            return nil
        case .full: return try granting(.full, for: reason, at: at, cause: cause)
        case .prorated: return try granting(.prorated, for: reason, at: at, cause: cause)
        case .declined: return try declining(at: at, cause: cause)
        }
    }

    /// The answer to a request is no.
    public func declining(
        at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(RefundRefusal) -> RefundStep? {
        guard let open else {
            if lastDecided?.refund.state == .declined { return nil }
            throw .notRequested
        }
        return RefundStep(open, RefundEvent(at: at, cause: cause, change: .declined))
    }

    /// Gives money back, whether the customer asked or not. The sale grants nothing
    /// any more.
    public func granting(
        _ kind: RefundGrant.Kind, for reason: RevocationReason, at: Timestamp,
        cause: SubscriptionEvent.Cause
    ) throws(RefundRefusal) -> RefundStep? {
        guard ownership == .purchased else { throw .shared }
        if let revoking {
            guard revoking.grant?.kind == kind else { throw .refundedAlready }
            return nil
        }
        let grant = try grant(kind, for: reason)
        return RefundStep(
            open ?? next, RefundEvent(at: at, cause: cause, change: .granted(grant: grant)))
    }

    /// Takes the money back. The sale grants again what it sold.
    public func reversing(
        at: Timestamp, cause: SubscriptionEvent.Cause
    ) throws(RefundRefusal) -> RefundStep? {
        guard let place = refunds.lastIndex(where: \.isRevoking) else {
            if lastDecided?.refund.state == .reversed { return nil }
            throw .notRefunded
        }
        guard !isOwnedAgain else { throw .ownedAgain }
        return RefundStep(
            Int64(place + 1), RefundEvent(at: at, cause: cause, change: .reversed))
    }

    /// The refund that an upgrade of the subscription makes by itself.
    public func upgrading(
        _ sum: Money, at: Timestamp, cause: SubscriptionEvent.Cause
    ) -> RefundStep {
        let grant = RefundGrant(kind: .upgrade, sum: sum)
        return RefundStep(
            next, RefundEvent(at: at, cause: cause, change: .granted(grant: grant)))
    }

    private func grant(
        _ kind: RefundGrant.Kind, for reason: RevocationReason
    ) throws(RefundRefusal) -> RefundGrant {
        switch kind {
        case .full:
            return RefundGrant(kind: kind, sum: Money(kept, total.currency), reason: reason)
        case .upgrade, .nothing:
            let none = Money(Amount(milliunits: 0), total.currency)
            return RefundGrant(kind: kind, sum: none, reason: reason)
        case .prorated:
            guard isPeriod || unusedPart != nil else { throw .notProratable }
            guard let unused = unusedPart, unused.percentage > 0 else { throw .nothingUnused }
            let share = unused.share(of: total).amount
            return RefundGrant(
                kind: kind, sum: Money(min(share, kept), total.currency),
                percentage: unused.percentage, reason: reason)
        }
    }

    /// The part of the period that is left, or of another product what the merchant
    /// reports as unused. Nil if it is unknown.
    private var unusedPart: UnusedTime? {
        guard !isPeriod else { return unused }
        guard let open, let used = refunds[Int(open) - 1].report?.used else { return nil }
        let whole = Int64(ConsumptionReport.whole)
        return UnusedTime(left: whole - Int64(used), whole: whole)
    }

    private var next: Int64 { Int64(refunds.count + 1) }

    /// The number of the request that waits for an answer.
    private var open: Int64? {
        refunds.lastIndex { $0.state == .requested }.map { Int64($0 + 1) }
    }

    private var revoking: Refund? { refunds.last(where: \.isRevoking) }

    /// The last one that a person decided.
    private var lastDecided: (number: Int64, refund: Refund)? {
        refunds.lastIndex { $0.decidedAt != nil && $0.grant?.kind != .upgrade }
            .map { (Int64($0 + 1), refunds[$0]) }
    }
}

/// An event of one of a sale's refunds, by the refund's number.
public struct RefundStep: Hashable, Sendable {
    /// From 1.
    public let number: Int64
    public let event: RefundEvent

    init(_ number: Int64, _ event: RefundEvent) {
        self.number = number
        self.event = event
    }
}

/// The part of a period that is left, or of something else that is used up.
public struct UnusedTime: Hashable, Sendable {
    /// Of a period in milliseconds.
    public let left: Int64
    public let whole: Int64

    public init(left: Int64, whole: Int64) {
        self.whole = max(whole, 1)
        self.left = min(max(left, 0), self.whole)
    }

    /// What is left of a period at an instant.
    public init(of period: SubscribedPeriod, at instant: Timestamp) {
        self.init(
            left: period.end.milliseconds(since: instant),
            whole: period.end.milliseconds(since: period.start))
    }

    /// In thousandths of a percent, rounded down.
    public var percentage: Int { Int(Self.part(left, of: 100_000, in: whole)) }

    /// The price of the time that is left, rounded down to the currency's smallest
    /// unit.
    public func share(of price: Money) -> Money {
        let exact = Self.part(left, of: price.amount.milliunits, in: whole)
        let smallest: Int64 =
            switch price.currency.minorUnits {
            case 0: 1000
            case 1: 100
            case 2: 10
            default: 1
            }
        return Money(Amount(milliunits: exact - exact % smallest), price.currency)
    }

    private static func part(_ left: Int64, of sum: Int64, in whole: Int64) -> Int64 {
        let (high, low) = sum.multipliedFullWidth(by: left)
        return whole.dividingFullWidth((high, low)).quotient
    }
}

extension Subscription {
    /// What is left of the period of a transaction. Nil if the period has ended, or
    /// is neither the current one nor the one that still runs before it.
    public func unusedTime(of transaction: TransactionID, at instant: Timestamp) -> UnusedTime? {
        if let running = running(at: instant), running.transaction == transaction {
            return UnusedTime(of: running, at: instant)
        }
        guard isCurrent(transaction, at: instant) else { return nil }
        return UnusedTime(of: current, at: instant)
    }

    /// What the refund of one of its transactions does to it. The refund of the
    /// current period ends it, but not the period before that, if that still runs.
    public func events(
        ofRefund event: RefundEvent, of transaction: TransactionID
    ) -> [SubscriptionEvent] {
        if let running, running.period.transaction == transaction {
            return events(ofRefund: event, of: running)
        }
        if let givenBack, givenBack.transaction == transaction {
            guard case .reversed = event.change else { return [] }
            return [SubscriptionEvent(at: event.at, cause: event.cause, change: .aheadReinstated)]
        }
        guard transaction == current.transaction else { return [] }
        switch event.change {
        case .granted(let grant):
            guard grant.kind.isRevoking, isCurrent(transaction, at: event.at) else { return [] }
            return revoked(
                isRefunded: grant.kind != .nothing, at: event.at, cause: event.cause)
        case .reversed: return (try? refundReversed(at: event.at, cause: event.cause)) ?? []
        case .requested, .informed, .declined: return []
        }
    }

    private func events(
        ofRefund event: RefundEvent, of running: RunningPeriod
    ) -> [SubscriptionEvent] {
        guard event.at < running.period.end else { return [] }
        let change: SubscriptionEvent.Change
        switch event.change {
        case .granted(let grant) where grant.kind.isRevoking && !running.isRevoked:
            change = .runningRevoked
        case .reversed where running.isRevoked: change = .runningReinstated
        case .granted, .reversed, .requested, .informed, .declined: return []
        }
        return [SubscriptionEvent(at: event.at, cause: event.cause, change: change)]
    }

    private func isCurrent(_ transaction: TransactionID, at instant: Timestamp) -> Bool {
        guard case .active = state else { return false }
        return transaction == current.transaction && instant < current.end
    }
}
