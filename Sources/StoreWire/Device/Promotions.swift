// SPDX-License-Identifier: Apache-2.0

/// What an app has changed on one device about its promoted products.
public struct PromotionOverrides: Hashable, Sendable, Codable {
    /// The products that come first. Empty without an order of the device's own.
    public var order: [String]
    /// The products whose visibility differs from the store's.
    public var visibilities: [PromotionVisibility]

    public init(order: [String], visibilities: [PromotionVisibility]) {
        self.order = order
        self.visibilities = visibilities
    }
}

/// Whether a device shows a promoted product.
public struct PromotionVisibility: Hashable, Sendable, Codable {
    public var productId: String
    /// `default`, `show` or `hide`.
    public var visibility: String

    public init(productId: String, visibility: String) {
        self.productId = productId
        self.visibility = visibility
    }
}

/// Replaces a device's own order of promoted products.
public struct PromotionOrderRequest: Hashable, Sendable, Codable {
    /// The products that come first. Empty for the store's order.
    public var products: [String]

    public init(products: [String]) { self.products = products }
}
