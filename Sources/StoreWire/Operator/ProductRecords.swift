// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The texts of a product in one language.
public struct ProductWords: Hashable, Sendable, Codable {
    /// `en_US`, `ja`, `zh_Hans`.
    public var locale: String
    public var displayName: String
    public var description: String

    public init(locale: String, displayName: String, description: String) {
        self.locale = locale
        self.displayName = displayName
        self.description = description
    }
}

/// A product's price in one storefront.
public struct ProductPrice: Hashable, Sendable, Codable {
    /// Alpha-3 country code.
    public var storefront: String
    /// Thousandths of the currency's unit.
    public var price: Int64
    /// The commercial time from which it applies. Always if missing.
    public var startDate: Timestamp?

    public init(storefront: String, price: Int64, startDate: Timestamp? = nil) {
        self.storefront = storefront
        self.price = price
        self.startDate = startDate
    }
}

/// A product, as operators see it.
public struct ProductRecord: Hashable, Sendable, Codable {
    public var bundleId: String
    public var productId: String
    /// `consumable`, `non-consumable`, `auto-renewable` or `non-renewing`.
    public var type: String
    /// `draft`, `ready`, `approved` or `removed`.
    public var state: String
    /// Whether its file no longer contains it.
    public var isWithdrawn: Bool
    /// The merchant's own label.
    public var referenceName: String
    /// Thousandths. Missing if only storefronts have prices.
    public var price: Int64?
    public var prices: [ProductPrice]
    /// The storefronts that sell it. All if missing.
    public var storefronts: [String]?
    public var localizations: [ProductWords]
    public var isFamilyShareable: Bool
    /// Whether the store is to host content for it.
    public var isHosted: Bool
    public var images: [String]
    public var groupId: String?
    /// ISO 8601. Only for subscriptions.
    public var period: String?
    /// A subscription's level in its group: from 1, the highest.
    public var level: Int?

    public init(
        bundleId: String, productId: String, type: String, state: String, isWithdrawn: Bool,
        referenceName: String, price: Int64?, prices: [ProductPrice], storefronts: [String]?,
        localizations: [ProductWords], isFamilyShareable: Bool, isHosted: Bool,
        images: [String], groupId: String?, period: String?, level: Int? = nil
    ) {
        self.bundleId = bundleId
        self.productId = productId
        self.type = type
        self.state = state
        self.isWithdrawn = isWithdrawn
        self.referenceName = referenceName
        self.price = price
        self.prices = prices
        self.storefronts = storefronts
        self.localizations = localizations
        self.isFamilyShareable = isFamilyShareable
        self.isHosted = isHosted
        self.images = images
        self.groupId = groupId
        self.period = period
        self.level = level
    }
}

/// One page of an app's products, by id.
public struct ProductRecords: Hashable, Sendable, Codable {
    public var products: [ProductRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(products: [ProductRecord], next: String?) {
        self.products = products
        self.next = next
    }
}

/// An operator's change of a product. A missing field stays unchanged. Lists
/// are replaced as a whole.
public struct ProductChange: Hashable, Sendable, Codable {
    public var referenceName: String?
    public var price: Int64?
    public var prices: [ProductPrice]?
    /// The storefronts that sell it. An empty list means all.
    public var storefronts: [String]?
    public var localizations: [ProductWords]?
    public var isFamilyShareable: Bool?
    public var isHosted: Bool?
    public var images: [String]?
    /// `draft`, `ready` or `approved`.
    public var state: String?
    /// A subscription's level in its group: from 1, the highest.
    public var level: Int?

    public init() {}
}

/// Requests a new product. It is a draft unless `state` has another value.
public struct CreateProductRequest: Hashable, Sendable, Codable {
    /// 1 to 100 letters, digits, `-`, `.` and `_`. An id is never reused.
    public var productId: String
    public var type: String
    /// The subscription group's id, for an auto-renewable.
    public var groupId: String?
    /// ISO 8601, for an auto-renewable.
    public var period: String?
    public var details: ProductChange?

    public init(
        productId: String, type: String, groupId: String? = nil, period: String? = nil,
        details: ProductChange? = nil
    ) {
        self.productId = productId
        self.type = type
        self.groupId = groupId
        self.period = period
        self.details = details
    }
}

/// Whether a device in a storefront is offered a product, and why not.
public struct ProductAnswer: Hashable, Sendable, Codable {
    public var bundleId: String
    public var productId: String
    public var storefront: String
    /// `sold`, or the first reason why it is not: `unknown`, `otherApp`,
    /// `removed`, `withdrawn`, `draft`, `notApproved`, `awaitsVersion`,
    /// `purchasesNotEnabled`, `noPriceHere`, `notSoldYet`.
    public var answer: String
    /// The answer as a sentence.
    public var message: String
    /// Thousandths, if there is a price.
    public var price: Int64?
    public var currency: String?

    public init(
        bundleId: String, productId: String, storefront: String, answer: String,
        message: String, price: Int64? = nil, currency: String? = nil
    ) {
        self.bundleId = bundleId
        self.productId = productId
        self.storefront = storefront
        self.answer = answer
        self.message = message
        self.price = price
        self.currency = currency
    }
}
