// SPDX-License-Identifier: Apache-2.0

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
        NSDecimalNumber(
            mantissa: UInt64(max(0, facts?.price ?? 0)), exponent: -3, isNegative: false)
    }
    /// Contains the currency, so that `NumberFormatter` formats the price
    /// correctly.
    open var priceLocale: Locale { Locale(identifier: facts?.priceLocale ?? "en_US") }
    open var productIdentifier: String { facts?.id ?? "" }
    open var isFamilyShareable: Bool { facts?.isFamilyShareable ?? false }
    /// Nil unless the product is an auto-renewable subscription.
    open var subscriptionGroupIdentifier: String? { facts?.subscriptionGroupIdentifier }
}
