// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage
import StoreWire

/// An app whose products a realm sells.
public struct AppDescription: Hashable, Sendable {
    public var bundleID: BundleID
    /// The app's number. If missing, the one in its catalogue.
    public var appID: Int64?
    /// A name for operators. If missing, the bundle id.
    public var name: String?

    public init(bundleID: BundleID, appID: Int64? = nil, name: String? = nil) {
        self.bundleID = bundleID
        self.appID = appID
        self.name = name
    }
}

/// A catalogue with the other contents of its files.
public struct CatalogueImport: Hashable, Sendable {
    public var catalogue: Catalogue
    /// The file's settings. Nil leaves the app's settings unchanged.
    public var settings: SandboxSettings?
    /// The listings in the overlay. Other products keep theirs.
    public var listings: [ProductID: Listing]
    /// The files themselves, so that they can be exported again.
    public var original: CatalogueOriginal?
    /// The subscription groups, in the order of the file.
    public var groups: [SubscriptionGroup] = []
    /// Levels and offers. A subscription without them is on the highest level.
    public var terms: [ProductID: SubscriptionTerms] = [:]

    public init(
        _ catalogue: Catalogue, settings: SandboxSettings? = nil,
        listings: [ProductID: Listing] = [:], original: CatalogueOriginal? = nil
    ) {
        self.catalogue = catalogue
        self.settings = settings
        self.listings = listings
        self.original = original
    }
}

/// A catalogue file as it was imported.
public struct CatalogueOriginal: Hashable, Sendable {
    /// A file's name with its folders.
    static let nameBytesMax = RealmSchema.catalogueNameBytesMax

    public let name: String
    public let file: [UInt8]
    public let overlay: [UInt8]?

    public init(name: String, file: [UInt8], overlay: [UInt8]? = nil) {
        self.name = name
        self.file = file
        self.overlay = overlay
    }
}

extension CatalogueRoom {
    /// The most products of one app.
    static let productsMax = 10_000

    /// Stores an app with its products, like an import of a file with this
    /// catalogue.
    public func putCatalogue(_ catalogue: Catalogue, app: AppDescription) async throws {
        try await importCatalogue(
            CatalogueImport(catalogue), app: app,
            RequestContext(requestID: "start", actor: "server"))
    }

    /// Stores an app with the contents of its catalogue file. Products that
    /// were in an earlier file and are not in this one are withdrawn from sale,
    /// never deleted. Products that an operator created stay. Removed products
    /// stay removed, and those in the file are returned. In production a new
    /// app waits for a version, like one made by ``createApp(_:_:)``. Refusals,
    /// in order: `bundleIdInvalid`, `tooManyProducts`, `storefrontUnknown`,
    /// `textInvalid`, `productIdInvalid`, `periodInvalid`, `priceInvalid`,
    /// `productIdTwice`, `groupIdInvalid`, in production `productTypeFixed`.
    @discardableResult
    public func importCatalogue(
        _ catalogue: CatalogueImport, app: AppDescription, _ context: RequestContext
    ) async throws -> [ProductID] {
        try Self.check(catalogue.catalogue, app)
        if let original = catalogue.original {
            try Edge.text(original.name, "name", bytesMax: CatalogueOriginal.nameBytesMax)
        }
        for group in catalogue.groups {
            try CatalogueRules.check(groupID: group.id, "subscriptionGroups.id")
            try Edge.text(group.referenceName, "subscriptionGroups.name")
        }
        let commit = try CatalogueCommit(catalogue, app, isProduction: realm.isProduction)
        let removed = try await realm.house(.catalogue, context) { try commit.write($0) }
        try await realm.loadShelf()
        // The file may have changed how soon work falls due.
        realm.wakeWorkers()
        realm.ports.log(
            .info, "catalogue imported", context,
            ["app": app.bundleID.value, "products": "\(catalogue.catalogue.products.count)"])
        return removed
    }

    /// Whether an app has begun to sell: in production when a version goes live
    /// that an approved product was submitted with, in a sandbox from the
    /// start. Refusal: `bundleIdUnknown`.
    public func hasBegunToSell(_ bundleID: String) async throws -> Bool {
        try await app(bundleID).release.hasSold
    }

    /// Returns the apps of this realm.
    public func apps() async throws -> [AppDescription] {
        let shelf = try await realm.loadShelf()
        return shelf.apps.values.sorted { $0.bundleID.value < $1.bundleID.value }.map {
            AppDescription(bundleID: $0.bundleID, appID: $0.appID, name: $0.name)
        }
    }

    private static func check(_ catalogue: Catalogue, _ app: AppDescription) throws {
        guard BundleID.isValid(app.bundleID.value) else {
            throw noBundleID
        }
        guard catalogue.products.count <= productsMax else {
            throw Refusal(
                .tooLarge, code: "tooManyProducts", "The catalogue has too many products.",
                field: "products", rule: "at most \(productsMax) products of one app",
                remedy: "split the app's catalogue")
        }
        guard Storefront.named(catalogue.storefront) != nil else {
            throw CatalogueRules.unknownStorefront(field: "storefront")
        }
        try Edge.name(app.name ?? "app", "name")
        try Edge.label(app.name ?? "app", "name")
        try Edge.name(catalogue.locale, "locale", bytesMax: 64)
        try Edge.label(catalogue.locale, "locale", bytesMax: 64)
        var seen: Set<ProductID> = []
        for product in catalogue.products {
            try CatalogueRules.check(product)
            try Edge.label(product.referenceName, "products.referenceName")
            try CatalogueRules.checkShown(product.localizations, "products.localizations")
            guard seen.insert(product.id).inserted else {
                throw Refusal(
                    .badRequest, code: "productIdTwice",
                    "Two products have the id `\(product.id)`.", field: "products.productID",
                    rule: "a product's id is its own in its app", remedy: "rename one of them")
            }
        }
    }
}
