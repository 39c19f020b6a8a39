// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The commit that puts a catalogue: every row it writes, made beforehand.
struct CatalogueCommit: Sendable {
    private let bundleID: BundleID
    private let app: [SQLValue]
    private let products: [[SQLValue]]
    private let types: [ProductID: ProductType]
    private let original: CatalogueOriginal?
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
        ]
        products = try catalogue.products.enumerated().map { place, product in
            let listing = given.listings[product.id]
            return try product.values(bundleID: app.bundleID, place: place) + [
                .optional(listing?.state.rawValue), .optional(try listing?.stored()),
            ]
        }
        types = Dictionary(catalogue.products.map { ($0.id, $0.type) }) { first, _ in first }
        original = given.original
        self.isProduction = isProduction
    }

    /// What the audit says of it.
    var words: String {
        let name = original.map { "\($0.name): " } ?? ""
        return "\(name)\(products.count) products"
    }

    /// Answers the products that are named and stay removed.
    func write(_ writing: any Writing, _ entry: AuditEntry) throws -> [ProductID] {
        let bundle = SQLValue.text(bundleID.value)
        // The first statement is the catalogue's line: whoever puts one waits here.
        try writing.execute(Statement.Catalogues.bumpRevision, [])
        let removed = try check(writing.query(Statement.Catalogues.states, [bundle]))
        try writing.execute(Statement.Catalogues.putApp, app)
        try writing.execute(
            Statement.Catalogues.withdraw, [bundle, .integer(entry.wall.milliseconds)])
        try writing.insertMany(Statement.Catalogues.putProduct, products)
        if let original {
            try writing.execute(
                Statement.Catalogues.putFile,
                [
                    bundle, .text(original.name), .blob(original.file),
                    original.overlay.map(SQLValue.blob) ?? .null,
                    .integer(entry.wall.milliseconds),
                ])
        }
        try entry.write(writing)
        return removed
    }

    /// What was sold as one type in production is never another: customers
    /// own it as what it was.
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
