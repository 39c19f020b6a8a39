// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// A product, how it is offered, and the terms if it is a subscription. An
/// operator's change makes another one of it.
struct ListedProduct: Sendable {
    var product: Product
    var listing: Listing
    /// The terms of a subscription. Nil if they are not set.
    var terms: SubscriptionTerms?

    /// Returns the draft as its realm accepts it: see
    /// ``Listing/admitted(_:isProduction:)``.
    func admitted(isProduction: Bool) -> ListedProduct {
        var draft = self
        draft.listing = listing.admitted(product, isProduction: isProduction)
        return draft
    }

    /// The most prices and storefronts of one product: more than the changes of
    /// some years in all storefronts.
    static let pricesMax = 2000
    static let localizationsMax = 100
    /// The most levels of a group, more than customers compare.
    static let levelMax = 1000

    init(row: Row) throws {
        product = try Product(row: row)
        listing = try Listing(row: row)
        terms = try SubscriptionTerms(row: row, product)
    }

    /// Makes a draft without texts or price.
    init(_ request: CreateProductRequest) throws {
        try CatalogueRules.check(productID: request.productId, "productId")
        guard let type = ProductType(rawValue: request.type) else {
            throw Refusal(
                .badRequest, code: "productTypeUnknown", "There is no such type.", field: "type",
                rule: ProductType.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "),
                remedy: "send one of them")
        }
        let isRenewed = type == .autoRenewable
        guard isRenewed || (request.groupId == nil && request.period == nil) else {
            throw Refusal(
                .badRequest, code: "notASubscription", "The product is no subscription.",
                field: request.groupId == nil ? "period" : "groupId",
                rule: "auto-renewables have a group and a period", remedy: "leave it out")
        }
        if isRenewed {
            try Edge.name(request.groupId ?? "", "groupId")
            try CatalogueRules.check(groupID: request.groupId ?? "", "groupId")
            try CatalogueRules.check(period: request.period ?? "", "period")
        }
        product = Product(
            id: ProductID(request.productId),
            kind: isRenewed
                ? .autoRenewable(groupID: request.groupId, period: request.period)
                : ProductKind(type),
            referenceName: request.productId, price: Amount(milliunits: 0), localizations: [])
        listing = Listing(state: .draft, hasBasePrice: false)
        terms = SubscriptionTerms(of: product)
    }

    /// Returns the draft with an operator's changes. Throws a refusal if a rule
    /// is broken.
    func applying(_ change: ProductChange, isNew: Bool) throws -> ListedProduct {
        var draft = self
        if let state = change.state { draft.listing.state = try Self.state(state) }
        if let price = change.price {
            _ = try Edge.price(price, "price")
            draft.listing.hasBasePrice = true
        }
        if let prices = change.prices { draft.listing.prices = try Self.prices(prices) }
        if let storefronts = change.storefronts {
            for storefront in storefronts { try Self.check(storefront: storefront) }
            try CatalogueRules.checkOnce(storefronts, "storefronts")
            draft.listing.storefronts =
                storefronts.isEmpty ? nil : Set(storefronts).sorted()
        }
        if let images = change.images {
            for image in images { try CatalogueRules.checkImageID(image) }
            try CatalogueRules.checkOnce(images, "images")
            draft.listing.images = images
        }
        if let isHosted = change.isHosted { draft.listing.isHosted = isHosted }
        if let level = change.level {
            guard (1...Self.levelMax).contains(level) else { throw Self.noLevel }
            draft.terms = try toldTerms().at(level: level)
        }
        if let words = change.localizations {
            guard words.count <= Self.localizationsMax else {
                throw Self.tooMany("localizations", Self.localizationsMax)
            }
            try CatalogueRules.checkOnce(words.map(\.locale), "localizations")
        }
        draft.product = Product(
            id: product.id, kind: product.kind,
            referenceName: change.referenceName ?? product.referenceName,
            price: change.price.map(Amount.init(milliunits:)) ?? product.price,
            isFamilyShareable: change.isFamilyShareable ?? product.isFamilyShareable,
            localizations: change.localizations?.map {
                Localization(
                    locale: $0.locale, displayName: $0.displayName, details: $0.description)
            } ?? product.localizations)
        try draft.checkShown(change)
        try CatalogueRules.check(draft.product)
        try draft.checkComplete(since: isNew ? nil : self)
        return draft
    }

    /// Checks the texts that a change brings. The others may be older than the rule.
    private func checkShown(_ change: ProductChange) throws {
        if change.referenceName != nil { try Edge.label(product.referenceName, "referenceName") }
        guard change.localizations != nil else { return }
        try CatalogueRules.checkShown(product.localizations, "localizations")
    }

