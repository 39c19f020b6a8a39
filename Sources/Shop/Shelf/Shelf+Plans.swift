// SPDX-License-Identifier: Apache-2.0

import Commerce

extension Shelf {
    /// Returns a subscription as it is sold in a storefront. Nil if it is not sold
    /// there, is no subscription, or has no group or period.
    func plan(
        _ id: ProductID, of app: BundleID, in storefront: Storefront, at now: Timestamp
    ) -> SubscriptionPlan? {
        guard let product = offered(id, of: app, in: storefront, at: now),
            let listed = apps[app]?.byID[id],
            let terms = listed.terms ?? SubscriptionTerms(of: product)
        else { return nil }
        // An offer's price belongs to the product's own, and not to one that a
        // storefront has instead.
        let hasOwnPrice = product.price == listed.product.price
        func isOffered(_ offer: Offer) -> Bool {
            offer.billingPlan != .monthly && (hasOwnPrice || offer.mode == .free)
        }
        return SubscriptionPlan(
            productID: id, groupID: terms.groupID, level: terms.level, period: terms.period,
            price: Money(product.price, storefront.currency),
            introductoryOffer: terms.introductoryOffers.first(where: isOffered),
            redeemableOffers: Dictionary(
                uniqueKeysWithValues: [OfferKind.promotional, .code, .winBack].map {
                    ($0, terms.offers($0).filter(isOffered))
                }))
    }

    /// Returns what a payment for a product does for a customer, whose
    /// subscription to the group is `current`. Nil if the product is no
    /// subscription that can be sold.
    func subscriptionSale(
        _ plan: SubscriptionPlan?, current: Subscription?, _ evidence: OfferEvidence? = nil,
        of app: BundleID,
        in storefront: Storefront, at now: Timestamp
    ) -> SubscriptionSale? {
        guard let plan else { return nil }
        let currentPlan = current.flatMap {
            self.plan($0.current.productID, of: app, in: storefront, at: now)
        }
        return SubscriptionSale(
            SubscriptionFacts(
                plan: plan, current: current, currentPlan: currentPlan, evidence: evidence),
            at: now)
    }
}
