// SPDX-License-Identifier: Apache-2.0

/// Rules of promoted products.
public enum Promotion {
    /// The most promoted products of an app, which is the limit of Apple's store.
    public static let productsMax = 20
    /// The most products in a device's own order.
    public static let orderMax = 100
}

/// A promoted product, as the store's operators arranged it.
public struct PromotedProduct: Hashable, Sendable {
    public let productID: ProductID
    /// Whether customers see it whose device has no visibility of its own.
    public let isShown: Bool

    public init(productID: ProductID, isShown: Bool) {
        self.productID = productID
        self.isShown = isShown
    }
}

/// What an app has changed on one device about its promoted products.
public struct PromotionOverride: Hashable, Sendable {
    /// The products that come first. Empty without an order of the device's own.
    public var order: [ProductID]
    /// Whether a product is shown. A product that is missing is shown as the store's
    /// operators decided.
    public var isShown: [ProductID: Bool]

    public init(order: [ProductID] = [], isShown: [ProductID: Bool] = [:]) {
        self.order = order
        self.isShown = isShown
    }

    /// Returns the products that the device's customer sees, in order: first those of
    /// the device's order, then the rest in the store's order.
    public func arranged(_ promoted: [PromotedProduct]) -> [ProductID] {
        let known = Set(promoted.map(\.productID))
        let first = order.filter(known.contains)
        let listed = Set(first)
        let all = first + promoted.map(\.productID).filter { !listed.contains($0) }
        let shown = Set(
            promoted.filter { isShown[$0.productID] ?? $0.isShown }.map(\.productID))
        return all.filter(shown.contains)
    }
}
