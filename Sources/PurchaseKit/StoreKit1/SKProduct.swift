// SPDX-License-Identifier: Apache-2.0

public import Foundation
import StoreWire

/// A product as the store describes it to this customer.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproduct)
open class SKProduct: NSObject, @unchecked Sendable {
    private let facts: ProductDescription?

    /// An empty product, for subclasses in tests.
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
    /// For one, in the currency of ``priceLocale``. Exact.
    open var price: NSDecimalNumber {
        NSDecimalNumber(
            mantissa: UInt64(max(0, facts?.price ?? 0)), exponent: -3, isNegative: false)
    }
    /// Knows the currency, so that `NumberFormatter` shows the price right.
    open var priceLocale: Locale { Locale(identifier: facts?.priceLocale ?? "en_US") }
    open var productIdentifier: String { facts?.id ?? "" }
    open var isFamilyShareable: Bool { facts?.isFamilyShareable ?? false }
    /// Nil unless it is an auto-renewable subscription.
    open var subscriptionGroupIdentifier: String? { facts?.subscriptionGroupIdentifier }
}
