// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage

/// What an app sells now, beside the file that it came from.
public struct StoredCatalogue: Sendable {
    public let appName: String
    /// Whether the realm is one of production.
    public let isProduction: Bool
    /// On sale, drafts included; neither withdrawn nor removed.
    public let catalogue: Catalogue
    public let listings: [ProductID: Listing]
    public let settings: SandboxSettings
    /// Nil where no file was ever imported.
    public let original: CatalogueOriginal?
    public let imageIDs: [String]
    /// Those that a file or an operator has told; nil where nobody has.
    public let groups: [SubscriptionGroup]?
    public let terms: [ProductID: SubscriptionTerms]
}

extension Realm {
    /// What an app sells now, and its file. Refusal: `bundleIdUnknown`.
    public func storedCatalogue(bundleID: String) async throws -> StoredCatalogue {
        let app = try await app(bundleID)
        let bundle = SQLValue.text(bundleID)
        let (file, images) = try await readHouse { reading in
            (
                try reading.first(Statement.Catalogues.file, [bundle]),
                try reading.query(Statement.Catalogues.images, [bundle])
            )
        }
        let original = try file.map {
            CatalogueOriginal(
                name: try $0.text("name"), file: try $0.blob("contents"),
                overlay: try $0.optionalBlob("overlay"))
        }
        return StoredCatalogue(
            appName: app.name, isProduction: isProduction,
            catalogue: Catalogue(
                products: app.products, storefront: app.storefront, locale: app.locale,
                appID: app.appID,
                unpriced: Set(
                    app.products.filter { product in
                        product.price.milliunits == 0
                            && app.listings[product.id]?.hasBasePrice == false
                    }.map(\.id))),
            listings: app.listings, settings: app.settings, original: original,
            imageIDs: try images.map { try $0.text("image_id") },
            groups: app.toldGroups.isEmpty
                ? nil : app.groups.filter { app.toldGroups.contains($0.id) }, terms: app.terms)
    }

    /// An app of this realm. Refusals: `textInvalid`, `bundleIdUnknown`.
    func app(_ bundleID: String) async throws -> Shelf.App {
        try Edge.text(bundleID, "bundleId")
        guard let app = try await loadShelf().apps[BundleID(bundleID)] else {
            throw Self.unknownApp
        }
        return app
    }
}
