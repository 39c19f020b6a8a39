// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct PurchaseTests {
    @Test func `a consumable is sold with every fact signed`() async throws {
        let world = try await TestWorld.open(seed: 7)
        let token = "AB000000-0000-4000-8000-00000000000F"

        let response = try await world.buy("credits.5", purchaseID(1), quantity: 3, username: token)

        let now = TestWall.start
        var expected = JWSTransactionDecodedPayload()
        expected.transactionId = "2000000000000000"
        expected.originalTransactionId = "2000000000000000"
        expected.bundleId = "com.example.monkeys"
        expected.productId = "credits.5"
        expected.purchaseDate = now
        expected.originalPurchaseDate = now
        expected.quantity = 3
        expected.type = "Consumable"
        expected.appAccountToken = token.lowercased()
        expected.inAppOwnershipType = "PURCHASED"
        expected.signedDate = now
        expected.environment = "Sandbox"
        expected.storefront = "USA"
        expected.storefrontId = "143441"
        expected.transactionReason = "PURCHASE"
        expected.price = 2970
        expected.currency = "USD"
        expected.appTransactionId = "4000000000000000"
        #expect(try world.verified(response.signedTransaction) == expected)
        #expect(response.state == "sold")
        #expect(response.refusal == nil)
    }

    @Test func `a username that is not a UUID is not sent to servers`() async throws {
        let world = try await TestWorld.open()

        let response = try await world.buy(purchaseID(1), username: "monkey@example.com")

        #expect(try world.verified(response.signedTransaction).appAccountToken == nil)
    }

    @Test func `a storefront without a known number leaves it out`() async throws {
        let world = try await TestWorld.open()
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(storefront: "AFG"),
            app: AppDescription(bundleID: TestWorld.bundleID))

        let payload = try world.verified(try await world.buy(purchaseID(1)).signedTransaction)

        #expect(payload.storefront == "AFG")
        #expect(payload.storefrontId == nil)
    }

    @Test func `asking again answers the same and writes nothing`() async throws {
        let world = try await TestWorld.open()
        let first = try await world.buy(purchaseID(1))
        let session = try await world.session()
        world.wall.advance(seconds: 3600)
        world.places.counter.reset()

        let again = try await world.buy(purchaseID(1), session: session)

        var facts = try world.verified(first.signedTransaction)
        facts.signedDate = TestWall.start.adding(seconds: 3600)
        #expect(try world.verified(again.signedTransaction) == facts)
        #expect(again.revision == first.revision)
        #expect(world.places.counter.commits == 0)
        #expect(try await world.outbox().count == 1)
    }

    @Test func `a purchase id is read in either case`() async throws {
        let world = try await TestWorld.open()
        let id = "ABCDEF00-0000-4000-8000-000000000001"

        let first = try await world.buy(id)
        let again = try await world.buy(id.lowercased())

        let one = try world.verified(first.signedTransaction).transactionId
        #expect(try world.verified(again.signedTransaction).transactionId == one)
    }

    @Test(
        arguments: [
            ("productId", "credits.10", 1, Int64(990), "USD", nil, nil),
            ("quantity", "credits.5", 2, 990, "USD", nil, nil),
            ("unitPrice", "credits.5", 1, 991, "USD", nil, nil),
            ("currency", "credits.5", 1, 990, "EUR", nil, nil),
            ("applicationUsername", "credits.5", 1, 990, "USD", "me", nil),
            ("replaces", "credits.5", 1, 990, "USD", nil, purchaseID(9)),
        ] as [(String, String, Int, Int64, String, String?, String?)])
    func `a purchase id used for another payment is refused by field`(
        field: String, product: String, quantity: Int, price: Int64, currency: String,
        username: String?, replaces: String?
    ) async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        try await world.buy(purchaseID(1), session: session)
        let other = PurchaseRequest(
            productId: product, quantity: quantity, unitPrice: price, currency: currency,
            applicationUsername: username, replaces: replaces)

        let refusal = try await refusal {
            try await world.realm.purchases.purchase(
                purchaseID(1), other, session, TestWorld.context)
        }

        #expect(refusal.kind == .conflict)
        #expect(refusal.error.code == "purchaseIdReused")
        #expect(refusal.error.field == field)
        #expect(try await world.outbox().count == 1)
    }

    @Test(arguments: [
        ("nothing", 1, Int64(990), PurchaseRefusal.unknownProduct, "productId"),
        ("monthly", 1, 2990, .notSoldYet, "productId"),
        ("credits.5", 0, 990, .quantityOutOfRange, "quantity"),
        ("credits.5", 11, 990, .quantityOutOfRange, "quantity"),
        ("credits.5", -1, 990, .quantityOutOfRange, "quantity"),
        ("pro", 2, 4990, .quantityOfNonConsumable, "quantity"),
        ("credits.5", 1, 989, .priceChanged, "unitPrice"),
        ("credits.5", Int.max, 990, .quantityOutOfRange, "quantity"),
    ])
    func `what is not sold is refused, recorded, and refused again`(
        product: String, quantity: Int, price: Int64, reason: PurchaseRefusal, field: String
    ) async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()

        let first = try await world.buy(
            product, purchaseID(1), quantity: quantity, price: price, session: session)
        let again = try await world.buy(
            product, purchaseID(1), quantity: quantity, price: price, session: session)

        #expect(first.state == "refused")
        #expect(first.refusal?.code == reason.rawValue)
        #expect(first.refusal?.field == field)
        #expect(first.refusal?.rule != nil && first.refusal?.remedy != nil)
        #expect(first.signedTransaction == nil)
        #expect(again == first)
        #expect(try await world.outbox().isEmpty)
    }

    @Test func `a customer who may not buy is refused`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "child", canMakePayments: false))
        let session = try await world.session(customer: "child")

        let response = try await world.buy(purchaseID(1), session: session)

        #expect(response.refusal?.code == "purchasesNotAllowed")
        #expect(try await world.signIn(customer: "child").canMakePayments == false)
    }

    @Test func `a changed price shows the product as it is now`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: 1290), app: AppDescription(bundleID: TestWorld.bundleID))

        let refused = try await world.buy(purchaseID(1), price: 990, session: session)
        let confirmed = try await world.realm.purchases.purchase(
            purchaseID(2),
            PurchaseRequest(
                productId: "credits.5", quantity: 1, unitPrice: 1290, currency: "USD",
                replaces: purchaseID(1)), session, TestWorld.context)

        #expect(refused.refusal?.code == "priceChanged")
        #expect(refused.product?.price == 1290)
        #expect(refused.product?.displayName == "The credits.5")
        #expect(confirmed.state == "sold")
        #expect(try world.verified(confirmed.signedTransaction).price == 1290)
    }

    @Test func `only a refused payment may be replaced`() async throws {
        let world = try await TestWorld.open(
            processor: ScriptedProcessor([.approve, .decline, .loseRequest, .approve]))
        let session = try await world.session()
        // Different products, because a second payment for one that is open joins it.
        func ask(
            _ id: Int, _ product: String = "credits.10", replacing other: Int? = nil,
            asks: Bool = false
        ) async throws -> String {
            try await world.realm.finishQuietly(
                ProductID(product), of: session.customer, before: purchaseID(id))
            return try await world.realm.purchases.purchase(
                purchaseID(id),
                PurchaseRequest(
                    productId: product, quantity: 1,
                    unitPrice: ["credits.5": 990, "pro": 4990][product] ?? 1990, currency: "USD",
                    replaces: other.map(purchaseID), simulatesAskToBuyInSandbox: asks), session,
                TestWorld.context
            ).state
        }
        let states = [
            try await ask(1, "credits.5"), try await ask(2), try await ask(3, "pro"),
            try await ask(4, "credits.5", asks: true),
        ]
        #expect(states == ["sold", "refused", "authorising", "waiting"])

        for open in [1, 3, 4] {
            let refusal = try await refusal { try await ask(10 + open, replacing: open) }
            #expect(refusal.error.code == "replacedNotRefused", "\(states[open - 1])")
        }
        #expect(try await ask(12, replacing: 2) == "sold")
        // A payment of which the store knows nothing cannot be paid twice.
        #expect(try await ask(15, replacing: 99) == "sold")
        #expect(try await world.outbox().count == 3)
    }

    @Test func `what is owned is delivered again and not charged`() async throws {
        let world = try await TestWorld.open()
        let first = try await world.buy("pro", purchaseID(1))

        let second = try await world.buy("pro", purchaseID(2), price: 1)

        let owned = try world.verified(first.signedTransaction)
        #expect(second.state == "sold")
        #expect(try world.verified(second.signedTransaction) == owned)
        #expect(try await world.outbox().count == 1)
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 1)
    }

    @Test func `another customer buys what the first one owns`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "second"))
        let first = try await world.buy("pro", purchaseID(1))

        let second = try await world.buy(
            "pro", purchaseID(1), session: try await world.session(customer: "second"))

        #expect(second.state == "sold")
        #expect(
            try world.verified(second.signedTransaction).transactionId
                != world.verified(first.signedTransaction).transactionId)
    }

    @Test func `a sale owes one notification with a cause of its own`() async throws {
        let world = try await TestWorld.open()
        let response = try await world.buy(purchaseID(1))

        let sold = try #require(try world.verified(response.signedTransaction).transactionId)
        let row = try #require(try await world.outbox().first)

        #expect(try row.text("cause") == "ONE_TIME_CHARGE/\(sold)")
        #expect(try row.text("notification_type") == "ONE_TIME_CHARGE")
        #expect(UUIDText(try row.text("notification_uuid")) != nil)
        #expect(try row.integer("revision") == response.revision)
    }

    @Test func `a production realm without a processor sells nothing`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        let token = try await world.signIn(customer: "ann", password: "correct horse").token
        let session = try await world.realm.customers.session(token: token)

        let response = try await world.buy(purchaseID(1), session: session)

        #expect(response.refusal?.code == "noProcessor")
    }

    @Test func `a purchase and its receipt keep to their budget`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        try await world.buy(
            purchaseID(1), session: try await world.realm.customers.session(token: token))
        let customer = try await world.realm.customers.session(token: token).customer
        try await world.realm.finishQuietly("credits.5", of: customer, before: "none")
        world.places.counter.reset()
        let signed = world.logged.count("transaction signed")
        let receipts = world.logged.count("receipt signed")

        let buying = try await world.realm.customers.session(token: token)
        try await world.buy("credits.5", purchaseID(2), session: buying, isIndependent: false)
        let reading = try await world.realm.customers.session(token: token)
        let receipt = try await world.realm.purchases.receipt(
            ifNoneMatch: nil, reading, TestWorld.context)

        #expect(
            world.places.counter.statements == [
                "sessions.find", "customers.line", "purchases.facts", "purchases.insert",
                "transactions.insert", "outbox.insert", "sessions.find", "transactions.records",
            ])
        #expect(world.places.counter.commits == 1)
        #expect(world.logged.count("transaction signed") - signed == 1)
        #expect(world.logged.count("receipt signed") - receipts == 1)
        guard case .receipt = receipt else {
            Issue.record("no receipt")
            return
        }
    }
}

extension TestWorld {
    /// Notifications owed to the default customer.
    func outbox() async throws -> [Row] {
        let row = try await realm.customers.customer(named: Realm.defaultCustomer)
        let customer = try #require(try row?.integer("customer_id"))
        return try await outbox(of: customer, in: realm.storage)
    }

    func outbox(of customer: Int64, in storage: any Storage) async throws -> [Row] {
        let outbox = Statement(
            "test.outbox", [.integer],
            "SELECT \(RealmSchema.outbox.list()) FROM outbox WHERE customer_id = $1 "
                + "ORDER BY revision")
        return try await storage.read { try $0.query(outbox, [.integer(customer)]) }
    }

    @discardableResult
    func buy(
        _ id: String, quantity: Int = 1, price: Int64? = nil, username: String? = nil,
        session: DeviceSession? = nil
    ) async throws -> PurchaseResponse {
        try await buy(
            "credits.5", id, quantity: quantity, price: price, username: username,
            session: session)
    }
}
