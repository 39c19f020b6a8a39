// SPDX-License-Identifier: Apache-2.0

/// A change of every subscription to a product, which an operator or a merchant's
/// server requests once.
///
/// Stores keep it as JSON, so the names of cases and properties are part of the
/// stored form.
public struct BulkChange: Hashable, Sendable, Codable {
    public let kind: Kind
    public let productID: ProductID
    /// Only subscriptions of customers in these storefronts (ISO 3166-1 alpha-3).
    /// Nil for all.
    public let storefronts: [String]?
    /// When it was requested. It concerns no customer who subscribed later.
    public let requestedAt: Timestamp
    /// Whether a merchant's server requested it, which may extend a subscription only within
    /// limits. Absent in older stores: an operator did.
    public let isMerchants: Bool?

    public enum Kind: Hashable, Sendable, Codable {
        /// Moves the next renewal, without a charge.
        case extend(days: Int)
        /// Announces a higher price for periods that begin at `from` or later. `isCommitted`:
        /// whether it is the price of a part, for customers who pay in parts, or otherwise that
        /// of all others. Nil, where an earlier program wrote it: of all others.
        case raisePrice(
            to: Money, from: Timestamp, needsConsent: Bool, isCommitted: Bool? = nil)
    }

    public init(
        _ kind: Kind, productID: ProductID, storefronts: [String]? = nil,
        requestedAt: Timestamp, isMerchants: Bool? = nil
    ) {
        self.isMerchants = isMerchants
        self.kind = kind
        self.productID = productID
        self.storefronts = storefronts
        self.requestedAt = requestedAt
    }

    /// Whether it concerns a customer's subscription. One that has ended, or whose
    /// price is in another currency than a higher price or of another billing plan, is passed
    /// over. `isOnOtherClock`: whether its dates are by another clock than the request's, with
    /// which they then cannot be compared.
    public func concerns(
        _ subscription: Subscription, in storefront: String, isOnOtherClock: Bool = false
    ) -> Bool {
        guard subscription.current.productID == productID, !subscription.hasEnded,
            isOnOtherClock || subscription.recentStart <= requestedAt,
            storefronts?.contains(storefront) ?? true
        else { return false }
        if case .raisePrice(let price, _, _, let isCommitted) = kind {
            return price.currency == subscription.renewal.price.currency
                && (isCommitted ?? false) == subscription.isPaidInParts
        }
        return true
    }

    /// The events that it causes. None if the subscription is already as requested.
    /// The refusals are those of the same change of one subscription. `listed`: what the
    /// product costs the customer now.
    public func events(
        of subscription: Subscription, listed: Money?, at: Timestamp,
        cause: SubscriptionEvent.Cause
    ) throws(SubscriptionRefusal) -> [SubscriptionEvent] {
        switch kind {
        case .extend(let days):
            try subscription.extended(days: days, at: at, cause: cause)
        case .raisePrice(let price, let start, let needsConsent, _):
            try subscription.raised(
                to: price, from: start, needsConsent: needsConsent, over: listed, at: at,
                cause: cause)
        }
    }
}
