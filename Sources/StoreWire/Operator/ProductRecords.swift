// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A product's words in one language.
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
    /// Commercial time from which it counts; always when missing.
    public var startDate: Timestamp?

    public init(storefront: String, price: Int64, startDate: Timestamp? = nil) {
        self.storefront = storefront
        self.price = price
        self.startDate = startDate
    }
}

/// A product as operators see it.
public struct ProductRecord: Hashable, Sendable, Codable {
    public var bundleId: String
    public var productId: String
    /// `consumable`, `non-consumable`, `auto-renewable` or `non-renewing`.
    public var type: String
    /// `draft`, `ready`, `approved` or `removed`.
    public var state: String
    /// Whether its file names it no more.
    public var isWithdrawn: Bool
    /// The merchant's own label.
    public var referenceName: String
    /// Thousandths; missing where only storefronts have prices.
    public var price: Int64?
    public var prices: [ProductPrice]
    /// Where it is sold; everywhere when missing.
    public var storefronts: [String]?
    public var localizations: [ProductWords]
    public var isFamilyShareable: Bool
    /// Whether the store is to hold content for it.
    public var isHosted: Bool
    public var images: [String]
    public var groupId: String?
    /// ISO 8601, of a subscription.
    public var period: String?
    /// Of a subscription in its group: from 1, the highest.
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
    /// Goes into the next question's `after`; missing on the last page.
    public var next: String?

    public init(products: [ProductRecord], next: String?) {
        self.products = products
        self.next = next
    }
}

/// What an operator says of a product; what is missing stays as it is.
/// Lists are replaced whole.
public struct ProductChange: Hashable, Sendable, Codable {
    public var referenceName: String?
    public var price: Int64?
    public var prices: [ProductPrice]?
    /// Where it is sold; an empty list is everywhere.
    public var storefronts: [String]?
    public var localizations: [ProductWords]?
    public var isFamilyShareable: Bool?
    public var isHosted: Bool?
    public var images: [String]?
    /// `draft`, `ready` or `approved`.
    public var state: String?
    /// Of a subscription in its group: from 1, the highest.
    public var level: Int?

    public init() {}
}

/// Asks for a new product: a draft, unless its state says otherwise.
public struct CreateProductRequest: Hashable, Sendable, Codable {
    /// 1 to 100 letters, digits, `-`, `.` and `_`; never given again.
    public var productId: String
    public var type: String
    /// The subscription group's id, of an auto-renewable.
    public var groupId: String?
    /// ISO 8601, of an auto-renewable.
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

/// Why a device of a storefront gets a product, or does not.
public struct ProductAnswer: Hashable, Sendable, Codable {
    public var bundleId: String
    public var productId: String
    public var storefront: String
    /// `sold`, or the first reason why not: `unknown`, `otherApp`, `removed`,
    /// `withdrawn`, `draft`, `notApproved`, `awaitsVersion`,
    /// `purchasesNotEnabled`, `noPriceHere`, `notSoldYet`.
    public var answer: String
    /// The same as a sentence.
    public var message: String
    /// Thousandths; where there is a price.
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
