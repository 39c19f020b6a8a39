// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// Ids that look alike, or are equal to Swift, and are others to a database.
@Suite(.timeLimit(.minutes(5))) struct IDTests {
    private func catalogue(_ products: [Product]) -> Catalogue {
        Catalogue(products: products, storefront: "USA", locale: "en_US", appID: 1234)
    }

    private func product(_ id: String, group: String? = nil) -> Product {
        Product(
            id: ProductID(id),
            kind: group.map { .autoRenewable(groupID: $0, period: "P1M") } ?? .nonConsumable,
            referenceName: id, price: Amount(milliunits: 4990),
            localizations: [Localization(locale: "en_US", displayName: id, details: id)])
    }

    private func put(_ world: TestWorld, _ products: [Product]) async throws {
        try await world.realm.catalogue.putCatalogue(
            catalogue(products), app: AppDescription(bundleID: TestWorld.bundleID))
    }

    @Test(arguments: [
        "caf\u{E9}", "cafe\u{301}", "pro\u{212A}", "two words", "", "a/b", "a:b", "猿",
        String(repeating: "a", count: 101),
    ])
    func `an id of other characters is refused at every door`(id: String) async throws {
        let world = try await TestWorld.open()

        let file = try await refusal { try await put(world, [product(id)]) }
        let made = try await refusal {
            try await world.realm.catalogue.createProduct(
                CreateProductRequest(productId: id, type: "Consumable"),
                bundleID: TestWorld.bundleID.value, TestWorld.context)
        }
        let group = try await refusal { try await put(world, [product("monthly", group: id)]) }

        #expect([file.error.code, made.error.code] == ["productIdInvalid", "productIdInvalid"])
        #expect(group.error.code == "groupIdInvalid")
        #expect(file.error.field == "products.productID" && made.error.field == "productId")
        #expect(file.error.rule == IDText.rule)
    }

    /// The Kelvin sign is a K to Swift's `==`.
    @Test func `what is owned is not asked for by an id that only looks like its`() async throws {
        let processor = ScriptedProcessor([.approve, .approve])
        let world = try await TestWorld.open(processor: processor)
        try await put(world, [product("K2"), product("pro")])
        let session = try await world.session()
        let owned = try await world.buy("K2", purchaseID(1), price: 4990, session: session)
        #expect(owned.state == "sold")

        let other = try await world.buy("\u{212A}2", purchaseID(2), price: 4990, session: session)

        #expect(other.refusal?.code == "unknownProduct")
        #expect(processor.calls == ["authorise"])
        // One purchase id is one payment, to the byte.
        let reused = try await refusal {
            try await world.buy("\u{212A}2", purchaseID(1), price: 4990, session: session)
        }
        #expect(reused.error.code == "purchaseIdReused" && reused.error.field == "productId")
        let listed = try await world.realm.catalogue.products(
            ProductsRequest(ids: ["\u{212A}2", "K2"]), session, TestWorld.context)
        #expect(listed.products.map(\.id) == ["K2"])
        #expect(listed.invalid.map { Array($0.id.utf8) } == [Array("\u{212A}2".utf8)])
        #expect(
            try await refusal {
                try await world.realm.catalogue.storedCatalogue(bundleID: "\u{212A}2")
            }.error.code == "bundleIdUnknown")
    }

    @Test func `a username in another spelling is another payment`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        _ = try await world.buy(
            "credits.5", purchaseID(1), username: "jos\u{E9}", session: session)

        let met = try await refusal {
            try await world.buy(
                "credits.5", purchaseID(1), username: "jose\u{301}", session: session)
        }

        #expect(met.error.code == "purchaseIdReused" && met.error.field == "applicationUsername")
    }
}
