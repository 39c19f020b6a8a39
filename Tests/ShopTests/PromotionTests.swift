// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// Promoted products at the store.
@Suite(.timeLimit(.minutes(5))) struct PromotionTests {
    private static let app = TestWorld.bundleID.value

    @discardableResult
    private func set(
        _ product: String, _ world: TestWorld, image: [UInt8] = SamplePicture.png(),
        visibility: String? = nil
    ) async throws -> PromotionRecord {
        try await world.realm.promotions.set(
            product, bundleID: Self.app, image: image, visibility: visibility,
            TestWorld.context)
    }

    private func create(_ product: String, _ world: TestWorld) async throws {
        _ = try await world.realm.catalogue.createProduct(
            CreateProductRequest(productId: product, type: "consumable"), bundleID: Self.app,
            TestWorld.context)
    }

    private func list(_ world: TestWorld) async throws -> [String] {
        try await world.realm.promotions.list(bundleID: Self.app).promotions
            .map { "\($0.position) \($0.productId) \($0.visibility)" }
    }

    private func order(_ products: [String], _ world: TestWorld) async throws {
        _ = try await world.realm.promotions.order(
            OrderPromotionsRequest(products: products), bundleID: Self.app, TestWorld.context)
    }

    private func shown(
        _ world: TestWorld, _ session: DeviceSession? = nil
    ) async throws -> [String] {
        try await world.realm.promotions.shown(
            bundleID: Self.app, customer: session?.customer, deviceUUID: session?.deviceUUID
        ).map(\.productId)
    }

    @Test func `products are promoted, changed, ordered and removed, with an audit`() async throws {
        let world = try await TestWorld.open()
        try await set("pro", world)
        try await set("credits.5", world, image: SamplePicture.jpeg())
        try await set("credits.10", world, visibility: "hide")
        try await set("credits.5", world, image: [], visibility: "hide")
        try await order(["credits.10", "credits.5"], world)

        #expect(
            try await list(world) == ["1 credits.10 hide", "2 credits.5 hide", "3 pro show"])
        #expect(try await shown(world) == ["pro"])
        let image = try await world.realm.promotions.image(of: "credits.5", bundleID: Self.app)
        #expect(image.type == "image/jpeg" && image.bytes == SamplePicture.jpeg())
        try await world.realm.promotions.remove("pro", bundleID: Self.app, TestWorld.context)
        #expect(try await list(world) == ["1 credits.10 hide", "2 credits.5 hide"])
        let deeds = try await world.realm.auditEntries().entries.suffix(6).map(\.deed)
        #expect(
            deeds == Array(repeating: "promotion.set", count: 4)
                + ["promotion.order", "promotion.remove"])
    }

    @Test func `what is wrong is refused, and nothing is written`() async throws {
        let world = try await TestWorld.open()
        try await set("pro", world)
        func code(_ body: @escaping () async throws -> Void) async throws -> String {
            try await refusal { try await body() }.error.code
        }

        #expect(try await code { try await set("nothing", world) } == "productIdUnknown")
        #expect(
            try await code { try await set("credits.5", world, image: []) }
                == "promotionImageMissing")
        #expect(
            try await code {
                try await set("credits.5", world, image: SamplePicture.png(width: 512))
            } == "promotionImageInvalid")
        #expect(
            try await code { try await set("pro", world, visibility: "default") }
                == "visibilityUnknown")
        #expect(try await code { try await order(["pro", "pro"], world) } == "entryTwice")
        #expect(try await code { try await order(["credits.5"], world) } == "promotionUnknown")
        #expect(try await list(world) == ["1 pro show"])
    }

    @Test func `a removed product leaves the list and its place`() async throws {
        let world = try await TestWorld.open()
        for index in 0..<Promotion.productsMax {
            try await create("p\(index)", world)
            try await set("p\(index)", world)
        }
        let full = try await refusal { try await set("pro", world) }
        try await world.realm.catalogue.removeProduct("p3", bundleID: Self.app, TestWorld.context)

        #expect(full.error.code == "tooManyPromotions")
        #expect(try await list(world).count == Promotion.productsMax - 1)
        #expect(try await set("pro", world).position == Promotion.productsMax)
        let removed = try await refusal { try await set("p3", world) }
        #expect(removed.error.code == "productRemoved")
    }

    @Test func `of several requests at once only one is the twentieth`() async throws {
        let world = try await TestWorld.open()
        for index in 0..<(Promotion.productsMax + 3) { try await create("p\(index)", world) }
        for index in 0..<(Promotion.productsMax - 1) { try await set("p\(index)", world) }

        let accepted = await withTaskGroup(of: Bool.self) { group in
            for index in (Promotion.productsMax - 1)..<(Promotion.productsMax + 3) {
                group.addTask { (try? await set("p\(index)", world)) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }

        #expect(accepted == 1)
        #expect(try await list(world).count == Promotion.productsMax)
    }

    @Test func `a device's order and visibility are its own`() async throws {
        let world = try await TestWorld.open()
        for product in ["pro", "credits.5", "credits.10"] { try await set(product, world) }
        let first = try await world.session()
        let second = try await world.session(device: "00000000-0000-4000-8000-00000000abcd")
        let room = world.realm.promotions

        _ = try await room.order(
            PromotionOrderRequest(products: ["credits.10", "monthly"]), first)
        let own = try await room.show(
            PromotionVisibility(productId: "credits.5", visibility: "hide"), first)

        #expect(own.order == ["credits.10", "monthly"])
        #expect(
            own.visibilities == [
                PromotionVisibility(productId: "credits.5", visibility: "hide")
            ])
        #expect(try await shown(world, first) == ["credits.10", "pro"])
        #expect(try await room.overrides(second) == PromotionOverrides(order: [], visibilities: []))
        #expect(try await shown(world, second) == ["pro", "credits.5", "credits.10"])
        _ = try await room.order(PromotionOrderRequest(products: []), first)
        let cleared = try await room.show(
            PromotionVisibility(productId: "credits.5", visibility: "default"), first)
        #expect(cleared == PromotionOverrides(order: [], visibilities: []))
        let unknown = try await refusal {
            _ = try await room.order(PromotionOrderRequest(products: ["pro", "x"]), first)
        }
        #expect(unknown.error.code == "productIdUnknown")
        #expect(try await room.overrides(first).order == [])
    }
}
