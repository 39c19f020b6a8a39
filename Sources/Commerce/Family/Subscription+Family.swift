// SPDX-License-Identifier: Apache-2.0

/// A period of the purchaser's subscription, as a member of the family has it.
public struct SharedPeriod: Hashable, Sendable {
    /// The member's own transaction.
    public let transaction: TransactionID
    public let productID: ProductID
    public let start: Timestamp
    public let end: Timestamp

    public init(
        transaction: TransactionID, productID: ProductID, start: Timestamp, end: Timestamp
    ) {
        self.transaction = transaction
        self.productID = productID
        self.start = start
        self.end = end
    }
}

extension Subscription {
    /// The purchaser's subscription as a member of the family has it, with the member's
    /// own transactions. `endedAt`: the date of the share's ending, if it has one.
    ///
    /// Where the purchaser has gone on to a period that the member did not get, the
    /// member's subscription is the last period that was shared, and does not renew.
    public func shared(
        as originalID: TransactionID, _ period: SharedPeriod, of share: FamilyShare,
        endedAt: Timestamp?
    ) -> Subscription {
        let isCurrent = share.saleID == current.transaction
        // Merchants are shown it as revoked, while the next one waits for its end.
        let isGivenBack =
            running.map { $0.isRevoked && $0.period.transaction == share.saleID } ?? false
        var own = isCurrent ? current : last(period)
        own.transaction = period.transaction
        return Subscription(
            originalID: originalID, groupID: groupID, current: own, recentStart: recentStart,
            renewal: isCurrent || isGivenBack
                ? renewal
                : Renewal(
                    isOn: false, stop: .other, productID: period.productID,
                    price: renewal.price),
            state: sharedState(share, isCurrent: isCurrent, endedAt: endedAt ?? period.end))
    }

    private func last(_ period: SharedPeriod) -> SubscribedPeriod {
        SubscribedPeriod(
            transaction: period.transaction, productID: period.productID, start: period.start,
            end: period.end, length: current.length, anchorDay: current.anchorDay,
            price: current.price)
    }

    /// Whether nothing is paid any more: it has expired, or a renewal could not be charged.
    private var isOver: Bool {
        switch state {
        case .unpaid, .expired: true
        case .active, .revoked: false
        }
    }

    private func sharedState(
        _ share: FamilyShare, isCurrent: Bool, endedAt: Timestamp
    ) -> State {
        switch share.ending {
        case .refunded where isCurrent && isOver:
            // The refund of a period that is over leaves the subscription as it is.
            return state
        case .some(let ending) where ending.isRevoking: return .revoked(at: endedAt)
        case .expired:
            if case .expired = state, isCurrent { return state }
            return .expired(reason: .other, at: endedAt)
        case .upgraded where !isCurrent: return .expired(reason: .other, at: endedAt)
        default: return isCurrent ? state : .active(hasFailedAhead: false)
        }
    }
}
