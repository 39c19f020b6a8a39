// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Creates, changes and removes products while the store runs. Each change is
/// audited in the commit that makes it.
extension CatalogueRoom {
    /// Returns up to `limit` of an app's products, ordered by id, including
    /// drafts and withdrawn ones. Refusals: `textInvalid`, `bundleIdUnknown`.
    public func listProducts(
        bundleID: String, after: String? = nil, limit: Int = ListPage.max
    ) async throws -> ProductRecords {
        let app = try await app(bundleID)
        let limit = Int(ListPage.limit(limit))
        let ids = app.byID.keys.map(\.value).sorted().drop { id in after.map { id <= $0 } ?? false }
        let page = ids.prefix(limit)
        return ProductRecords(
            products: page.compactMap { app.record(ProductID($0)) },
            next: ids.count > limit ? page.last : nil)
    }

    /// Returns one product. Refusals: `bundleIdUnknown`, `productIdUnknown`.
    public func productRecord(_ id: String, bundleID: String) async throws -> ProductRecord {
        guard let record = try await app(bundleID).record(ProductID(id)) else {
            throw Self.unknownProduct
        }
        return record
    }

    /// Creates a product. Refusals, in order: `bundleIdUnknown`,
    /// `productIdInvalid`, `productTypeUnknown`, `notASubscription`,
    /// `periodInvalid`, those of ``changeProduct(_:bundleID:_:_:)``, `productIdSpent`.
    public func createProduct(
        _ request: CreateProductRequest, bundleID: String, _ context: RequestContext
    ) async throws -> ProductRecord {
        let app = try await app(bundleID)
        let made = try ListedProduct(request).applying(
            request.details ?? ProductChange(), isNew: true)
        let values = try made.product.row(
            of: app.bundleID, place: Self.lastPlace, made.listing, isFromFile: false)
        let isMade = try await realm.house(.catalogue, context) { house in
            let writing = house.writing
            try Self.checkImages(made, since: nil, of: bundleID, writing)
            guard try writing.first(Statement.Catalogues.addProduct, values) != nil else {
                return .leave(false)
            }
            if let terms = made.terms {
                let key: [SQLValue] = [.text(bundleID), .text(request.productId)]
                try writing.execute(
                    Statement.Groups.setTerms, key + [.text(try terms.stored())])
                let group = StoredGroup(id: terms.groupID, name: terms.groupID)
                let isNew =
                    try writing.first(
                        Statement.Groups.insert,
                        try group.values(
                            bundleID: bundleID, place: Self.lastPlace, isFromFile: false)) != nil
                if isNew {
                    try house.audit(
                        "group.create", "\(bundleID)/\(group.id)", before: nil,
                        after: group.audited)
                }
            }
            try house.audit(
                "product.create", "\(bundleID)/\(request.productId)", before: nil,
                after: made.audited)
            return .commit(true)
        }
        guard isMade else {
            throw Refusal(
                .conflict, code: "productIdSpent", "The app has, or had, a product of this id.",
                field: "productId", rule: "an id can be used only once",
                remedy: "choose another id")
        }
        return try await productRecord(request.productId, bundleID: bundleID)
    }

    /// Changes a product. Refusals, in order: `bundleIdUnknown`,
    /// `productIdUnknown`, `productRemoved`, `stateUnknown`, `priceInvalid`,
    /// `storefrontUnknown`, `imageIdInvalid`, `entryTwice`, `levelInvalid`,
    /// `notASubscription`, `termsUnknown`, `textInvalid`, `textTooLong`,
    /// `productIncomplete`, `imageUnknown`.
    public func changeProduct(
        _ id: String, bundleID: String, _ change: ProductChange, _ context: RequestContext
    ) async throws -> ProductRecord {
        try await alter(id, bundleID, "product.change", context) { draft in
            try draft.applying(change, isNew: false)
        }
    }

