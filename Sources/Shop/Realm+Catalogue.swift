// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage
import StoreWire

/// An app whose products a realm sells.
public struct AppDescription: Hashable, Sendable {
    public var bundleID: BundleID
    /// The app's number; when missing, the one its catalogue tells.
    public var appID: Int64?
    /// For operators; the bundle id when missing.
    public var name: String?

    public init(bundleID: BundleID, appID: Int64? = nil, name: String? = nil) {
        self.bundleID = bundleID
        self.appID = appID
        self.name = name
    }
}

/// A catalogue to be sold, and all that its files say beside it.
public struct CatalogueImport: Hashable, Sendable {
    public var catalogue: Catalogue
    /// The file's switches; nil leaves the app's as they are.
    public var settings: SandboxSettings?
    /// What an overlay says of products; others keep their listings.
    public var listings: [ProductID: Listing]
    /// The files themselves, so that they can be given back.
    public var original: CatalogueOriginal?
    /// Subscription groups, in the file's order.
    public var groups: [SubscriptionGroup] = []
    /// Levels and offers; a subscription without is on the highest level.
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

/// A catalogue file as it came.
public struct CatalogueOriginal: Hashable, Sendable {
    public let name: String
    public let file: [UInt8]
    public let overlay: [UInt8]?

    public init(name: String, file: [UInt8], overlay: [UInt8]? = nil) {
        self.name = name
        self.file = file
        self.overlay = overlay
    }
}

extension Realm {
    /// Products of one app; far more than a store's rules let an app have.
    static let productsMax = 10_000

    /// Puts an app and all it sells, as by a file of that catalogue.
    public func putCatalogue(_ catalogue: Catalogue, app: AppDescription) async throws {
        try await importCatalogue(
            CatalogueImport(catalogue), app: app,
            RequestContext(requestID: "start", actor: "server"))
    }

    /// Puts an app and what its catalogue file says. Products that an earlier
    /// file named and this one does not are withdrawn from sale, never
    /// deleted; those made by an operator stay; those that were removed stay
    /// removed, and are answered. In production an app that is new waits for a
    /// version of it, as one made by ``createApp(_:_:)`` does. Refusals, in order: `bundleIdInvalid`,
    /// `tooManyProducts`, `storefrontUnknown`, `productIdInvalid`, `textInvalid`, `priceInvalid`,
    /// `productIdTwice`, `groupIdInvalid`, in production `productTypeFixed`.
    @discardableResult
    public func importCatalogue(
        _ catalogue: CatalogueImport, app: AppDescription, _ context: RequestContext
    ) async throws -> [ProductID] {
        try Self.check(catalogue.catalogue, app)
        for group in catalogue.groups {
            try Self.check(groupID: group.id, "subscriptionGroups.id")
            try Edge.text(group.referenceName, "subscriptionGroups.name")
        }
        let commit = try CatalogueCommit(catalogue, app, isProduction: isProduction)
        let removed = try await house(.catalogue, context) { .commit(try commit.write($0)) }
        try await loadShelf()
        // The file may have changed how soon work falls due.
        wakeWorkers()
        ports.log(
            .info, "catalogue imported", context,
            ["app": app.bundleID.value, "products": "\(catalogue.catalogue.products.count)"])
        return removed
    }

    /// Whether an app has begun to sell: in production with the first version
    /// of it that an approved product came with, in a sandbox from the start.
    /// Refusal: `bundleIdUnknown`.
    public func hasBegunToSell(_ bundleID: String) async throws -> Bool {
        try await app(bundleID).release.hasSold
    }

    /// The apps of this realm and how many products each has.
    public func apps() async throws -> [AppDescription] {
        let shelf = try await loadShelf()
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
        try Edge.name(catalogue.locale, "locale", bytesMax: 64)
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
                .badRequest, code: "productIdInvalid", "This is no id for a product.",
                field: field, rule: IDText.rule,
                remedy: "give one such as `com.example.app.pro`")
        }
    }

    static func check(groupID: String, _ field: String) throws {
        guard IDText.isID(groupID) else {
            throw Refusal(
                .badRequest, code: "groupIdInvalid", "This is no id for a group.",
                field: field, rule: IDText.rule, remedy: "give one such as `pro`")
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
