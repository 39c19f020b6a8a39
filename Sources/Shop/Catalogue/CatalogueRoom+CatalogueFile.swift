// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage

/// The present catalogue of an app, and the file from which it was imported.
public struct StoredCatalogue: Sendable {
    public let appName: String
    /// Whether the realm is a production realm.
    public let isProduction: Bool
    /// The products that are neither withdrawn nor removed, including drafts.
    public let catalogue: Catalogue
    public let listings: [ProductID: Listing]
    public let settings: SandboxSettings
    /// Nil if no file was ever imported.
    public let original: CatalogueOriginal?
    public let imageIDs: [String]
    /// The image that is the app's icon, unless a product shows it too. It is no part of
    /// the catalogue.
    public let icon: String?
    /// The groups that a file or an operator has set. Nil if there are none.
    public let groups: [SubscriptionGroup]?
    public let terms: [ProductID: SubscriptionTerms]
}

extension CatalogueRoom {
    /// Returns an app's present catalogue with its file. Refusal:
    /// `bundleIdUnknown`.
    public func storedCatalogue(bundleID: String) async throws -> StoredCatalogue {
        let app = try await app(bundleID)
        let bundle = SQLValue.text(bundleID)
        let (file, images, icon) = try await realm.readHouse { reading in
            (
                try reading.first(Statement.Catalogues.file, [bundle]),
                try reading.query(Statement.Catalogues.images, [bundle])
                    .map { try $0.text("image_id") },
                try AppPage(bundleID, try reading.first(Statement.AppPages.one, [bundle]))
                    .shows.icon
            )
        }
        let original = try file.map {
            CatalogueOriginal(
                name: try $0.text("name"), file: try $0.blob("contents"),
                overlay: try $0.optionalBlob("overlay"))
        }
        return StoredCatalogue(
            appName: app.name, isProduction: realm.isProduction,
            catalogue: Catalogue(
                products: app.products, storefront: app.storefront, locale: app.locale,
                appID: app.appID,
                unpriced: Set(
                    app.products.filter { product in
                        product.price.milliunits == 0
                            && app.byID[product.id]?.listing.hasBasePrice == false
                    }.map(\.id))),
            listings: app.byID.mapValues(\.listing), settings: app.settings, original: original,
            imageIDs: images,
            icon: icon.flatMap { app.products(shownBy: $0).isEmpty ? $0 : nil },
            groups: app.toldGroups.isEmpty
                ? nil : app.groups.filter { app.toldGroups.contains($0.id) },
            terms: app.byID.compactMapValues(\.terms))
    }

    /// Returns an app of this realm. Refusals: `textInvalid`,
    /// `bundleIdUnknown`.
    func app(_ bundleID: String) async throws -> Shelf.App {
        try Edge.text(bundleID, "bundleId")
        guard let app = try await realm.loadShelf().apps[BundleID(bundleID)] else {
            throw Self.unknownApp
        }
        return app
    }
}
