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
    /// The offer that this customer gets now: the introductory one, or in a quote
    /// the one that was asked for. A payment shows and sends its price.
    public var offer: OfferDescription?
    /// The subscription's introductory, promotional and win-back offers, for
    /// whichever customer.
    public var offers: [OfferDescription]?
    /// Present in a quote for paying in monthly parts: the price of all of them.
    /// `price` and `subscriptionPeriod` are then those of one part.
    public var commitmentPrice: Int64?
    /// Whether it can also be paid for in monthly parts, and the price of one part.
    public var monthlyPrice: Int64?
    /// True if the customer owns the product already, so that a payment for it
    /// charges nothing. Missing otherwise.
    public var isOwned: Bool?
    /// The content that the store hosts for it. Missing if there is none.
    public var content: ContentDescription?
    /// Whether a payment for it is accepted. The product is listed in any case.
    public var isSold: Bool

    /// The price of one unit that a payment charges now: the offer's, if there is
    /// one.
    public var priceNow: Int64 { offer?.price ?? price }

    public init(
        id: String, type: String, displayName: String, description: String, price: Int64,
        currency: String, priceLocale: String, isFamilyShareable: Bool,
        subscriptionGroupIdentifier: String? = nil, subscriptionPeriod: String? = nil,
        offer: OfferDescription? = nil,
        offers: [OfferDescription]? = nil, isSold: Bool
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
        self.offer = offer
        self.offers = offers
        self.isSold = isSold
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