    /// Throws if a product that is more than a draft cannot be shown and
    /// bought.
    private func checkComplete(since before: ListedProduct?) throws {
        let gaps = listing.newGaps(
            of: product, since: before.map { ($0.listing, $0.product) })
        guard let gap = gaps.first else { return }
        let isPrice = gap == .price
        throw Refusal(
            .conflict, code: "productIncomplete", "The product is not complete.",
            field: isPrice ? "price" : "localizations",
            rule: "what is ready or approved has a price and a name in one language",
            remedy: isPrice
                ? "give it a price (`--price 0.99`) or one in a storefront "
                    + "(`--price-in USA=0.99`), or leave it a draft (`--state draft`)"
                : "give it a name in one language (`--words en_US=Name`), or leave it a draft "
                    + "(`--state draft`)")
    }

    /// The terms of a subscription. Refusals: `notASubscription`,
    /// `termsUnknown`.
    func toldTerms() throws -> SubscriptionTerms {
        if let terms { return terms }
        guard product.type == .autoRenewable else {
            throw Refusal(
                .conflict, code: "notASubscription", "The product is not a subscription.",
                field: "productId", rule: "auto-renewables have levels and offers",
                remedy: "name one of them")
        }
        throw Refusal(
            .conflict, code: "termsUnknown",
            "The store has not read the subscription's group and period.", field: "productId",
            rule: "they come with its catalogue file, or with its making",
            remedy: "import the app's catalogue file again")
    }

    private static var noLevel: Refusal {
        Refusal(
            .badRequest, code: "levelInvalid", "This is not a level of a group.", field: "level",
            rule: "1, the highest, to \(levelMax)", remedy: "give one between them")
    }

    private static func state(_ word: String) throws -> ReviewState {
        if let state = ReviewState(rawValue: word), state != .removed { return state }
        throw Refusal(
            .badRequest, code: "stateUnknown", "A product cannot be put into this state.",
            field: "state", rule: "`draft`, `ready` or `approved`",
            remedy: "send one of them; DELETE removes a product")
    }

    private static func prices(_ prices: [ProductPrice]) throws -> [StorefrontPrice] {
        guard prices.count <= pricesMax else { throw tooMany("prices", pricesMax) }
        try CatalogueRules.checkOnce(prices, "prices", \.storefront) { price in
            [price.storefront, price.startDate.map { "\($0.milliseconds)" } ?? "always"]
        }
        return try prices.map { price in
            try check(storefront: price.storefront)
            return StorefrontPrice(
                storefront: price.storefront, amount: try Edge.price(price.price, "prices.price"),
                startsAt: price.startDate)
        }
    }

    private static func check(storefront: String) throws {
        guard Storefront.named(storefront) != nil else {
            throw CatalogueRules.unknownStorefront(field: "storefront")
        }
    }

    private static func tooMany(_ field: String, _ max: Int) -> Refusal {
        Refusal(
            .badRequest, code: "tooManyEntries", "The list is too long.", field: field,
            rule: "at most \(max) entries", remedy: "leave some out")
    }
}

/// The fields for the audit. Each price, text and offer is one of its own.
extension ListedProduct {
    var audited: AuditFields {
        let price = listing.hasBasePrice ? product.price.decimal(decimals: 2) : nil
        let first: AuditFields = [
            "state": listing.state.rawValue, "type": product.type.rawValue,
            "referenceName": product.referenceName, "price": price,
        ]
        let prices = listing.prices.map { one in
            let start = one.startsAt.map { "@\($0)" } ?? ""
            return ("price.\(one.storefront)\(start)", one.amount.decimal(decimals: 2))
        }
        let rest: AuditFields = [
            "storefronts": listing.storefronts?.joined(separator: " "),
            "isFamilyShareable": "\(product.isFamilyShareable)",
            "isHosted": "\(listing.isHosted)",
            "images": listing.images.isEmpty ? nil : listing.images.joined(separator: " "),
            "groupId": product.groupID, "period": product.period,
            "level": terms.map { "\($0.level)" },
        ]
        return AuditFields(
            first.all + prices + AuditFields.localizations(product.localizations) + rest.all
                + (terms?.auditedOffers ?? []))
    }
}

extension SubscriptionTerms {
    fileprivate var auditedOffers: [(name: String, value: String?)] {
        OfferKind.allCases.flatMap { kind in
            offers(kind).map { offer in
                (
                    "offer.\(kind.rawValue).\(offer.name(as: kind))",
                    "\(offer.mode.rawValue) \(offer.price.decimal(decimals: 2)) "
                        + "\(offer.periodCount)x\(offer.period)"
                        + (offer.referenceName.map { ", \($0)" } ?? "")
                )
            }
        }
    }
}

extension AuditFields {
    static func localizations(_ all: [Localization]) -> [(name: String, value: String?)] {
        all.flatMap { one in
            [
                ("displayName.\(one.locale)", one.displayName),
                ("description.\(one.locale)", one.details.isEmpty ? nil : one.details),
            ]
        }
    }
}
