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
    static let nameBytesMax = 1024

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
            try Self.check(groupID: group.id, "subscriptionGroups.id")
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
        guard isBundleID(app.bundleID.value) else {
            throw noBundleID
        }
        guard catalogue.products.count <= productsMax else {
            throw Refusal(
                .tooLarge, code: "tooManyProducts", "The catalogue has too many products.",
                field: "products", rule: "at most \(productsMax) products of one app",
                remedy: "split the app's catalogue")
        }
        guard Storefront.named(catalogue.storefront) != nil else {
            throw unknownStorefront(field: "storefront")
        }
        try Edge.name(app.name ?? "app", "name")
        try Edge.label(app.name ?? "app", "name")
        try Edge.name(catalogue.locale, "locale", bytesMax: 64)
        try Edge.label(catalogue.locale, "locale", bytesMax: 64)
        var seen: Set<ProductID> = []
        for product in catalogue.products {
            try check(product)
            guard seen.insert(product.id).inserted else {
                throw Refusal(
                    .badRequest, code: "productIdTwice",
                    "Two products have the id `\(product.id)`.", field: "products.productID",
                    rule: "a product's id is its own in its app", remedy: "rename one of them")
            }
        }
    }

    static func check(_ product: Product) throws {
        try check(productID: product.id.value, "products.productID")
        if let group = product.groupID { try check(groupID: group, "products.groupId") }
        if let period = product.period { try check(period: period, "products.period") }
        try Edge.text(product.referenceName, "products.referenceName")
        _ = try Edge.price(product.price.milliunits, "products.displayPrice")
        for words in product.localizations {
            try Edge.text(words.locale, "products.localizations.locale", bytesMax: 64)
            try Edge.text(words.displayName, "products.localizations.displayName")
            try Edge.text(words.details, "products.localizations.description", bytesMax: 4096)
        }
    }

    static func check(productID: String, _ field: String) throws {
        guard IDText.isID(productID) else {
            throw Refusal(
                .badRequest, code: "productIdInvalid", "This is not a valid id for a product.",
                field: field, rule: IDText.rule,
                remedy: "give one such as `com.example.app.pro`")
        }
    }

    static func check(groupID: String, _ field: String) throws {
        guard IDText.isID(groupID) else {
            throw Refusal(
                .badRequest, code: "groupIdInvalid", "This is not a valid id for a group.",
                field: field, rule: IDText.rule, remedy: "give one such as `pro`")
        }
    }

    /// Refusal: `entryTwice`, with the name of the first entry that stands twice.
    static func checkOnce<Entry>(
        _ entries: [Entry], _ field: String, _ name: (Entry) -> String,
        by key: (Entry) -> [String]
    ) throws {
        var seen: Set<[String]> = []
        for entry in entries where !seen.insert(key(entry)).inserted {
            throw Refusal(
                .badRequest, code: "entryTwice", "The list has `\(name(entry))` twice.",
                field: field, rule: "each entry of a list stands in it once",
                remedy: "leave one of them out")
        }
    }

    static func checkOnce(_ names: [String], _ field: String) throws {
        try checkOnce(names, field, { $0 }, by: { [$0] })
    }

    static func check(period: String, _ field: String) throws {
        guard Period.ofSubscriptions.contains(period) else {
            throw Refusal(
                .badRequest, code: "periodInvalid", "A subscription has no such period.",
                field: field, rule: Period.ofSubscriptions.joined(separator: ", "),
                remedy: "send one of them")
        }
    }

    static func unknownStorefront(field: String) -> Refusal {
        Refusal(
            .badRequest, code: "storefrontUnknown", "There is no such storefront.",
            field: field, rule: "a country's ISO 3166-1 alpha-3 code where the store sells",
            remedy: "give one such as `USA`")
    }

    static func isBundleID(_ text: String) -> Bool {
        (1...155).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0)
                    || $0 == 45 || $0 == 46
            }
    }
}
