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
        let revokedAt: Timestamp?
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
        /// The last one that was sold before its end, of any product.
        fileprivate var successor: String?

        static let ofTheOnlyOne = Fate(isNewest: true)
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
            fates[period.transactionID] = Fate()
            open.removeAll { $0.ends < period.purchasedAt }
            let before = open.filter { $0.expiresAt == period.purchasedAt }
            if period.neverRan(after: before) {
                for other in before { end(other, with: period) }
            } else if isReplaced(period, with: before, mayStand) {
                fates[period.transactionID, default: Fate()].replacedAt = period.purchasedAt
            } else if before.isEmpty || !period.wasGivenBack {
                newest = period.transactionID
                take(over: open, by: period)
            }
            open.append(period)
        }
        if let newest { fates[newest, default: Fate()].isNewest = true }
    }

    /// Of a period that is not known, as if it were the only one.
    func fate(of transactionID: String) -> Fate {
        fates[transactionID] ?? .ofTheOnlyOne
    }

    /// A tester has ended a period that was charged ahead, and with it the one before.
    private mutating func end(_ before: Period, with period: Period) {
        guard let end = period.expiresAt else { return }
        fates[before.transactionID, default: Fate()].endedAt = end
    }

    /// Whether a period was charged before those had ended from which it goes on, and these
    /// were replaced since, and so was it. It begins later than what replaced it.
    private func isReplaced(
        _ period: Period, with before: [Period], _ mayStand: Bool
    ) -> Bool {
        // Where a clock stands, another product may be bought at the instant at which a
        // replaced one would have ended. The numbers say what was sold first.
        let before =
            mayStand
            ? before.filter { PeriodOrder.isSmaller($0.transactionID, than: period.transactionID) }
            : before
        let successors = before.map { fates[$0.transactionID]?.successor }
        return !before.isEmpty
            && successors.allSatisfy { successor in
                guard let successor else { return false }
                return !mayStand || PeriodOrder.isSmaller(period.transactionID, than: successor)
            }
    }

    /// A period takes the place of all that have not ended and are of another product, or
    /// are said to be replaced.
    private mutating func take(over open: [Period], by period: Period) {
        for other in open where period.purchasedAt < other.ends {
            var fate = fates[other.transactionID] ?? Fate()
            fate.successor = period.transactionID
            let isReplaced = other.isUpgraded || !other.productID.isSame(as: period.productID)
            if isReplaced, fate.replacedAt == nil { fate.replacedAt = period.purchasedAt }
            fates[other.transactionID] = fate
        }
    }
}

extension SubscriptionLife.Period {
    fileprivate var order: PeriodOrder { PeriodOrder(purchasedAt, transactionID) }

    /// Without a signed end it takes no time.
    fileprivate var ends: Timestamp { expiresAt ?? purchasedAt }

    /// Whether it was charged ahead and ended before it began, or as it began. `before`: those
    /// from which it goes on.
    fileprivate func neverRan(after before: [Self]) -> Bool {
        ends < purchasedAt || ends == purchasedAt && !before.isEmpty
    }

    /// Whether it was revoked before it began, as one that was charged ahead can be.
    fileprivate var wasGivenBack: Bool { revokedAt.map { $0 <= purchasedAt } ?? false }
}
