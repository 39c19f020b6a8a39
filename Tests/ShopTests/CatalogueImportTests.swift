// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct CatalogueImportTests {
    private func only(_ ids: String...) -> Catalogue {
        var catalogue = TestWorld.catalogue()
        catalogue.products.removeAll { !ids.contains($0.id.value) }
        return catalogue
    }

    private func put(_ given: CatalogueImport, _ world: TestWorld) async throws {
        try await world.realm.catalogue.importCatalogue(
            given, app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
    }

    private func ids(_ world: TestWorld) async throws -> [String] {
        try await world.realm.catalogue.products(
            ProductsRequest(ids: ["credits.5", "credits.10", "pro"]), try await world.session(),
            TestWorld.context
        ).products.map(\.id)
    }

    @Test func `what a file no longer names is withdrawn, and comes back with it`() async throws {
        let world = try await TestWorld.open()

        try await put(CatalogueImport(only("credits.10")), world)
        let refused = try await world.buy("credits.5", purchaseID(1))
        let during = try await ids(world)
        let shelf = try await world.realm.loadShelf()
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))

        #expect(during == ["credits.10"])
        #expect(refused.refusal?.code == "unknownProduct")
        #expect(shelf.product("credits.5", of: TestWorld.bundleID) != nil)
        #expect(shelf.apps[TestWorld.bundleID]?.byID["credits.5"]?.listing.isWithdrawn == true)
        #expect(try await ids(world) == ["credits.5", "credits.10", "pro"])
        #expect(try await world.buy("credits.5", purchaseID(2)).state == "sold")
    }

    @Test func `what is owned is delivered again, on sale or not`() async throws {
        let world = try await TestWorld.open()
        let bought = try await world.buy("pro", purchaseID(1))
        try await put(CatalogueImport(only("credits.5")), world)

        let again = try await world.buy("pro", purchaseID(2))

        #expect(again.state == "sold")
        #expect(
            try world.verified(again.signedTransaction).transactionId
                == world.verified(bought.signedTransaction).transactionId)
    }

    @Test func `a product is sold at its storefront's price`() async throws {
        let world = try await TestWorld.open()
        var given = CatalogueImport(TestWorld.catalogue())
        given.listings["credits.5"] = Listing(prices: [
            StorefrontPrice(storefront: "USA", amount: Amount(milliunits: 1290)),
            StorefrontPrice(
                storefront: "USA", amount: Amount(milliunits: 590),
                startsAt: TestWall.start.adding(seconds: 60)),
        ])
        try await put(given, world)

        let dear = try await world.buy("credits.5", purchaseID(1), price: 1290)
        let base = try await world.buy("credits.5", purchaseID(2), price: 990)
        world.wall.advance(seconds: 60)
        let cheap = try await world.buy("credits.5", purchaseID(3), price: 590)

        #expect([dear.state, base.state, cheap.state] == ["sold", "refused", "sold"])
        #expect(base.product?.price == 1290)
        #expect(try world.verified(dear.signedTransaction).price == 1290)
    }

    @Test(arguments: [
        (ReviewState.draft, false, false), (.ready, true, false), (.approved, true, true),
        (.removed, false, false),
    ])
    func `a sandbox sells what is ready, production what is approved`(
        state: ReviewState, inSandbox: Bool, inProduction: Bool
    ) async throws {
        for environment in [Environment.sandbox, .production] {
            let world = try await TestWorld.open(realm: "other", environment: environment)
            let bundle = TestWorld.bundleID
            var given = CatalogueImport(TestWorld.catalogue())
            given.listings["pro"] = Listing(state: state)
            try await put(given, world)

            let shelf = try await world.realm.loadShelf()
            let usa = try #require(Storefront.named("USA"))
            let isSold = shelf.offered("pro", of: bundle, in: usa, at: TestWall.start) != nil

            #expect(isSold == (environment == .sandbox ? inSandbox : inProduction))
        }
    }

    @Test func `what was removed stays removed, and is reported`() async throws {
        let world = try await TestWorld.open()
        var given = CatalogueImport(TestWorld.catalogue())
        given.listings["pro"] = Listing(state: .removed)
        try await put(given, world)

        let told = try await world.realm.catalogue.importCatalogue(
            CatalogueImport(TestWorld.catalogue()),
            app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)

        #expect(told == ["pro"])
        #expect(try await ids(world) == ["credits.5", "credits.10"])
    }

    @Test func `in production a product keeps its type`() async throws {
        func change(_ environment: Environment) async throws {
            let world = try await TestWorld.open(realm: "other", environment: environment)
            var catalogue = TestWorld.catalogue()
            let pro = catalogue.products[2]
            catalogue.products[2] = Product(
                id: pro.id, kind: .consumable, referenceName: "", price: pro.price,
                localizations: [])
            try await put(CatalogueImport(catalogue), world)
        }

        try await change(.sandbox)
        let refusal = try await refusal { try await change(.production) }

        #expect(refusal.error.code == "productTypeFixed")
    }

    @Test func `a file and its listings come back as they were put`() async throws {
        let world = try await TestWorld.open()
        let listing = Listing(
            state: .ready, hasBasePrice: false,
            prices: [
                StorefrontPrice(
                    storefront: "JPN", amount: Amount(milliunits: 160_000),
                    startsAt: TestWall.start)
            ], storefronts: ["JPN", "USA"], isHosted: true, images: ["A1"], isFree: true)
        let settings = SandboxSettings(
            timeRate: .everyMinute, asksToBuy: true, interruptsPurchases: true,
            failsRenewals: true, hasGracePeriod: true, disablesDialogs: true,
            errors: [SimulatedError(call: .sync, kind: .generic, index: 2)])
        let original = CatalogueOriginal(name: "a.storekit", file: [0x7B, 0x7D], overlay: [0x0A])
        try await put(
            CatalogueImport(
                TestWorld.catalogue(), settings: settings, listings: ["pro": listing],
                original: original), world)

        let stored = try await world.restarted().realm.catalogue.storedCatalogue(
            bundleID: TestWorld.bundleID.value)

        #expect(stored.listings["pro"] == listing)
        #expect(stored.listings["credits.5"] == Listing())
        #expect(stored.settings == settings)
        #expect(stored.original == original)
        #expect(stored.catalogue == TestWorld.catalogue())
    }

    @Test func `every import is in the audit`() async throws {
        let world = try await TestWorld.open()
        try await put(CatalogueImport(only("pro")), world)
        world.wall.advance(seconds: 5)
        try await put(CatalogueImport(only("pro", "credits.5")), world)

        let entries = try await world.realm.auditEntries().entries
        let last = try await world.realm.auditEntries(after: "3", limit: 1)

        #expect(entries.map(\.entry) == [1, 2, 3, 4])
        #expect(entries.map(\.who) == ["server", "server", "operator", "operator"])
        #expect(entries.map(\.deed).prefix(2) == ["customer.create", "catalogue.import"])
        #expect(entries.last?.deed == "catalogue.import")
        #expect(entries.last?.subject == "com.example.monkeys")
        #expect(entries.last?.after("products") == "2")
        #expect(entries.last?.date == TestWall.start.adding(seconds: 5))
        #expect(last.entries == entries.suffix(1))
    }

    @Test(arguments: [
        ("../up", "imageIdInvalid"), ("", "imageIdInvalid"), ("A1", "imageInvalid"),
    ])
    func `an image that breaks a rule is refused`(id: String, code: String) async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal {
            try await world.realm.catalogue.putImage(
                id, bundleID: TestWorld.bundleID.value, [1, 2, 3], TestWorld.context)
        }

        #expect(refusal.error.code == code)
    }
}
