// SPDX-License-Identifier: Apache-2.0

/// Requests products by id.
public struct ProductsRequest: Hashable, Sendable, Codable {
    /// The most ids in one request.
    public static let idsMax = 1000

    public var ids: [String]

    public init(ids: [String]) {
        self.ids = ids
    }
}

public struct ProductsResponse: Hashable, Sendable, Codable {
    public var products: [ProductDescription]
    /// Ids without a product, each with its reason.
    public var invalid: [InvalidProduct]
    public var storefront: StorefrontDescription
    /// The current value of ``SignInResponse/disablesDialogs``.
    public var disablesDialogs: Bool?

    public init(
        products: [ProductDescription], invalid: [InvalidProduct],
        storefront: StorefrontDescription, disablesDialogs: Bool? = nil
    ) {
        self.products = products
        self.invalid = invalid
        self.storefront = storefront
        self.disablesDialogs = disablesDialogs
    }
}

public struct ProductDescription: Hashable, Sendable, Codable {
    public var id: String
    /// Apple's names: `Consumable`, `Non-Consumable`, …
    public var type: String
    public var displayName: String
    public var description: String
    /// The price of one unit, in thousandths of the currency's unit.
    public var price: Int64
    public var currency: String
    /// The identifier for formatting the price: the language of the texts, the
    /// region of the storefront and its currency: `en_US@currency=USD`.
    public var priceLocale: String
    public var isFamilyShareable: Bool
    public var subscriptionGroupIdentifier: String?
    /// ISO 8601 duration.
    public var subscriptionPeriod: String?
    /// The introductory offer that this customer gets. Missing for customers who
    /// are not eligible. A payment shows and sends its price.
    public var introductoryOffer: OfferDescription?
    /// Whether a payment for it is accepted. The product is listed in any case.
    public var isSold: Bool

    /// The price of one unit that a payment charges now: the introductory
    /// offer's, if there is one.
    public var priceNow: Int64 { introductoryOffer?.price ?? price }

    public init(
        id: String, type: String, displayName: String, description: String, price: Int64,
        currency: String, priceLocale: String, isFamilyShareable: Bool,
        subscriptionGroupIdentifier: String? = nil, subscriptionPeriod: String? = nil,
        introductoryOffer: OfferDescription? = nil, isSold: Bool
    ) {
        self.id = id
        self.type = type
        self.displayName = displayName
        self.description = description
        self.price = price
        self.currency = currency
        self.priceLocale = priceLocale
        self.isFamilyShareable = isFamilyShareable
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.subscriptionPeriod = subscriptionPeriod
        self.introductoryOffer = introductoryOffer
        self.isSold = isSold
    }
}

/// A lower price for a subscription's first periods.
public struct OfferDescription: Hashable, Sendable, Codable {
    /// `free`, `payUpFront` or `payAsYouGo`.
    public var paymentMode: String
    /// The length of one period with the offer, an ISO 8601 duration.
    public var period: String
    /// The number of periods.
    public var periodCount: Int
    /// The price of one charge, in thousandths of the currency's unit.
    public var price: Int64

    public init(paymentMode: String, period: String, periodCount: Int, price: Int64) {
        self.paymentMode = paymentMode
        self.period = period
        self.periodCount = periodCount
        self.price = price
    }
}

public struct InvalidProduct: Hashable, Sendable, Codable {
    public var id: String
    /// One sentence for the developer's log.
    public var reason: String

    public init(id: String, reason: String) {
        self.id = id
        self.reason = reason
    }
}