    /// Removes a product permanently. Its id cannot be reused, and earlier
    /// sales do not change. Refusals: `bundleIdUnknown`, `productIdUnknown`,
    /// `productRemoved`.
    public func removeProduct(
        _ id: String, bundleID: String, _ context: RequestContext
    ) async throws {
        _ = try await alter(id, bundleID, "product.remove", context) { draft in
            var draft = draft
            draft.listing.state = .removed
            return draft
        }
    }

    /// Makes one commit behind the catalogue's lock: reads, changes, writes and
    /// audits.
    func alter(
        _ id: String, _ bundleID: String, _ deed: String, _ context: RequestContext,
        _ change: @escaping @Sendable (ListedProduct) throws -> ListedProduct
    ) async throws -> ProductRecord {
        let app = try await app(bundleID)
        try Edge.text(id, "productId")
        let key: [SQLValue] = [.text(bundleID), .text(id)]
        let isProduction = realm.isProduction
        try await realm.house(.catalogue, context) { house in
            let writing = house.writing
            guard let row = try writing.first(Statement.Catalogues.product, key) else {
                throw Self.unknownProduct
            }
            let before = try ListedProduct(row: row).admitted(isProduction: isProduction)
            guard before.listing.state != .removed else { throw Self.removedProduct }
            let after = try change(before)
            try Self.checkImages(after, since: before, of: bundleID, writing)
            let place = Int(try row.integer("place"))
            try writing.execute(
                Statement.Catalogues.setProduct,
                try after.product.row(
                    of: app.bundleID, place: place, after.listing, isFromFile: false))
            if let terms = after.terms, terms != before.terms {
                try writing.execute(
                    Statement.Groups.setTerms, key + [.text(try terms.stored())])
            }
            try writing.execute(Statement.AppVersions.noteSale, [.text(bundleID)])
            if after.product.isFamilyShareable, !before.product.isFamilyShareable {
                try house.sweepFamilies()
            }
            try house.audit(
                deed, "\(bundleID)/\(id)", before: before.audited, after: after.audited)
            return .commit(())
        }
        return try await productRecord(id, bundleID: bundleID)
    }

    /// Checks that the app has the images that `before` did not name. A file may
    /// have named images that the app does not have. Refusal: `imageUnknown`.
    private static func checkImages(
        _ draft: ListedProduct, since before: ListedProduct?, of bundleID: String,
        _ reading: any Reading
    ) throws {
        let new = Set(draft.listing.images).subtracting(before?.listing.images ?? [])
        guard !new.isEmpty else { return }
        let known = try reading.query(Statement.Catalogues.images, [.text(bundleID)])
            .map { try $0.text("image_id") }
        if let unknown = new.subtracting(known).min() { throw imageUnknown(unknown, "images") }
    }

    /// After every product of a file.
    static let lastPlace = 1_000_000

    static let unknownProduct = Refusal(
        .notFound, code: "productIdUnknown", "The app has no product of this id.",
        field: "productId", rule: "one of the app's products", remedy: "list them")

    static let removedProduct = Refusal(
        .conflict, code: "productRemoved", "The product was removed.", field: "productId",
        rule: "what was removed stays removed", remedy: "make a product of another id")
}

extension Shelf.App {
    /// Returns a product for operators.
    func record(_ id: ProductID) -> ProductRecord? {
        guard let listed = byID[id] else { return nil }
        let (product, listing) = (listed.product, listed.listing)
        return ProductRecord(
            bundleId: bundleID.value, productId: id.value, type: product.type.rawValue,
            state: listing.state.rawValue, isWithdrawn: listing.isWithdrawn,
            referenceName: product.referenceName,
            price: listing.hasBasePrice ? product.price.milliunits : nil,
            prices: listing.prices.map {
                ProductPrice(
                    storefront: $0.storefront, price: $0.amount.milliunits,
                    startDate: $0.startsAt)
            }, storefronts: listing.storefronts,
            localizations: product.localizations.map {
                ProductWords(
                    locale: $0.locale, displayName: $0.displayName, description: $0.details)
            }, isFamilyShareable: product.isFamilyShareable, isHosted: listing.isHosted,
            images: listing.images, groupId: product.groupID, period: product.period,
            level: listed.terms?.level)
    }
}
