// SPDX-License-Identifier: Apache-2.0

/// Where a product stands between being written and being sold.
public enum ReviewState: String, Sendable, CaseIterable {
    /// Being written: nobody gets it.
    case draft
    /// Complete: sandboxes sell it.
    case ready
    /// Production sells it too.
    case approved
    /// Never sold again; its id is spent.
    case removed

    /// Whether some realm sells a product in this state.
    public var isOffered: Bool { self == .ready || self == .approved }
}

/// What a product must have before it is offered, and lacks.
public enum ListingGap: String, Hashable, Sendable, CaseIterable {
    /// Neither a price of its own nor one in a storefront.
    case price
    /// No name in any language.
    case name
}

/// A product's price in one storefront, from an instant on.
public struct StorefrontPrice: Hashable, Sendable {
    /// Alpha-3 country code.
    public let storefront: String
    public let amount: Amount
    /// Commercial time; nil: always.
    public let startsAt: Timestamp?

    public init(storefront: String, amount: Amount, startsAt: Timestamp? = nil) {
        self.storefront = storefront
        self.amount = amount
        self.startsAt = startsAt
    }
}

/// How, where and for how much a product is offered: what a catalogue file
/// cannot say of it.
public struct Listing: Hashable, Sendable {
    public var state: ReviewState
    /// Vanished from its file: not sold, and not forgotten.
    public var isWithdrawn: Bool
    /// Whether the product's own price counts where no other one does.
    public var hasBasePrice: Bool
    public var prices: [StorefrontPrice]
    /// Alpha-3 codes of where it is sold; nil: everywhere.
    public var storefronts: [String]?
    /// Whether the store is to hold content for it.
    public var isHosted: Bool
    /// Ids of the app's images that show it.
    public var images: [String]
    /// A subscription that costs nothing.
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

    /// What the product lacks: the one rule of completeness, for files,
    /// overlays, backups and operators alike.
    public func gaps(of product: Product) -> [ListingGap] {
        let hasPrice = hasBasePrice || !prices.isEmpty
        let hasName = product.localizations.contains { !$0.displayName.isEmpty }
        return (hasPrice ? [] : [.price]) + (hasName ? [] : [.name])
    }

    /// The listing as a realm takes it from a file, an overlay or a backup:
    /// production takes what is not complete as a draft. A sandbox offers what
    /// a file has; without a price a product is sold nowhere.
    public func admitted(_ product: Product, isProduction: Bool) -> Listing {
        guard isProduction, state.isOffered, !gaps(of: product).isEmpty else { return self }
        var draft = self
        draft.state = .draft
        return draft
    }

    /// What a change would put on offer with gaps that were not there before.
    /// A product that a sandbox offers with gaps can be changed in all else.
    public func newGaps(
        of product: Product, since before: (listing: Listing, product: Product)?
    ) -> [ListingGap] {
        guard state.isOffered else { return [] }
        let known = before.flatMap { $0.listing.state.isOffered ? $0 : nil }
        let old = known.map { $0.listing.gaps(of: $0.product) } ?? []
        return gaps(of: product).filter { !old.contains($0) }
    }

    /// The price in a storefront at an instant: the one there that started
    /// last, else `base`; nil where it is not sold.
    public func price(base: Amount, in storefront: String, at now: Timestamp) -> Amount? {
        if let storefronts, !storefronts.contains(storefront) { return nil }
        let started = prices.filter { price in
            price.storefront == storefront && price.startsAt.map { $0 <= now } ?? true
        }
        let beginning = Timestamp(milliseconds: .min)
        let latest = started.max { ($0.startsAt ?? beginning) < ($1.startsAt ?? beginning) }
        return latest?.amount ?? (hasBasePrice ? base : nil)
    }
}

/// Why a device gets a product, or does not. Cases stand in order of
/// precedence: the first that applies is the answer.
public enum Offering: Hashable, Sendable {
    case unknown
    case removed
    case withdrawn
    case draft
    /// Ready, which is enough for a sandbox only.
    case notApproved
    /// Approved, the app's first, and its version is not live: production only.
    case awaitsVersion
    case purchasesNotEnabled
    /// Not sold in this storefront, or without a price there yet.
    case noPriceHere
    case offered(Amount)

    /// What a device of `storefront` gets of a product listed so.
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
    /// The same product at another price.
    public func priced(_ price: Amount) -> Product {
        Product(
            id: id, type: type, referenceName: referenceName, price: price,
            isFamilyShareable: isFamilyShareable, localizations: localizations,
            groupID: groupID, period: period)
    }
}
