// SPDX-License-Identifier: Apache-2.0

/// A renewal that a payment processor is asked to charge. Both answers are
/// decided when it is asked for, so the prices and facts of that instant count.
///
/// Stores keep it as JSON, so the names of properties are part of the stored
/// form.
public struct RenewalCharge: Hashable, Sendable, Codable {
    /// When it was asked for. Commercial time.
    public let at: Timestamp
    public let cause: SubscriptionEvent.Cause
    /// What follows if it is approved. Until the period is sold, it has the
    /// transaction of the period before.
    public let ifPaid: [SubscriptionEvent.Change]
    /// What follows if it is declined.
    public let ifDeclined: [SubscriptionEvent.Change]
    /// The period that it buys.
    public let period: SubscribedPeriod
    private let basis: Basis

    /// What the customer agreed to when it was asked for.
    private struct Basis: Hashable, Codable {
        let transaction: TransactionID
        let end: Timestamp
        let renewal: Renewal
        let increase: PriceIncrease?
        let state: Subscription.State

        /// `asEarlier`: as earlier programs wrote it, with increases that do not concern it.
        init(_ subscription: Subscription, from start: Timestamp, asEarlier: Bool = false) {
            transaction = subscription.current.transaction
            end = subscription.current.end
            renewal = subscription.renewal
            // A part of a commitment has its price already.
            let due = subscription.current.nextPart == nil ? subscription.dueIncrease : nil
            increase = (asEarlier ? subscription.increase : due).flatMap {
                $0.startsAt <= start ? $0 : nil
            }
            state = subscription.state
        }
    }

    /// The charge of a step that is due at `at`. Nil if the step charges nothing:
    /// because the customer cannot be charged, because the period is free, or
    /// because nothing is sold.
    public init?(
        _ step: SubscriptionStep.Kind, of subscription: Subscription, _ facts: RenewalFacts,
        at: Timestamp, cause: SubscriptionEvent.Cause = .time
    ) {
        guard facts.canBill else { return nil }
        var facts = facts
        facts.newID = subscription.current.transaction
        let paid = subscription.events(of: step, facts, at: at, cause: cause).map(\.change)
        guard let period = paid.compactMap(\.sold).first, period.price.amount.milliunits > 0
        else { return nil }
        facts.canBill = false
        self.at = at
        self.cause = cause
        ifPaid = paid
        ifDeclined = subscription.events(of: step, facts, at: at, cause: cause).map(\.change)
        self.period = period
        basis = Basis(subscription, from: period.start)
    }

    /// Whether the customer still wants it: the period, its end, the renewal with
    /// its price, and the state are those for which it was asked.
    public func stands(for subscription: Subscription) -> Bool {
        [false, true].contains {
            basis == Basis(subscription, from: period.start, asEarlier: $0)
        }
    }

    /// The events of the answer. `id`: of the transaction if it is approved.
    public func events(
        isPaid: Bool, as id: TransactionID, at: Timestamp
    ) -> [SubscriptionEvent] {
        (isPaid ? ifPaid.map { $0.selling(as: id) } : ifDeclined).map {
            SubscriptionEvent(at: at, cause: cause, change: $0)
        }
    }
}

/// What became of a charge. Stores keep the raw values.
public enum RenewalChargeState: String, Sendable, CaseIterable {
    /// There is no answer yet.
    case asked
    /// Approved, and the period is sold.
    case sold
    case declined
    /// Approved, and not wanted any more. The sum is given back.
    case dropped
}

extension SubscriptionEvent.Change {
    /// The same change under another transaction, if it sells a period.
    fileprivate func selling(as id: TransactionID) -> Self {
        switch self {
        case .renewed(let period): .renewed(period: period.selling(as: id))
        case .recovered(let period): .recovered(period: period.selling(as: id))
        default: self
        }
    }
}

extension SubscribedPeriod {
    fileprivate func selling(as id: TransactionID) -> SubscribedPeriod {
        var period = self
        period.transaction = id
        return period
    }
}

extension RenewalRules {
    /// How long after the earliest instant a subscription's renewal is charged. It
    /// depends on the subscription alone, and spreads those of one morning.
    func delay(of subscription: TransactionID, lead: Int64) -> Int64 {
        guard spreadMilliseconds > 0, leadMilliseconds > 0 else { return 0 }
        let spread = spreadMilliseconds * lead / leadMilliseconds
        guard spread > 0 else { return 0 }
        // The finaliser of SplitMix64, so that numbers in sequence lie far apart.
        var mixed = UInt64(bitPattern: subscription.value)
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Int64(mixed % UInt64(spread))
    }
}
