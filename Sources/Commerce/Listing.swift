// SPDX-License-Identifier: Apache-2.0

/// The state of a product between being written and being sold.
public enum ReviewState: String, Sendable, CaseIterable {
    /// Being written. No customer can see it.
    case draft
    /// Complete. Sandboxes sell it.
    case ready
    /// Approved. Production sells it too.
    case approved
    /// Never sold again. Its id cannot be reused.
    case removed

    /// Whether any realm sells a product in this state.
    public var isOffered: Bool { self == .ready || self == .approved }
}

/// What a product lacks and must have before it is offered.
public enum ListingGap: String, Hashable, Sendable, CaseIterable {
    /// It has neither a price of its own nor one in a storefront.
    case price
    /// It has no name in any language.
    case name
}

/// A product's price in one storefront from an instant on.
public struct StorefrontPrice: Hashable, Sendable {
    /// Alpha-3 country code.
    public let storefront: String
    public let amount: Amount
    /// Commercial time. Nil means always.
    public let startsAt: Timestamp?

    public init(storefront: String, amount: Amount, startsAt: Timestamp? = nil) {
        self.storefront = storefront
        self.amount = amount
        self.startsAt = startsAt
    }
}

/// How, where and at which price a product is offered, as far as a catalogue
/// file cannot express it.
public struct Listing: Hashable, Sendable {
    public var state: ReviewState
    /// Its file no longer contains it. It is not sold, but it is kept.
    public var isWithdrawn: Bool
    /// Whether the product's own price applies where there is no other price.
    public var hasBasePrice: Bool
    public var prices: [StorefrontPrice]
    /// Alpha-3 codes of the storefronts that sell it. Nil means all.
    public var storefronts: [String]?
    /// Whether the store is to host content for it.
    public var isHosted: Bool
    /// Ids of the app's images that show the product.
    public var images: [String]
    /// Whether it is a subscription that costs nothing.
    public var isFree: Bool

    public init(
        state: ReviewState = .approved, isWithdrawn: Bool = false, hasBasePrice: Bool = true,
        prices: [StorefrontPrice] = [], storefronts: [String]? = nil, isHosted: Bool = false,
        images: [String] = [], isFree: Bool = false
    ) {
        self.state = state
        self.isWithdrawn = isWithdrawn
        self.hasBasePrice = hasBasePrice
        self.prices = prices
        self.storefronts = storefronts
        self.isHosted = isHosted
        self.images = images
        self.isFree = isFree
    }

    /// Returns what the product lacks. This is the only rule of completeness,
    /// for files, overlays, backups and operators.
    public func gaps(of product: Product) -> [ListingGap] {
        let hasPrice = hasBasePrice || !prices.isEmpty || isFree
        let hasName = product.localizations.contains { !$0.displayName.isEmpty }
        return (hasPrice ? [] : [.price]) + (hasName ? [] : [.name])
    }

    /// Returns the listing as a realm accepts it from a file, an overlay or a
    /// backup. Production turns an incomplete product into a draft. A sandbox
    /// offers what a file contains. Nowhere is a product sold without a price.
    public func admitted(_ product: Product, isProduction: Bool) -> Listing {
        guard isProduction, state.isOffered, !gaps(of: product).isEmpty else { return self }
        var draft = self
        draft.state = .draft
        return draft
    }

    /// Returns the gaps that a change would add to an offered product. An
    /// incomplete product that a sandbox offers can otherwise be changed.
    public func newGaps(
        of product: Product, since before: (listing: Listing, product: Product)?
    ) -> [ListingGap] {
        guard state.isOffered else { return [] }
        let known = before.flatMap { $0.listing.state.isOffered ? $0 : nil }
        let old = known.map { $0.listing.gaps(of: $0.product) } ?? []
        return gaps(of: product).filter { !old.contains($0) }
    }

    /// Returns the price in a storefront at an instant: the storefront's price
    /// that started last, otherwise `base`, and 0 for a free subscription. Nil if
    /// the product is not sold there.
    public func price(base: Amount, in storefront: String, at now: Timestamp) -> Amount? {
        if let storefronts, !storefronts.contains(storefront) { return nil }
        if isFree { return Amount(milliunits: 0) }
        let started = prices.filter { price in
            price.storefront == storefront && price.startsAt.map { $0 <= now } ?? true
        }
        let beginning = Timestamp(milliseconds: .min)
        let latest = started.max { ($0.startsAt ?? beginning) < ($1.startsAt ?? beginning) }
        return latest?.amount ?? (hasBasePrice ? base : nil)
    }
}

/// Whether a device is offered a product, and why not. The cases are in order
/// of precedence: the first one that applies is the answer.
public enum Offering: Hashable, Sendable {
    case unknown
    case removed
    case withdrawn
    case draft
    /// Only ready, which is enough in a sandbox but not in production.
    case notApproved
    /// Approved, but it is the app's first product and its version is not live.
    /// Production only.
    case awaitsVersion
    case purchasesNotEnabled
    /// Not sold in this storefront, or has no price there yet.
    case noPriceHere
    case offered(Amount)

    /// Returns what a device in `storefront` is offered for a product with this
    /// listing.
    public static func of(
        _ product: Product, _ listing: Listing, in storefront: String, at now: Timestamp,
        isProduction: Bool, arePurchasesEnabled: Bool, release: AppRelease = .sold
    ) -> Offering {
        if listing.state == .removed { return .removed }
        if listing.isWithdrawn { return .withdrawn }
        if listing.state == .draft { return .draft }
        if listing.state == .ready, isProduction { return .notApproved }
        if isProduction, !release.admits(product.id) { return .awaitsVersion }
        guard arePurchasesEnabled else { return .purchasesNotEnabled }
        guard let price = listing.price(base: product.price, in: storefront, at: now) else {
            return .noPriceHere
        }
        return .offered(price)
    }
}

extension Product {
    /// Returns the product with another price.
    public func priced(_ price: Amount) -> Product {
        Product(
            id: id, kind: kind, referenceName: referenceName, price: price,
            isFamilyShareable: isFamilyShareable, localizations: localizations)
    }
}
