// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation
import StoreWire

/// A product, as the store describes it to this customer.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproduct)
open class SKProduct: NSObject, @unchecked Sendable {
    private let facts: ProductDescription?

    /// Makes an empty product, for subclasses in tests.
    public override init() {
        facts = nil
        super.init()
    }

    init(description: ProductDescription) {
        facts = description
        super.init()
    }

    /// In the storefront's language.
    open var localizedDescription: String { facts?.description ?? "" }
    /// In the storefront's language.
    open var localizedTitle: String { facts?.displayName ?? "" }
    /// The exact price of one unit, in the currency of ``priceLocale``.
    open var price: NSDecimalNumber {
        NSDecimalNumber(milliunits: facts?.price ?? 0)
    }
    /// Contains the currency, so that `NumberFormatter` formats the price
    /// correctly.
    open var priceLocale: Locale { Locale(identifier: facts?.priceLocale ?? "en_US") }
    open var productIdentifier: String { facts?.id ?? "" }
    open var isFamilyShareable: Bool { facts?.isFamilyShareable ?? false }
    /// Nil unless the product is an auto-renewable subscription.
    open var subscriptionGroupIdentifier: String? { facts?.subscriptionGroupIdentifier }
    /// Nil unless the product is an auto-renewable subscription.
    open var subscriptionPeriod: SKProductSubscriptionPeriod? {
        facts?.subscriptionPeriod.flatMap { Period(iso8601: $0) }
            .map(SKProductSubscriptionPeriod.init)
    }
    /// The subscription's introductory offer, for whichever customer. Nil if it has
    /// none.
    open var introductoryPrice: SKProductDiscount? { offers("introductory").first }
    /// The subscription's promotional offers. The introductory one is in
    /// ``introductoryPrice``.
    open var discounts: [SKProductDiscount] { offers("promotional") }

    private func offers(_ kind: String) -> [SKProductDiscount] {
        (facts?.offers ?? []).filter { $0.kind == kind }
            .map { SKProductDiscount($0, priceLocale: facts?.priceLocale ?? "en_US") }
    }
}
