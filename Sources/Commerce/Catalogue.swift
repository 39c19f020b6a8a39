// SPDX-License-Identifier: Apache-2.0

/// How a product may be bought and how long it lasts.
public enum ProductType: String, Sendable, CaseIterable {
    case consumable = "consumable"
    case nonConsumable = "non-consumable"
    case autoRenewable = "auto-renewable"
    case nonRenewing = "non-renewing"
}

/// A product's type, with what belongs to products of that type alone.
public enum ProductKind: Hashable, Sendable {
    case consumable
    case nonConsumable
    /// `groupID` is the subscription group's id. `period` is the length of one
    /// period as an ISO 8601 duration. A file may lack either.
    case autoRenewable(groupID: String?, period: String?)
    case nonRenewing

    /// A product of a type about which nothing else is known.
    public init(_ type: ProductType) {
        self =
            switch type {
            case .consumable: .consumable
            case .nonConsumable: .nonConsumable
            case .autoRenewable: .autoRenewable(groupID: nil, period: nil)
            case .nonRenewing: .nonRenewing
            }
    }

    public var type: ProductType {
        switch self {
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        case .autoRenewable: .autoRenewable
        case .nonRenewing: .nonRenewing
        }
    }
}

/// The texts of a product in one language.
public struct Localization: Hashable, Sendable {
    /// An identifier with underscores: `en_US`, `zh_Hans`, `ja`.
    public let locale: String
    public let displayName: String
    public let details: String

    public init(locale: String, displayName: String, details: String) {
        self.locale = locale
        self.displayName = displayName
        self.details = details
    }
}

/// Something an app sells.
public struct Product: Hashable, Sendable {
    public let id: ProductID
    public let kind: ProductKind
    /// The merchant's own label. Customers never see it.
    public let referenceName: String
    /// The price in every storefront: the same number in each currency, as in
    /// Xcode's local store.
    public let price: Amount
    public let isFamilyShareable: Bool
    public let localizations: [Localization]

    public init(
        id: ProductID, kind: ProductKind, referenceName: String, price: Amount,
        isFamilyShareable: Bool = false, localizations: [Localization]
    ) {
        self.id = id
        self.kind = kind
        self.referenceName = referenceName
        self.price = price
        self.isFamilyShareable = isFamilyShareable
        self.localizations = localizations
    }

    public var type: ProductType { kind.type }

    /// The subscription group's id. Nil for products that are not renewed.
    public var groupID: String? {
        if case .autoRenewable(let groupID, _) = kind { groupID } else { nil }
    }

    /// The length of one period as an ISO 8601 duration. Nil for products that
    /// are not renewed.
    public var period: String? {
        if case .autoRenewable(_, let period) = kind { period } else { nil }
    }

    /// Returns the texts for `locale`: those of that locale, otherwise of its
    /// language, otherwise `en_US`, otherwise the first.
    public func localization(for locale: String) -> Localization? {
        let language = locale.prefix { $0 != "_" }
        return localizations.first { $0.locale == locale }
            ?? localizations.first { $0.locale.prefix { $0 != "_" } == language }
            ?? localizations.first { $0.locale == "en_US" }
            ?? localizations.first
    }
}

/// A country with its currency.
public struct Storefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3: `USA`.
    public let countryCode: String
    /// ISO 3166-1 alpha-2: `US`.
    public let region: String
    /// Apple's number of the storefront. Nil if it is not publicly known.
    public let id: String?
    public let currency: Currency

    public init(countryCode: String, region: String, id: String?, currency: Currency) {
        self.countryCode = countryCode
        self.region = region
        self.id = id
        self.currency = currency
    }
}

/// The products of an app, with the storefront and locale that its file sets.
public struct Catalogue: Hashable, Sendable {
    public var products: [Product]
    /// The storefront of customers that are created without one, alpha-3.
    public var storefront: String
    /// The locale in which texts are chosen.
    public var locale: String
    /// The app's number, if the file contains it.
    public var appID: Int64?
    /// Products without a price of their own. Their ``Product/price`` is 0, and
    /// they cannot be bought at it.
    public var unpriced: Set<ProductID>

    public init(
        products: [Product], storefront: String, locale: String, appID: Int64? = nil,
        unpriced: Set<ProductID> = []
    ) {
        self.products = products
        self.storefront = storefront
        self.locale = locale
        self.appID = appID
        self.unpriced = unpriced
    }
}
