// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation
import StoreWire

/// A product, as the store describes it to this customer.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproduct)
open class SKProduct: NSObject, @unchecked Sendable {
    private var facts: ProductDescription?
    private let given = SetValues()

    /// Makes an empty product, for subclasses in tests.
    public override init() {
        super.init()
    }

    convenience init(description: ProductDescription) {
        self.init()
        facts = description
    }

    /// In the storefront's language.
    open var localizedDescription: String {
        given.value("localizedDescription") ?? facts?.description ?? ""
    }
    /// In the storefront's language.
    open var localizedTitle: String { given.value("localizedTitle") ?? facts?.displayName ?? "" }
    /// The exact price of one unit, in the currency of ``priceLocale``.
    open var price: NSDecimalNumber {
        given.value("price") ?? NSDecimalNumber(milliunits: facts?.price ?? 0)
    }
    /// Contains the currency, so that `NumberFormatter` formats the price
    /// correctly.
    open var priceLocale: Locale {
        given.value("priceLocale") ?? Locale(identifier: facts?.priceLocale ?? "en_US")
    }
    open var productIdentifier: String { given.value("productIdentifier") ?? facts?.id ?? "" }
    /// Whether the store hosts content for it.
    open var isDownloadable: Bool { given.value("isDownloadable") ?? (facts?.content != nil) }
    /// In bytes, one for each download.
    open var downloadContentLengths: [NSNumber] {
        given.value("downloadContentLengths")
            ?? facts?.content.map { [NSNumber(value: $0.length)] } ?? []
    }
    /// Of the newest content. Empty if there is none.
    open var downloadContentVersion: String {
        given.value("downloadContentVersion") ?? facts?.content?.version ?? ""
    }
    /// The older name of ``downloadContentVersion``.
    open var contentVersion: String { given.value("contentVersion") ?? downloadContentVersion }
    open var isFamilyShareable: Bool {
        given.value("isFamilyShareable") ?? facts?.isFamilyShareable ?? false
    }
    /// Nil unless the product is an auto-renewable subscription.
    open var subscriptionGroupIdentifier: String? {
        given.optional("subscriptionGroupIdentifier") ?? facts?.subscriptionGroupIdentifier
    }
    /// Nil unless the product is an auto-renewable subscription.
    open var subscriptionPeriod: SKProductSubscriptionPeriod? {
        given.optional("subscriptionPeriod")
            ?? facts?.subscriptionPeriod.flatMap { Period(iso8601: $0) }
            .map(SKProductSubscriptionPeriod.init)
    }
    /// The subscription's introductory offer, for whichever customer. Nil if it has
    /// none.
    open var introductoryPrice: SKProductDiscount? {
        given.optional("introductoryPrice") ?? offers("introductory").first
    }
    /// The subscription's promotional offers. The introductory one is in
    /// ``introductoryPrice``.
    open var discounts: [SKProductDiscount] { given.value("discounts") ?? offers("promotional") }

    /// Fills a product in a test. The keys are the names of the properties.
    open func setValue(_ value: Any?, forKey key: String) {
        given.set(value, key, keys: Self.keys)
    }

    private static let keys: Set = [
        "localizedDescription", "localizedTitle", "price", "priceLocale", "productIdentifier",
        "isDownloadable", "downloadContentLengths", "downloadContentVersion", "contentVersion",
        "isFamilyShareable", "subscriptionGroupIdentifier", "subscriptionPeriod",
        "introductoryPrice", "discounts",
    ]

    private func offers(_ kind: String) -> [SKProductDiscount] {
        (facts?.offers ?? []).filter { $0.kind == kind }
            .map { SKProductDiscount($0, priceLocale: facts?.priceLocale ?? "en_US") }
    }
}
