// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct AdministrationTests {
    private static let app = TestWorld.bundleID.value

    private func details(_ change: (inout ProductChange) -> Void) -> ProductChange {
        var details = ProductChange()
        change(&details)
        return details
    }

    private var complete: ProductChange {
        details {
            $0.price = 2990
            $0.localizations = [
                ProductWords(locale: "en_US", displayName: "Bananas", description: "Five")
            ]
            $0.state = "ready"
        }
    }

    private func create(
        _ world: TestWorld, _ id: String = "bananas", _ details: ProductChange? = nil
    ) async throws -> ProductRecord {
        try await world.realm.catalogue.createProduct(
            CreateProductRequest(productId: id, type: "consumable", details: details),
            bundleID: Self.app, TestWorld.context)
    }

    private func why(_ world: TestWorld, _ id: String = "bananas") async throws -> String {
        try await world.realm.catalogue.why(id, bundleID: Self.app, storefront: nil).answer
    }

    @Test func `a product goes from draft to sold to removed, and its id is spent`() async throws {
        let world = try await TestWorld.open()

        let draft = try await create(world)
        let before = try await why(world)
        let incomplete = try await refusal {
            try await world.realm.catalogue.changeProduct(
                "bananas", bundleID: Self.app, details { $0.state = "ready" }, TestWorld.context)
        }
        let ready = try await world.realm.catalogue.changeProduct(
            "bananas", bundleID: Self.app, complete, TestWorld.context)
        let bought = try await world.buy("bananas", purchaseID(1), price: 2990)
        try await world.realm.catalogue.removeProduct(
            "bananas", bundleID: Self.app, TestWorld.context)
        let spent = try await refusal { try await create(world) }
        let removed = try await refusal {
            try await world.realm.catalogue.changeProduct(
                "bananas", bundleID: Self.app, complete, TestWorld.context)
        }

        #expect(
            [draft.state, before, ready.state, bought.state] == ["draft", "draft", "ready", "sold"])
        #expect(incomplete.error.code == "productIncomplete")
        #expect([spent.error.code, removed.error.code] == ["productIdSpent", "productRemoved"])
        #expect(try await why(world) == "removed")
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 1)
    }

    @Test func `what an operator made outlives a file that does not name it`() async throws {
        let world = try await TestWorld.open()
        _ = try await create(world, "bananas", complete)

        try await world.realm.catalogue.putCatalogue(
            Catalogue(products: [], storefront: "USA", locale: "en_US"),
            app: AppDescription(bundleID: TestWorld.bundleID))

        #expect(try await why(world) == "sold")
        #expect(try await why(world, "pro") == "withdrawn")
    }

    @Test(arguments: [
        ("", "consumable", "productIdInvalid"), ("a b", "consumable", "productIdInvalid"),
        ("ä", "consumable", "productIdInvalid"),
        (String(repeating: "a", count: 101), "consumable", "productIdInvalid"),
        ("a", "thing", "productTypeUnknown"), ("a", "auto-renewable", "textEmpty"),
        ("credits.5", "consumable", "productIdSpent"),
    ])
    func `a product that breaks a rule is refused`(
        id: String, type: String, code: String
    ) async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal {
            try await world.realm.catalogue.createProduct(
                CreateProductRequest(productId: id, type: type), bundleID: Self.app,
                TestWorld.context)
        }

        #expect(refusal.error.code == code)
    }

    @Test func `a hundred characters of every kind are an id`() async throws {
        let id = "aZ0-._" + String(repeating: "x", count: 94)
        #expect(try await create(try await TestWorld.open(), id).productId == id)
    }

    @Test(arguments: [
        ("state", "stateUnknown"), ("storefront", "storefrontUnknown"), ("price", "priceInvalid"),
        ("image", "imageIdInvalid"), ("place", "storefrontUnknown"), ("name", "textTooLong"),
    ])
    func `a change that breaks a rule is refused, and nothing is changed`(
        what: String, code: String
    ) async throws {
        let world = try await TestWorld.open()
        let before = try await world.realm.catalogue.productRecord("pro", bundleID: Self.app)
        let change = details {
            switch what {
            case "state": $0.state = "removed"
            case "storefront": $0.storefronts = ["XXX"]
            case "price": $0.price = -1
            case "image": $0.images = ["../a"]
            case "place": $0.prices = [ProductPrice(storefront: "usa", price: 1)]
            default: $0.referenceName = String(repeating: "x", count: 256)
            }
        }

        let refusal = try await refusal {
            try await world.realm.catalogue.changeProduct(
                "pro", bundleID: Self.app, change, TestWorld.context)
        }

        #expect(refusal.error.code == code)
        #expect(try await world.realm.catalogue.productRecord("pro", bundleID: Self.app) == before)
    }

    @Test func `why returns each reason`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.catalogue.createApp(
            CreateAppRequest(bundleId: "com.example.other"), TestWorld.context)
        func other(_ id: String) async throws -> String {
            try await world.realm.catalogue.why(id, bundleID: "com.example.other", storefront: nil)
                .answer
        }
        let sold = try await world.realm.catalogue.why("pro", bundleID: Self.app, storefront: "DEU")
        #expect([sold.answer, sold.currency] == ["sold", "EUR"])
        #expect(sold.price == 4990)
        #expect(try await why(world, "nothing") == "unknown")
        #expect(try await other("pro") == "otherApp")
        #expect(try await why(world, "monthly") == "notSoldYet")

        _ = try await world.realm.catalogue.changeProduct(
            "pro", bundleID: Self.app, details { $0.storefronts = ["USA"] }, TestWorld.context)
        let elsewhere = try await world.realm.catalogue.why(
            "pro", bundleID: Self.app, storefront: "DEU")
        #expect(elsewhere.answer == "noPriceHere")
        _ = try await world.realm.catalogue.changeApp(
            Self.app, AppChange(purchasesEnabled: false), TestWorld.context)
        #expect(try await why(world, "pro") == "purchasesNotEnabled")
        let session = try await world.session(bundleID: Self.app)
        let refused = try await world.buy("pro", purchaseID(1), session: session)
        #expect(refused.refusal?.code == "unknownProduct")
    }

    @Test func `an app is created once, changed, and returned`() async throws {
        let world = try await TestWorld.open()
        let request = CreateAppRequest(
            bundleId: "com.example.zoo", details: AppChange(name: "Zoo", storefront: "JPN"))

        let made = try await world.realm.catalogue.createApp(request, TestWorld.context)
        let twice = try await refusal {
            try await world.realm.catalogue.createApp(request, TestWorld.context)
        }
        let changed = try await world.realm.catalogue.changeApp(
            "com.example.zoo", AppChange(appAppleId: 77, name: "Big Zoo"), TestWorld.context)
        let wrong = try await refusal {
            try await world.realm.catalogue.changeApp(
                "com.example.zoo", AppChange(storefront: "XX"), TestWorld.context)
        }

        #expect([made.name, made.storefront, made.locale] == ["Zoo", "JPN", "en_US"])
        #expect(made.products == 0 && made.purchasesEnabled)
        #expect([twice.error.code, wrong.error.code] == ["appExists", "storefrontUnknown"])
        #expect([changed.name, changed.storefront] == ["Big Zoo", "JPN"])
        #expect(changed.appAppleId == 77)
    }

    @Test(
        arguments: [
            (ProductWords(locale: "en_US", displayName: "Cheap\u{202E}", description: ""), nil),
            (ProductWords(locale: "en_US", displayName: "A\nB", description: ""), nil),
            (ProductWords(locale: "en_US", displayName: "A", description: "a\u{200B}"), nil),
            (ProductWords(locale: "en_US", displayName: "A", description: "a\tb"), nil),
            (nil, "A\u{1B}[2J"),
        ] as [(ProductWords?, String?)])
    func `a text that hides or moves another is refused`(
        words: ProductWords?, referenceName: String?
    ) async throws {
        let world = try await TestWorld.open()
        _ = try await create(world, "bananas", complete)
        let change = details {
            $0.localizations = words.map { [$0] }
            $0.referenceName = referenceName
        }

        let changed = try await refusal {
            try await world.realm.catalogue.changeProduct(
                "bananas", bundleID: Self.app, change, TestWorld.context)
        }
        let made = try await refusal { try await create(world, "apples", change) }

        for told in [changed.error, made.error] {
            #expect(told.code == "textInvalid" && told.rule?.contains("bidirectional") == true)
            #expect(told.field?.isEmpty == false && told.remedy?.hasPrefix("leave out U+") == true)
        }
    }

    @Test func `a file's text that hides or moves another is refused`() async throws {
        let world = try await TestWorld.open()
        for words in [
            Localization(locale: "en_US", displayName: "Cheap\u{202E}", details: ""),
            Localization(locale: "en_US", displayName: "A", details: "a\u{2066}"),
        ] {
            var catalogue = TestWorld.catalogue()
            let old = try #require(catalogue.products.first)
            catalogue.products[0] = Product(
                id: old.id, kind: old.kind, referenceName: old.referenceName, price: old.price,
                localizations: [words])
            let given = catalogue
            let told = try await refusal {
                try await world.realm.catalogue.putCatalogue(
                    given, app: AppDescription(bundleID: TestWorld.bundleID))
            }
            #expect(told.error.code == "textInvalid")
            #expect(told.error.field?.hasPrefix("products.localizations.") == true)
        }
    }

    /// A description has lines, and text of any direction is text.
    @Test func `lines and text from right to left are taken`() async throws {
        let world = try await TestWorld.open()
        let words = ProductWords(
            locale: "he", displayName: "בננות", description: "חמש\nבננות 👩\u{200D}👧")
        var change = complete
        change.localizations = [words]

        let made = try await create(world, "bananas", change)

        #expect(made.localizations == [words])
    }

    @Test func `a shared secret is returned, and replaced by another`() async throws {
        let world = try await TestWorld.open()

        let none = try await world.realm.catalogue.sharedSecret(Self.app).sharedSecret
        let first = try await world.realm.catalogue.makeSharedSecret(Self.app, TestWorld.context)
        let second = try await world.realm.catalogue.makeSharedSecret(Self.app, TestWorld.context)

        #expect(none == nil)
        #expect(first.sharedSecret?.count == 32)
        #expect(first != second)
        #expect(try await world.realm.catalogue.sharedSecret(Self.app) == second)
        let audit = "\(try await world.realm.auditEntries())"
        #expect(!audit.contains(second.sharedSecret ?? "?"))
    }

    @Test func `a revoked key opens nothing, and its issuer stays`() async throws {
        let world = try await TestWorld.open()
        let first = try await world.realm.merchant.createServerKey(bundleID: Self.app)

        try await world.realm.merchant.revokeServerKey(first.keyId, TestWorld.context)
        let again = try await refusal {
            try await world.realm.merchant.revokeServerKey(first.keyId, TestWorld.context)
        }
        let second = try await world.realm.merchant.createServerKey(bundleID: Self.app)

        #expect(again.error.code == "serverKeyUnknown")
        #expect(second.issuerId == first.issuerId)
        #expect(
            try await world.realm.merchant.serverKeys().map { $0.revokedDate == nil }.sorted {
                $1 && !$0
            }
                == [false, true])
    }

    @Test func `a customer who moves sees other prices`() async throws {
        let world = try await TestWorld.open()
        let customer = try #require(try await world.realm.customers.listCustomers().first)

        let moved = try await world.realm.customers.changeCustomer(
            customer.customerId, ChangeCustomerRequest(storefront: "JPN"), TestWorld.context)
        let wrong = try await refusal {
            try await world.realm.customers.changeCustomer(
                customer.customerId, ChangeCustomerRequest(storefront: "?"))
        }
        let products = try await world.realm.catalogue.products(
            ProductsRequest(ids: ["pro"]), try await world.session(), TestWorld.context)

        #expect(moved.storefront == "JPN")
        #expect(wrong.error.code == "storefrontUnknown")
        #expect(products.products.map(\.currency) == ["JPY"])
        #expect(products.products.map(\.priceLocale) == ["en_JP@currency=JPY"])
    }

    @Test func `every change is in the audit, with what was and what is`() async throws {
        let world = try await TestWorld.open()
        let context = RequestContext(requestID: "r", actor: "ann")
        _ = try await world.realm.catalogue.createProduct(
            CreateProductRequest(productId: "b", type: "consumable"), bundleID: Self.app, context)
        _ = try await world.realm.catalogue.changeProduct(
            "b", bundleID: Self.app, details { $0.price = 990 }, context)
        _ = try await world.realm.catalogue.changeApp(Self.app, AppChange(name: "Monkeys"), context)
        try await world.realm.catalogue.removeProduct("b", bundleID: Self.app, context)

        let entries = try await world.realm.auditEntries().entries.filter { $0.who == "ann" }

        #expect(
            entries.map { "\($0.deed) \($0.subject)" } == [
                "product.create com.example.monkeys/b", "product.change com.example.monkeys/b",
                "app.change com.example.monkeys", "product.remove com.example.monkeys/b",
            ])
        #expect(entries[1].shown == "price: - > 0.99")
        #expect(entries[2].shown == "name: com.example.monkeys > Monkeys")
        #expect(entries[3].shown == "state: draft > removed")
    }

    @Test func `what changes nothing is not audited`() async throws {
        let world = try await TestWorld.open()
        let before = try await world.realm.auditEntries().entries
        let customer = try #require(try await world.realm.customers.listCustomers().first)

        _ = try await world.realm.catalogue.changeApp(Self.app, AppChange(), TestWorld.context)
        _ = try await world.realm.customers.changeCustomer(
            customer.customerId, ChangeCustomerRequest())
        _ = try await world.realm.catalogue.changeProduct(
            "pro", bundleID: Self.app, ProductChange(), TestWorld.context)

        #expect(try await world.realm.auditEntries().entries == before)
    }

    @Test func `concurrent changes of one thing are audited as a chain`() async throws {
        let world = try await TestWorld.open()
        let realm = world.realm
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let context = RequestContext(requestID: "r", actor: "ann")
                let (url, name) = ("http://127.0.0.1:\(9000 + number)/", "app \(number)")
                group.addTask {
                    try await realm.catalogue.setNotificationURL(url, bundleID: Self.app, context)
                    _ = try await realm.catalogue.changeApp(
                        Self.app, AppChange(name: name), context)
                    _ = try await realm.catalogue.makeSharedSecret(Self.app, context)
                }
            }
            try await group.waitForAll()
        }

        let entries = try await realm.auditEntries().entries.filter { $0.who == "ann" }

        for (deed, field, first) in [
            ("app.notificationUrl", "notificationUrl", "-"),
            ("app.change", "name", "com.example.monkeys"),
        ] {
            let chain = entries.filter { $0.deed == deed }
            #expect(chain.count == 8)
            #expect(
                chain.map { $0.before(field) }
                    == [first] + chain.dropLast().map { $0.after(field) }, "\(deed)")
        }
        #expect(
            entries.filter { $0.deed == "app.sharedSecret" }.map { $0.before("sharedSecret") }
                == ["-"] + Array(repeating: "one", count: 7))
    }

    @Test func `products come in pages by id`() async throws {
        let world = try await TestWorld.open()

        let first = try await world.realm.catalogue.listProducts(bundleID: Self.app, limit: 3)
        let rest = try await world.realm.catalogue.listProducts(
            bundleID: Self.app, after: first.next, limit: 3)

        #expect(first.products.map(\.productId) == ["credits.10", "credits.5", "monthly"])
        #expect(rest.products.map(\.productId) == ["pro"])
        #expect([first.next, rest.next] == ["monthly", nil])
    }
}
