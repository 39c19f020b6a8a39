// SPDX-License-Identifier: Apache-2.0

import Commerce

extension Shelf.App {
    /// How long an unpaid renewal can be used. A catalogue file can only switch it
    /// on.
    var grace: GracePeriod { ownGrace ?? (settings.hasGracePeriod ? .sixteenDays : .off) }
}

extension Shelf {
    /// Returns a subscription as it is sold in a storefront. Nil if it is not sold
    /// there, is no subscription, or has no group or period. `isCommitted`: as it is
    /// sold in monthly parts. Nil if it is not.
    func plan(
        _ id: ProductID, isCommitted: Bool = false, of app: BundleID, in storefront: Storefront,
        at now: Timestamp
    ) -> SubscriptionPlan? {
        guard let product = offered(id, of: app, in: storefront, at: now),
            let listed = apps[app]?.byID[id],
            let terms = listed.terms ?? SubscriptionTerms(of: product)
        else { return nil }
        // An offer's price belongs to the product's own, and not to one that a
        // storefront has instead.
        let hasOwnPrice = product.price == listed.product.price
        let other: BillingPlan.Kind = isCommitted ? .upfront : .monthly
        func isOffered(_ offer: Offer) -> Bool {
            offer.billingPlan != other && (hasOwnPrice || offer.mode == .free)
        }
        let monthly = terms.billingPlans.first { $0.kind == .monthly && $0.isEnabled }
        // Its prices, too, belong to the product's own.
        if isCommitted, !hasOwnPrice || monthly == nil || terms.period != Period(1, .year) {
            return nil
        }
        let parts = isCommitted ? monthly : nil
        return SubscriptionPlan(
            productID: id, groupID: terms.groupID, level: terms.level,
            period: isCommitted ? Period(1, .month) : terms.period,
            price: Money(parts?.price ?? product.price, storefront.currency),
            introductoryOffer: terms.introductoryOffers.first(where: isOffered),
            redeemableOffers: Dictionary(
                uniqueKeysWithValues: [OfferKind.promotional, .code, .winBack].map {
                    ($0, terms.offers($0).filter(isOffered))
                }),
            commitment: parts.map {
                CommitmentTerms(price: Money($0.commitmentPrice, storefront.currency))
            })
    }

    /// Returns what a payment for a product does for a customer, whose
    /// subscription to the group is `current`. `tempo`: by which periods are shorter
    /// than in the calendar. Nil if the product is no
    /// subscription that can be sold.
    func subscriptionSale(
        _ plan: SubscriptionPlan?, current: Subscription?, _ evidence: OfferEvidence? = nil,
        of app: BundleID,
        in storefront: Storefront, at now: Timestamp, tempo: Tempo? = nil
    ) -> SubscriptionSale? {
        guard let plan else { return nil }
        let currentPlan = current.flatMap {
            self.plan(
                $0.current.productID, isCommitted: $0.current.commitment != nil, of: app,
                in: storefront, at: now)
        }
        return SubscriptionSale(
            SubscriptionFacts(
                plan: plan, current: current, currentPlan: currentPlan, evidence: evidence,
                tempo: tempo),
            at: now)
    }
}
