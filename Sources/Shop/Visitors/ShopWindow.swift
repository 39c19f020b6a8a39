// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage
public import StoreWire

/// What the store's pages show of its apps: names, and what is sold in a storefront.
public struct ShopWindow: Sendable {
    public let apps: [ShopWindowApp]
    /// Commercial time.
    public let now: Timestamp

    public func app(_ bundleID: String) -> ShopWindowApp? {
        apps.first { $0.bundleID == bundleID }
    }
}

/// An app as a visitor sees it.
public struct ShopWindowApp: Sendable {
    public let bundleID: String
    public let name: String
    /// What it is. Nil if no operator has written it.
    public let details: String?
    /// The id of the image that is its icon.
    public let icon: String?
    /// What it costs, in words, and where customers get it.
    public let ownPrice: String?
    public let url: String?
    /// The position among the featured apps. Nil for others.
    public let featured: Int64?
    public let storefront: Storefront
    /// The locale of its texts, without a visitor's wish.
    public let locale: String
    /// What is offered in the storefront, in the order of the catalogue.
    public let products: [ShopWindowProduct]
    /// The names of all that it sells or has sold, by product id.
    public let names: [String: String]
}

/// A product as a visitor sees it.
public struct ShopWindowProduct: Sendable {
    public let id: String
    public let type: ProductType
    public let groupID: String?
    /// ISO 8601. Nil for what is not renewed.
    public let period: String?
    public let name: String
    public let details: String
    /// The locale of the texts.
    public let locale: String
    public let price: Money
    public let isFamilyShareable: Bool
    /// The ids of its images.
    public let images: [String]
}

extension VisitorRoom {
    /// Returns the promoted products of an app that a visitor sees, in order: as the
    /// visitor's last used device has it, or without a visitor as the store has it.
    /// Refusals: `textInvalid`, `bundleIdUnknown`.
    public func promoted(in bundleID: String, _ visitor: Visitor?) async throws -> [String] {
        try await realm.promotions.shown(bundleID: bundleID, customer: visitor?.id)
            .map(\.productId)
    }

    /// Chooses a product outside of its app, which decides what follows. Refusals: those of
    /// ``PromotionRoom/choose(_:customer:isAudited:_:)``.
    public func choose(
        _ product: String, in bundleID: String, _ visitor: Visitor, _ context: RequestContext
    ) async throws -> PurchaseIntentRecord {
        try await realm.promotions.choose(
            ChoosePromotionRequest(bundleId: bundleID, productId: product),
            customer: visitor.id, context
        ).record
    }

    /// Returns what has become of a choice. Refusals: `uuidInvalid`, `intentUnknown`.
    public func choice(_ id: String, _ visitor: Visitor) async throws -> PurchaseIntentRecord {
        try await realm.promotions.intent(id, customer: visitor.id)
    }
}

extension CatalogueRoom {
    /// Returns what the store's pages show.
    ///
    /// - Parameters:
    ///   - storefront: The visitor's. Nil for the storefront of each app.
    ///   - locale: The visitor's language, such as `de_DE`. Nil for that of each app.
    public func window(in storefront: Storefront?, locale: String?) async throws -> ShopWindow {
        let shelf = try await realm.loadShelf()
        let (clock, pages) = try await realm.readHouse { reading in
            let rows = try reading.query(Statement.AppPages.list, [])
            let pages = try rows.map { try AppPage(try $0.text("bundle_id"), $0) }
            return (
                try Realm.clock(reading),
                Dictionary(pages.map { ($0.bundleID, $0.shows) }) { first, _ in first }
            )
        }
        let now = clock.now(wall: realm.ports.wall.now)
        let apps = shelf.apps.values.sorted { $0.bundleID.value.isBefore($1.bundleID.value) }
        return ShopWindow(
            apps: apps.compactMap { app in
                let place = storefront ?? Storefront.named(app.storefront)
                let page = pages[app.bundleID.value] ?? AppPage.Shows()
                return place.map { app.shown(in: $0, locale: locale, page, on: shelf, at: now) }
            }, now: now)
    }

    /// Returns an image that an offered product shows, or the app's icon. Refusal:
    /// `imageUnknown`.
    public func shownImage(_ imageID: String, bundleID: String) async throws -> [UInt8] {
        let shelf = try await realm.loadShelf()
        let states: Set<ReviewState> = shelf.isProduction ? [.approved] : [.ready, .approved]
        let isShown = shelf.apps[BundleID(bundleID)]?.byID.values.contains {
            states.contains($0.listing.state) && !$0.listing.isWithdrawn
                && $0.listing.images.contains(imageID)
        }
        let isIcon = try await realm.readHouse {
            try $0.first(Statement.AppPages.one, [.text(bundleID)])?.optionalText("image_id")
                == imageID
        }
        guard isShown == true || isIcon else { throw Self.imageUnknown(imageID) }
        return try await image(imageID, bundleID: bundleID)
    }
}

extension Shelf.App {
    fileprivate func shown(
        in storefront: Storefront, locale wish: String?, _ page: AppPage.Shows, on shelf: Shelf,
        at now: Timestamp
    ) -> ShopWindowApp {
        let shown = products.compactMap { product -> ShopWindowProduct? in
            guard let offered = shelf.offered(product.id, of: bundleID, in: storefront, at: now)
            else { return nil }
            let words = product.localization(for: wish ?? locale)
            return ShopWindowProduct(
                id: product.id.value, type: product.type, groupID: product.groupID,
                period: product.period, name: words?.displayName ?? product.id.value,
                details: words?.details ?? "", locale: words?.locale ?? locale,
                price: Money(offered.price, storefront.currency),
                isFamilyShareable: product.isFamilyShareable,
                images: byID[product.id]?.listing.images ?? [])
        }
        let names = byID.values.map { listed in
            (
                listed.product.id.value,
                listed.product.localization(for: wish ?? locale)?.displayName
                    ?? listed.product.id.value
            )
        }
        return ShopWindowApp(
            bundleID: bundleID.value, name: name, details: page.description, icon: page.icon,
            ownPrice: page.price, url: page.url, featured: page.featured, storefront: storefront,
            locale: locale, products: shown, names: Dictionary(names) { first, _ in first })
    }
}
