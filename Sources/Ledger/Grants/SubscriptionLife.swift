// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The periods of a subscription, of all accounts, and what became of each.
///
/// A store signs a period once. When another product takes its place, or a tester ends it,
/// the store need not sign it again. The other periods show that.
struct SubscriptionLife: Sendable {
    struct Period: Hashable, Sendable {
        let transactionID: String
        let productID: String
        let purchasedAt: Timestamp
        let expiresAt: Timestamp?
        let isUpgraded: Bool

        fileprivate var order: PeriodOrder { PeriodOrder(purchasedAt, transactionID) }
    }

    /// What became of a period.
    struct Fate: Hashable, Sendable {
        /// When another period took its place before its end. Its own beginning if it never
        /// began.
        var replacedAt: Timestamp?
        /// Its end, where the next period shows that it came earlier than signed.
        var endedAt: Timestamp?
        /// Whether no other one follows.
        var isNewest = false
    }

    private var fates: [String: Fate] = [:]

    /// `mayStand`: whether two periods may have one date because the store's clock stands,
    /// as in a sandbox.
    init(_ periods: [Period], mayStand: Bool) {
        let ordered = periods.sorted { $0.order < $1.order }
        // Those that end at the present one's beginning or later.
        var open: [Period] = []
        var newest: String?
        for period in ordered {
            open.removeAll { $0.ends < period.purchasedAt }
            if goesOnFromReplaced(period, open, mayStand) {
                fates[period.transactionID, default: Fate()].replacedAt = period.purchasedAt
            } else {
                newest = period.transactionID
                take(over: open, by: period)
            }
            open.append(period)
        }
        if let newest { fates[newest, default: Fate()].isNewest = true }
    }

    /// Of a period that is not known, as if it were the only one.
    func fate(of transactionID: String) -> Fate {
        fates[transactionID] ?? Fate()
    }

    /// Whether a period was charged before the one before it had ended, and that one was
    /// replaced since, and so was this one. It begins where the other would have ended, which
    /// is later than what replaced both.
    private func goesOnFromReplaced(
        _ period: Period, _ open: [Period], _ mayStand: Bool
    ) -> Bool {
        let before = open.filter { $0.expiresAt == period.purchasedAt }
        guard !before.isEmpty, before.allSatisfy({ fates[$0.transactionID]?.replacedAt != nil })
        else { return false }
        // Where a clock stands, another product may be bought at that very instant.
        return !mayStand
            || open.contains { other in
                fates[other.transactionID]?.replacedAt == nil
                    && PeriodOrder(period.purchasedAt, period.transactionID)
                        < PeriodOrder(period.purchasedAt, other.transactionID)
            }
    }

    /// A period takes the place of all that have not ended and are of another product, or
    /// are said to be replaced.
    private mutating func take(over open: [Period], by period: Period) {
        for other in open where fates[other.transactionID]?.replacedAt == nil {
            let isReplaced = other.isUpgraded || !other.productID.isSame(as: period.productID)
            if isReplaced, period.purchasedAt < other.ends {
                fates[other.transactionID, default: Fate()].replacedAt = period.purchasedAt
            }
            // A tester has ended both, the one that runs and the one that was charged ahead.
            if let end = period.expiresAt, end < period.purchasedAt,
                other.expiresAt == period.purchasedAt
            {
                fates[other.transactionID, default: Fate()].endedAt = end
            }
        }
    }
}

extension SubscriptionLife.Period {
    /// Without a signed end it takes no time.
    fileprivate var ends: Timestamp { expiresAt ?? purchasedAt }
}
