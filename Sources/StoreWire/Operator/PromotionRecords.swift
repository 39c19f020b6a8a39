// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A promoted product, for operators.
public struct PromotionRecord: Hashable, Sendable, Codable {
    public var bundleId: String
    public var productId: String
    /// From 1, in the store's own order.
    public var position: Int
    /// `show`, or `hide`: only devices that show it explicitly.
    public var visibility: String
    /// `image/png` or `image/jpeg`.
    public var imageType: String
    /// In bytes.
    public var imageLength: Int64
    /// In 64 lower-case hexadecimal digits.
    public var imageSha256: String
    /// When the picture or the visibility changed last, in wall time.
    public var changedDate: Timestamp

    public init(
        bundleId: String, productId: String, position: Int, visibility: String,
        imageType: String, imageLength: Int64, imageSha256: String, changedDate: Timestamp
    ) {
        self.bundleId = bundleId
        self.productId = productId
        self.position = position
        self.visibility = visibility
        self.imageType = imageType
        self.imageLength = imageLength
        self.imageSha256 = imageSha256
        self.changedDate = changedDate
    }
}

public struct PromotionRecords: Hashable, Sendable, Codable {
    /// In the store's own order.
    public var promotions: [PromotionRecord]

    public init(promotions: [PromotionRecord]) { self.promotions = promotions }
}

/// Arranges promoted products.
public struct OrderPromotionsRequest: Hashable, Sendable, Codable {
    /// The products that come first. The rest follow in their present order.
    public var products: [String]

    public init(products: [String]) { self.products = products }
}
