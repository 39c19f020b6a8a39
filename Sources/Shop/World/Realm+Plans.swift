// SPDX-License-Identifier: Apache-2.0

import Commerce

extension Realm {
    /// When renewals are charged.
    var renewalRules: RenewalRules { isProduction ? .production : .sandbox }

    /// Whether a subscription is sold in a storefront. A payment processor is not
    /// asked for renewals yet.
    func sells(
        _ id: String, of app: BundleID, _ shelf: Shelf, _ storefront: Storefront,
        _ now: Timestamp
    ) -> Bool {
        processor == nil && shelf.plan(ProductID(id), of: app, in: storefront, at: now) != nil
    }
}
