// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage
public import StoreWire

/// What apps change on single devices, and what a customer then sees.
extension PromotionRoom {
    /// Returns what the app has changed on this device, and nothing of the store's own
    /// order and visibility.
    public func overrides(_ session: DeviceSession) async throws -> PromotionOverrides {
        try await realm.read(of: session.customer) {
            try Self.overridden(session.customer, session.bundleID, session.deviceUUID, $0).wire
        }
    }

    /// Replaces the device's own order. An empty one ends it. Refusals, in order:
    /// `tooManyIds`, `textInvalid`, `textTooLong`, `entryTwice`, `productIdUnknown`,
    /// `productRemoved`.
    public func order(
        _ request: PromotionOrderRequest, _ session: DeviceSession
    ) async throws -> PromotionOverrides {
        guard request.products.count <= Promotion.orderMax else {
            throw Refusal(
                .badRequest, code: "tooManyIds", "The order has too many products.",
                field: "products", rule: "at most \(Promotion.orderMax) products",
                remedy: "list only those that come first")
        }
        for id in request.products { try Edge.text(id, "products") }
        guard Set(request.products).count == request.products.count else {
            throw Self.entryTwice
        }
        try await check(request.products, session)
        return try await change(session) { writing, device in
            try writing.execute(Statement.Promotions.clearOrder, device)
            for (place, id) in request.products.enumerated() {
                try writing.execute(
                    Statement.Promotions.setPlace,
                    Self.row(session, id, ["place": .integer(Int64(place))]))
            }
        }
    }

    /// Sets whether the device shows a product. Refusals, in order: `textInvalid`,
    /// `textTooLong`, `visibilityUnknown`, `productIdUnknown`, `productRemoved`.
    public func show(
        _ request: PromotionVisibility, _ session: DeviceSession
    ) async throws -> PromotionOverrides {
        try Edge.text(request.productId, "productId")
        let words: [String: SQLValue] = [
            "default": .null, "show": .boolean(true), "hide": .boolean(false),
        ]
        guard let isShown = words[request.visibility] else {
            throw Refusal(
                .badRequest, code: "visibilityUnknown", "There is no such visibility.",
                field: "visibility", rule: "`default`, `show` or `hide`",
                remedy: "choose one of them")
        }
        try await check([request.productId], session)
        return try await change(session) { writing, _ in
            try writing.execute(
                Statement.Promotions.setShown,
                Self.row(session, request.productId, ["is_shown": isShown]))
        }
    }

    /// Returns the promoted products that customers see on an app's page, in order:
    /// those of the device's own order first, then the rest, without hidden ones and
    /// those that the app does not sell. Without a device, the one that the customer has
    /// used last counts; without a customer, the store's own order and visibility.
    /// Refusals: `textInvalid`, `bundleIdUnknown`.
    public func shown(
        bundleID: String, customer: CustomerID? = nil, deviceUUID: String? = nil
    ) async throws -> [PromotionRecord] {
        let records = try await list(bundleID: bundleID).promotions
        let app = BundleID(bundleID)
        let sold = try await realm.loadShelf().apps[app]?.products.map(\.id) ?? []
        let overrides = try await overrides(of: customer, app, deviceUUID)
        let promoted = records.map {
            PromotedProduct(
                productID: ProductID($0.productId), isShown: $0.visibility == "show")
        }
        let byID = Dictionary(records.map { ($0.productId, $0) }) { first, _ in first }
        let isSold = Set(sold)
        return overrides.arranged(promoted.filter { isSold.contains($0.productID) })
            .compactMap { byID[$0.value] }
    }

    private func overrides(
        of customer: CustomerID?, _ app: BundleID, _ deviceUUID: String?
    ) async throws -> PromotionOverride {
        guard let customer else { return PromotionOverride() }
        return try await realm.read(of: customer) { reading in
            let last = try reading.first(
                Statement.Promotions.lastDevice, [.integer(customer.value), .text(app.value)])
            guard let device = try deviceUUID ?? last?.text("device_uuid") else {
                return PromotionOverride()
            }
            return try Self.overridden(customer, app, device, reading)
        }
    }

    private func check(_ products: [String], _ session: DeviceSession) async throws {
        let shelf = try await realm.loadShelf(for: session.customer)
        for id in products { try Self.check(id, session.bundleID, shelf) }
    }

    /// Refusals: `productIdUnknown`, `productRemoved`.
    static func check(_ product: String, _ app: BundleID, _ shelf: Shelf) throws {
        guard let listed = shelf.apps[app]?.byID[ProductID(product)] else {
            throw CatalogueRoom.unknownProduct
        }
        guard listed.listing.state != .removed else { throw CatalogueRoom.removedProduct }
    }

    private func change(
        _ session: DeviceSession,
        _ body: @escaping @Sendable (any Writing, [SQLValue]) throws -> Void
    ) async throws -> PromotionOverrides {
        try await realm.line(of: session.customer) { line in
            let device: [SQLValue] = [
                .integer(session.customer.value), .text(session.bundleID.value),
                .text(session.deviceUUID),
            ]
            try body(line.writing, device)
            try line.writing.execute(Statement.Promotions.sweepOverrides, device)
            return try Self.overridden(
                session.customer, session.bundleID, session.deviceUUID, line.writing
            ).wire
        }
    }

    private static func row(
        _ session: DeviceSession, _ product: String, _ value: Table.Values
    ) -> [SQLValue] {
        RealmSchema.promotionOverrides.row(
            [
                "customer_id": .integer(session.customer.value),
                "bundle_id": .text(session.bundleID.value),
                "device_uuid": .text(session.deviceUUID), "product_id": .text(product),
            ], value)
    }

    private static func overridden(
        _ customer: CustomerID, _ app: BundleID, _ deviceUUID: String, _ reading: any Reading
    ) throws -> PromotionOverride {
        let rows = try reading.query(
            Statement.Promotions.overridden,
            [.integer(customer.value), .text(app.value), .text(deviceUUID)])
        var places: [(Int64, ProductID)] = []
        var override = PromotionOverride()
        for row in rows {
            let id = ProductID(try row.text("product_id"))
            if let place = try row.optionalInteger("place") { places.append((place, id)) }
            if try row.value("is_shown") != .null {
                override.isShown[id] = try row.boolean("is_shown")
            }
        }
        override.order = places.sorted { $0.0 < $1.0 }.map(\.1)
        return override
    }
}

extension PromotionOverride {
    fileprivate var wire: PromotionOverrides {
        PromotionOverrides(
            order: order.map(\.value),
            visibilities: isShown.map {
                PromotionVisibility(productId: $0.key.value, visibility: $0.value ? "show" : "hide")
            }.sorted { $0.productId < $1.productId })
    }
}
