// SPDX-License-Identifier: Apache-2.0

/// Asks for products by id.
public struct ProductsRequest: Hashable, Sendable, Codable {
    /// How many one request may name.
    public static let idsMax = 1000

    public var ids: [String]

    public init(ids: [String]) {
        self.ids = ids
    }
}

public struct ProductsResponse: Hashable, Sendable, Codable {
    public var products: [ProductDescription]
    /// Ids for which there is no product here, each with its reason.
    public var invalid: [InvalidProduct]
    public var storefront: StorefrontDescription
    /// As in ``SignInResponse/disablesDialogs``, as of now.
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
    /// Apple's words: `Consumable`, `Non-Consumable`, …
    public var type: String
    public var displayName: String
    public var description: String
    /// Thousandths of the currency's unit, for one.
    public var price: Int64
    public var currency: String
    /// Identifier for formatting the price: language of the words, region of
    /// the storefront, its currency: `en_US@currency=USD`.
    public var priceLocale: String
    public var isFamilyShareable: Bool
    public var subscriptionGroupIdentifier: String?
    /// ISO 8601 duration.
    public var subscriptionPeriod: String?
    /// Whether a payment for it would be taken; listed all the same when not.
    public var isSold: Bool

    public init(
        id: String, type: String, displayName: String, description: String, price: Int64,
        currency: String, priceLocale: String, isFamilyShareable: Bool,
        subscriptionGroupIdentifier: String? = nil, subscriptionPeriod: String? = nil,
        isSold: Bool
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
