// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The commit that stores a catalogue. All of its rows are prepared before.
struct CatalogueCommit: Sendable {
    private let bundleID: BundleID
    private let app: [SQLValue]
    private let products: [Product]
    private let unpriced: Set<ProductID>
    /// The listings in the overlay.
    private let listings: [ProductID: Listing]
    private let types: [ProductID: ProductType]
    private let original: CatalogueOriginal?
    /// Nil in production, and if the app's settings are not changed.
    private let timeRate: TimeRate?
    private let groups: [[SQLValue]]
    private let terms: [[SQLValue]]
    private let isProduction: Bool

    init(
        _ given: CatalogueImport, _ app: AppDescription, isProduction: Bool
    ) throws {
        let catalogue = given.catalogue
        bundleID = app.bundleID
        self.app = [
            .text(app.bundleID.value), .optional(app.appID ?? catalogue.appID),
            .optional(app.name), .text(catalogue.storefront), .text(catalogue.locale),
            .optional(try given.settings?.stored()),
            // Like an app that an operator creates: a file says what is sold,
            // but not that customers have a version of the app.
            .boolean(!isProduction),
        ]
        (products, unpriced) = (catalogue.products, catalogue.unpriced)
        listings = given.listings
        types = Dictionary(catalogue.products.map { ($0.id, $0.type) }) { first, _ in first }
        original = given.original
        timeRate = isProduction ? nil : given.settings?.timeRate
        let bundle = app.bundleID.value
        groups = try given.groups.enumerated().map { place, group in
            try StoredGroup(
                id: group.id, name: group.referenceName, localizations: group.localizations
            ).values(bundleID: bundle, place: place, isFromFile: true)
        }
        terms = try catalogue.products.compactMap { product in
            guard let terms = given.terms[product.id] ?? SubscriptionTerms(of: product) else {
                return nil
            }
            return [.text(bundle), .text(product.id.value), .text(try terms.stored())]
        }
        self.isProduction = isProduction
    }

    /// Writes the catalogue, and leaves everything as it is if the import changes
    /// nothing. Returns the products in it that remain removed.
    func write(_ house: HouseLine) throws -> Ending<[ProductID]> {
        let (writing, bundle) = (house.writing, SQLValue.text(bundleID.value))
        let picture = try picture(writing)
        let known = try writing.query(Statement.Catalogues.states, [bundle])
        let removed = try check(known)
        try setSpeed(house)
        try writing.execute(Statement.Catalogues.putApp, app)
        try writing.execute(
            Statement.Catalogues.withdraw, [bundle, .integer(house.wall.milliseconds)])
        try writing.insertMany(Statement.Catalogues.putProduct, try rows(known))
        try writing.execute(Statement.Groups.removeFiled, [bundle])
        for values in groups { try writing.execute(Statement.Groups.put, values) }
        for values in terms { try writing.execute(Statement.Groups.setTerms, values) }
        if let original {
            try writing.execute(
                Statement.Catalogues.putFile,
                [
                    bundle, .text(original.name), .blob(original.file),
                    original.overlay.map(SQLValue.blob) ?? .null,
                    .integer(house.wall.milliseconds),
                ])
        }
        try writing.execute(Statement.AppVersions.noteSale, [bundle])
        let file = try picture.last?.first?.text("name")
        let newPicture = try self.picture(writing)
        guard newPicture != picture else { return .leave(removed) }
        if products.contains(where: \.isFamilyShareable) { try house.sweepFamilies() }
        let sold = try known.map { try Listing(row: $0) }
            .count { !$0.isWithdrawn && $0.state != .removed }
        try house.audit(
            "catalogue.import", bundleID.value,
            before: known.isEmpty
                ? nil
                : try audited(["file": file, "products": "\(sold)"], picture),
            after: try audited(
                ["file": original?.name ?? file, "products": "\(products.count)"], newPicture),
            isChangeForSure: true)
        return .commit(removed)
    }

    /// All that an import may change, but the clock's speed, which is another only
    /// where the app's settings are.
    private func picture(_ reading: any Reading) throws -> [[Row]] {
        try Statement.Catalogues.imported.map {
            try reading.query($0, [.text(bundleID.value)])
        }
    }

    /// The fields for the audit: those of the app, and those of each product behind
    /// its id.
    private func audited(_ first: AuditFields, _ picture: [[Row]]) throws -> AuditFields {
        var all = first.all
        if let app = picture[0].first {
            for column in ["name", "storefront", "locale"] {
                all.append((column, try app.optionalText(column)))
            }
        }
        for row in picture[1] {
            let id = try row.text("product_id")
            all += try ListedProduct(row: row).audited.all.map { ("\(id): \($0.name)", $0.value) }
        }
        return AuditFields(all)
    }

    /// Returns the row of every product with its new listing.
    private func rows(_ known: [Row]) throws -> [[SQLValue]] {
        var before: [ProductID: (listing: Listing, price: Int64)] = [:]
        for row in known {
            before[ProductID(try row.text("product_id"))] = (
                try Listing(row: row), try row.integer("price")
            )
        }
        return try products.enumerated().map { place, product in
            let listing = listing(of: product, before[product.id])
            return try product.row(of: bundleID, place: place, listing, isFromFile: true)
        }
    }

    /// Returns the listing in the overlay, otherwise the present one, otherwise
    /// an approved one. A file without a price removes the product's own price.
    /// A file with one gives it to a product that never had any.
    private func listing(
        of product: Product, _ known: (listing: Listing, price: Int64)?
    ) -> Listing {
        let told = listings[product.id]
        var listing = told ?? known?.listing ?? Listing()
        if unpriced.contains(product.id) {
            listing.hasBasePrice = false
        } else if told == nil, known?.price == 0 {
            listing.hasBasePrice = true
        }
        return listing.admitted(product, isProduction: isProduction)
    }

    /// Sets the realm's clock to the file's time rate if the file changes the
    /// rate. Importing the same file again does not change a rate that testers
    /// have set.
    private func setSpeed(_ house: HouseLine) throws {
        guard let timeRate else { return }
        let writing = house.writing
        let row = try writing.first(Statement.Catalogues.settings, [.text(bundleID.value)])
        let before = try row?.optionalText("settings").map(SandboxSettings.init(stored:))
        guard timeRate != (before?.timeRate ?? .real) else { return }
        let clock = try Realm.clockRow(writing)
        try Realm.setClock(
            .realm, from: clock.clock,
            to: clock.clock.running(at: ClockPace(timeRate), wall: house.wall),
            jump: clock.jump, house)
    }

    /// Throws if the type of a product would change that production has sold,
    /// because customers own it with that type.
    private func check(_ known: [Row]) throws -> [ProductID] {
        var removed: [ProductID] = []
        for row in known {
            let id = ProductID(try row.text("product_id"))
            guard let type = types[id] else { continue }
            if try row.text("state") == ReviewState.removed.rawValue { removed.append(id) }
            guard try isProduction && row.text("product_type") != type.rawValue else { continue }
            throw Refusal(
                .conflict, code: "productTypeFixed", "The type of `\(id)` is another.",
                field: "products.type", rule: "in production a product keeps its type",
                remedy: "give the new product an id of its own")
        }
        return removed
    }
}
