// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct ProductsTests {
    private func ask(_ ids: [String], _ world: TestWorld) async throws -> ProductsResponse {
        try await world.realm.catalogue.products(
            ProductsRequest(ids: ids), try await world.session(), TestWorld.context)
    }

    @Test func `products come in the order of asking, each once`() async throws {
        let world = try await TestWorld.open()

        let answer = try await ask(["pro", "credits.5", "pro", "monthly"], world)

        #expect(answer.products.map(\.id) == ["pro", "credits.5", "monthly"])
        #expect(
            answer.products.map(\.type)
                == ["Non-Consumable", "Consumable", "Auto-Renewable Subscription"])
        #expect(answer.products.map(\.isSold) == [true, true, false])
        #expect(answer.invalid.isEmpty)
    }

    @Test func `a product is described for the customer's storefront`() async throws {
        let world = try await TestWorld.open()

        let answer = try await ask(["credits.5"], world)

        #expect(
            answer.products == [
                ProductDescription(
                    id: "credits.5", type: "Consumable", displayName: "The credits.5",
                    description: "About credits.5", price: 990, currency: "USD",
                    priceLocale: "en_US@currency=USD", isFamilyShareable: false, isSold: true)
            ])
        #expect(answer.storefront.id == "143441")
    }

    @Test func `words follow the locale and prices the storefront`() async throws {
        let world = try await TestWorld.open()
        var catalogue = TestWorld.catalogue(storefront: "DEU")
        catalogue.locale = "ja_JP"
        try await world.realm.catalogue.putCatalogue(
            catalogue, app: AppDescription(bundleID: TestWorld.bundleID))

        let product = try #require(try await ask(["credits.5"], world).products.first)

        #expect(product.displayName == "猿")
        #expect(product.currency == "EUR")
        #expect(product.priceLocale == "ja_DE@currency=EUR")
    }

    @Test func `an unknown id is returned with a reason for the developer`() async throws {
        let world = try await TestWorld.open()

        let answer = try await ask(["credits.6", "", "Credits.5"], world)

        #expect(answer.products.isEmpty)
        #expect(answer.invalid.map(\.id) == ["credits.6", "", "Credits.5"])
        #expect(answer.invalid.allSatisfy { $0.reason.contains("credits.5") })
        #expect(answer.invalid.allSatisfy { $0.reason.contains("com.example.monkeys") })
    }

    @Test func `an empty question has an empty answer`() async throws {
        let answer = try await ask([], try await TestWorld.open())

        #expect(answer.products.isEmpty && answer.invalid.isEmpty)
    }

    @Test func `too many ids are refused`() async throws {
        let world = try await TestWorld.open()
        let ids = (0...ProductsRequest.idsMax).map { "p\($0)" }

        let refusal = try await refusal { try await ask(ids, world) }

        #expect(refusal.error.code == "tooManyIds")
        #expect(refusal.error.field == "ids")
        _ = try await ask(Array(ids.dropLast()), world)
    }

    @Test func `an id with U+0000 is refused`() async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal { try await ask(["a\0"], world) }

        #expect(refusal.error.code == "textInvalid")
    }

    @Test func `products are read from memory until the catalogue changes`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        world.places.counter.reset()

        for _ in 0..<3 {
            _ = try await world.realm.catalogue.products(
                ProductsRequest(ids: ["credits.5"]), session, TestWorld.context)
        }
        #expect(world.places.counter.statements.isEmpty)

        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: 1290), app: AppDescription(bundleID: TestWorld.bundleID))
        #expect(try await ask(["credits.5"], world).products.first?.price == 1290)
    }

    @Test func `signing in does not read an unchanged catalogue again`() async throws {
        let world = try await TestWorld.open()
        world.places.counter.reset()

        _ = try await world.signIn()

        #expect(!world.places.counter.statements.contains("catalogue.products"))
    }

    @Test func `a catalogue put by another process is seen`() async throws {
        let world = try await TestWorld.open()
        let other = try await TestWorld.open(places: world.places, wall: world.wall)
        try await other.realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: 1290), app: AppDescription(bundleID: TestWorld.bundleID))

        #expect(try await ask(["credits.5"], world).products.first?.price == 1290)
        #expect(try await world.buy(purchaseID(1), price: 1290).state == "sold")
    }

    @Test(arguments: [
        ("bundleIdInvalid", "com example", "USA", "en_US", "p", Int64(1)),
        ("bundleIdInvalid", "", "USA", "en_US", "p", 1),
        ("storefrontUnknown", "com.example", "ZZZ", "en_US", "p", 1),
        ("textEmpty", "com.example", "USA", "", "p", 1),
        ("productIdInvalid", "com.example", "USA", "en_US", "", 1),
        ("productIdInvalid", "com.example", "USA", "en_US", "p\0", 1),
        ("priceInvalid", "com.example", "USA", "en_US", "p", -1),
        ("priceInvalid", "com.example", "USA", "en_US", "p", Amount.milliunitsMax + 1),
    ])
    func `a catalogue that breaks a rule is refused whole`(
        code: String, bundleID: String, storefront: String, locale: String, id: String,
        price: Int64
    ) async throws {
        let world = try await TestWorld.open()
        let product = Product(
            id: ProductID(id), kind: .consumable, referenceName: "r",
            price: Amount(milliunits: price), localizations: [])

        let refusal = try await refusal {
            try await world.realm.catalogue.putCatalogue(
                Catalogue(products: [product], storefront: storefront, locale: locale),
                app: AppDescription(bundleID: BundleID(bundleID)))
        }

        #expect(refusal.error.code == code)
        #expect(try await world.realm.catalogue.apps().map(\.bundleID) == [TestWorld.bundleID])
    }

    @Test func `two products of one id are refused`() async throws {
        let world = try await TestWorld.open()
        var catalogue = TestWorld.catalogue()
        catalogue.products += catalogue.products

        let refusal = try await refusal {
            try await world.realm.catalogue.putCatalogue(
                catalogue, app: AppDescription(bundleID: TestWorld.bundleID))
        }

        #expect(refusal.error.code == "productIdTwice")
    }

    @Test func `a product keeps every fact through the database`() async throws {
        let world = try await TestWorld.open()
        let product = Product(
            id: "sub", kind: .autoRenewable(groupID: "21", period: "P1M"),
            referenceName: "Ref \"quoted\" / \\",
            price: Amount(milliunits: 1), isFamilyShareable: true,
            localizations: [
                Localization(locale: "zh_Hans", displayName: "猴\u{1F412}", details: "a\nb")
            ])

        try await world.realm.catalogue.putCatalogue(
            Catalogue(products: [product], storefront: "CHN", locale: "zh_Hans"),
            app: AppDescription(bundleID: "com.example.other", appID: 5, name: "Other"))

        let shelf = try await world.realm.loadShelf()
        #expect(shelf.apps["com.example.other"]?.products == [product])
        let session = try await world.session(bundleID: "com.example.other")
        #expect(product.described(for: session).priceLocale == "zh_Hans_CN@currency=CNY")
    }
}
