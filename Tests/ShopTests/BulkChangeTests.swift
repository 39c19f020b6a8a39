// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Changes of every subscription to a product.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct BulkChangeTests {
    private static let id = "00000000-0000-4000-8000-0000000000aa"
    private static let bundleID = TestWorld.bundleID.value

    /// A world in which `count` customers subscribe to `news` and one to `premium`.
    private func subscribed(_ count: Int) async throws -> TestWorld {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: Self.bundleID, TestWorld.context)
        for n in 0...count {
            _ = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "c\(n)"))
            let session = try await world.session(customer: "c\(n)")
            try await world.buy(n == 0 ? "premium" : "news", purchaseID(n), session: session)
        }
        return world
    }

    private func extend(
        _ world: TestWorld, days: Int? = 7, product: String = "news", id: String? = id,
        storefronts: [String]? = nil, price: RaisePriceRequest? = nil
    ) async throws -> BulkChangeRecord {
        try await world.realm.subscriptions.changeAll(
            BulkChangeRequest(
                requestId: id, productId: product, storefronts: storefronts, extendByDays: days,
                price: price),
            bundleID: Self.bundleID, TestWorld.context)
    }

    @Test func `everyone's renewal is extended once, and the merchant gets a summary`()
        async throws
    {
        let world = try await subscribed(5)
        let before = try await world.ends()
        let unpaid = try #require(before.first { $0.product == "news" })
        try await world.realm.subscriptions.failBilling(of: unpaid.id, true, TestWorld.context)
        try await world.jump(Period(1, .month))
        let renewed = try await world.ends()

        let change = try await extend(world)

        #expect(change.succeededCount == 4 && change.failedCount == 1)
        #expect(change.completeDate != nil && change.requestId == Self.id)
        let again = try await extend(world)
        #expect(again == change)
        for (old, new) in zip(renewed, try await world.ends()) {
            let days: Int64 = old.product == "news" && old.id != unpaid.id ? 7 : 0
            #expect(new.end == old.end.adding(seconds: days * 86_400), "\(old.product)")
        }
        let told = try await world.signed()
        let extensions = told.filter { $0.notificationType?.hasPrefix("RENEWAL") == true }
        #expect(
            extensions.map { "\($0.notificationType ?? "") \($0.subtype ?? "-")" }.sorted() == [
                "RENEWAL_EXTENDED -", "RENEWAL_EXTENDED -", "RENEWAL_EXTENDED -",
                "RENEWAL_EXTENDED -", "RENEWAL_EXTENSION FAILURE", "RENEWAL_EXTENSION SUMMARY",
            ])
        let summary = try #require(extensions.compactMap(\.summary).first)
        #expect(summary.requestIdentifier == Self.id && summary.productId == "news")
        #expect(summary.succeededCount == 4 && summary.failedCount == 1)
        #expect(summary.environment == "Sandbox" && summary.storefrontCountryCodes == nil)
        let failure = try #require(extensions.first { $0.subtype == "FAILURE" })
        let info = try world.verified(failure.data?.signedTransactionInfo)
        #expect(info.originalTransactionId == unpaid.id && failure.summary == nil)
        try await world.checkFolds()
        let deeds = try await world.realm.auditEntries().entries.map(\.deed)
        #expect(deeds.filter { $0 == "subscription.changeAll" }.count == 1)
    }

    /// As one that it extends by itself: at most twice in a year.
    @Test func `a merchant's server extends everyone within its limits`() async throws {
        let world = try await subscribed(2)
        let merchant = try await world.merchant()
        var counts: [[Int64?]] = []
        for number in 1...3 {
            let id = "00000000-0000-4000-8000-00000000000\(number)"
            let body = """
                {"extendByDays":7,"extendReasonCode":1,"requestIdentifier":"\(id)",
                "productId":"news"}
                """
            _ = try await merchant.extendAll(Array(body.utf8), TestWorld.context)
            let status = try await merchant.extensionStatus(id, product: "news")
            counts.append([status.succeededCount, status.failedCount])
        }
        let operators = try await extend(world)

        #expect(counts == [[2, 0], [2, 0], [0, 2]])
        #expect(operators.succeededCount == 2)
    }

    @Test func `an identifier of a merchant's request has one request`() async throws {
        let world = try await subscribed(1)
        let merchant = try await world.merchant()
        func extend(
            _ product: String, days: Int = 7, storefronts: String? = nil
        ) async throws -> MassExtendRenewalDateResponse {
            let codes = storefronts.map { ",\"storefrontCountryCodes\":[\"\($0)\"]" } ?? ""
            let body = """
                {"extendByDays":\(days),"extendReasonCode":1,"requestIdentifier":"\(Self.id)",
                "productId":"\(product)"\(codes)}
                """
            return try await merchant.extendAll(Array(body.utf8), TestWorld.context)
        }

        let first = try await extend("news")
        let again = try await extend("news")
        let others = [
            try await appleError { try await extend("small") },
            try await appleError { try await extend("news", days: 8) },
            try await appleError { try await extend("news", storefronts: "USA") },
        ]

        #expect(first.requestIdentifier == Self.id && again.requestIdentifier == Self.id)
        #expect(others == [4_000_011, 4_000_011, 4_000_011])
        #expect(try await merchant.extensionStatus(Self.id, product: "news").succeededCount == 1)
        let unknown = try await appleError {
            try await merchant.extensionStatus(Self.id, product: "small")
        }
        #expect(unknown == 4_040_009)
    }

    @Test func `a customer whose own clock is ahead is extended too`() async throws {
        let world = try await subscribed(0)
        let customers = world.realm.customers
        _ = try await customers.createCustomer(CreateCustomerRequest(name: "ann"))
        _ = try await customers.attachClock(
            AttachClockRequest(customers: ["ann"]), TestWorld.context)
        _ = try await customers.moveClock(
            of: "ann", MoveClockRequest(advancePeriod: "P3M"), TestWorld.context)
        let session = try await world.session(customer: "ann")
        try await world.buy("news", purchaseID(9), session: session)

        let change = try await extend(world)

        #expect(change.succeededCount == 1 && change.failedCount == 0)
    }

    @Test func `a higher price is announced to those who pay less`() async throws {
        let world = try await subscribed(3)
        let all = try await world.ends().filter { $0.product == "news" }
        let price = RaisePriceRequest(
            price: 5990, startDate: all[0].end, needsConsent: false)
        try await world.realm.subscriptions.raisePrice(
            of: all[0].id, RaisePriceRequest(price: 7990, startDate: all[0].end),
            TestWorld.context)

        let change = try await extend(world, days: nil, price: price)

        #expect(change.succeededCount == 2 && change.failedCount == 1)
        #expect(change.price == price && change.currency == "USD")
        let prices = try await world.realm.subscriptions.list().subscriptions.compactMap(
            \.priceIncrease?.price)
        #expect(prices.sorted() == [5990, 5990, 7990])
    }

    @Test(arguments: [-5, 4_102_444_800_001, 9_000_000_000_000_000])
    func `an increase that would be pending for ever is refused`(date: Int64) async throws {
        let world = try await subscribed(1)
        let id = try #require(try await world.ends().first { $0.product == "news" }?.id)
        let price = RaisePriceRequest(
            price: 5990, startDate: Timestamp(milliseconds: date), needsConsent: false)

        let single = try await refusal {
            try await world.realm.subscriptions.raisePrice(of: id, price, TestWorld.context)
        }
        let bulk = try await refusal { try await extend(world, days: nil, price: price) }

        for refused in [single, bulk] {
            #expect(refused.error.code == "dateOutOfRange" && refused.error.field == "startDate")
        }
        let right = RaisePriceRequest(
            price: 5990, startDate: try await world.realm.clock().now, needsConsent: false)
        #expect(try await extend(world, days: nil, price: right).succeededCount == 1)
    }

    /// The store dies on both sides of a tenth of its calls, drawn by the seed.
    @Test func `everyone is extended once wherever the store dies`() async throws {
        let calls = try await BulkStoryOfCuts(nil).run()
        #expect(calls > 20)
        var fired = 0
        let cuts = SeededShare.of(0..<calls, oneIn: TestPlaces.isOnPostgres ? 30 : 10)
        for call in cuts {
            for side in Knife.Side.allCases {
                let story = BulkStoryOfCuts((call, side))
                _ = try await story.run()
                fired += story.knife.fired
            }
        }
        #expect(fired == 2 * cuts.count)
    }

    @Test func `what cannot be meant is refused, and nothing is written`() async throws {
        let world = try await subscribed(1)
        let price = RaisePriceRequest(price: 5990, startDate: Timestamp(milliseconds: 0))
        func code(_ body: () async throws -> BulkChangeRecord) async throws -> String {
            try await refusal(of: body).error.code
        }

        #expect(try await code { try await extend(world, id: "x") } == "uuidInvalid")
        #expect(try await code { try await extend(world, product: "no") } == "productIdUnknown")
        #expect(try await code { try await extend(world, product: "pro") } == "productIdUnknown")
        #expect(try await code { try await extend(world, days: 0) } == "daysOutOfRange")
        #expect(try await code { try await extend(world, days: 91) } == "daysOutOfRange")
        #expect(
            try await code { try await extend(world, storefronts: []) } == "storefrontsInvalid")
        #expect(
            try await code { try await extend(world, storefronts: ["XX"]) }
                == "storefrontsInvalid")
        #expect(try await code { try await extend(world, days: nil) } == "bulkChangeUnclear")
        #expect(try await code { try await extend(world, price: price) } == "bulkChangeUnclear")
        #expect(
            try await code {
                try await extend(world, days: nil, storefronts: ["USA", "DEU"], price: price)
            } == "currenciesDiffer")
        #expect(
            try await world.realm.subscriptions.bulkChanges(ofApp: Self.bundleID).changes.isEmpty)
        _ = try await extend(world)
        #expect(try await code { try await extend(world, days: 8) } == "bulkChangeExists")
        #expect(
            try await code { try await extend(world, product: "premium") } == "bulkChangeExists")
    }

    @Test func `an operator chooses the next product, and the merchant hears of it`()
        async throws
    {
        let world = try await subscribed(1)
        let id = try #require(try await world.ends().first { $0.product == "news" }?.id)

        let answer = try await world.realm.subscriptions.choose(
            "premium", for: id, TestWorld.context)

        #expect(answer.events.map(\.kind) == ["choseProduct"])
        #expect(answer.subscription.nextProductId == "premium")
        let other = try await refusal(of: {
            try await world.realm.subscriptions.choose("pro", for: id, TestWorld.context)
        })
        #expect(other.error.code == "productIdUnknown")
        try await world.jump(Period(1, .month))
        let now = try await world.realm.subscriptions.show(id)
        #expect(now.productId == "premium" && now.nextCharge?.price == 9990)
    }
}

/// Two customers subscribe, and both are extended, however often the store dies.
private final class BulkStoryOfCuts: Sendable {
    let knife: Knife
    private let places = TestPlaces(isOneProcess: true)
    private let wall = TestWall()
    private static let request = BulkChangeRequest(
        requestId: "00000000-0000-4000-8000-0000000000aa", productId: "news", extendByDays: 7)

    init(_ cut: Knife.Cut?) { knife = Knife(cut) }

    func run() async throws -> Int {
        let calls = try await knife.walk(deathsMax: 3) { try await walk() }
        try await audit()
        return calls
    }

    private func open(_ knife: Knife) async throws -> Store {
        try await Store.open(
            StorePorts(
                places: knife.cutting(places.places), keys: try await TestWorld.keys.value,
                wall: wall.clock, randomness: .seeded(UInt64(knife.calls + 7)),
                passwordCost: PasswordCost(rounds: 2)))
    }

    private func walk() async throws {
        let store = try await open(knife)
        let realm = try await store.realm(named: Store.defaultRealm)
        if try await realm.catalogue.apps().isEmpty {
            try await realm.catalogue.importCatalogue(
                TestWorld.withSubscriptions(),
                app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
        }
        for (n, name) in [nil, "ann"].enumerated() { try await subscribe(n, name, realm) }
        _ = try await realm.subscriptions.changeAll(
            Self.request, bundleID: TestWorld.bundleID.value, TestWorld.context)
        try knife.check()
        wall.advance(seconds: 7200)
        try await realm.keeping.workOnce()
        try knife.check()
        await store.close()
    }

    private func subscribe(_ n: Int, _ name: String?, _ realm: Realm) async throws {
        if let name {
            let request = CreateCustomerRequest(name: name)
            do { _ = try await realm.customers.createCustomer(request) } catch let refusal
                as Refusal
            { guard refusal.kind == .conflict else { throw refusal } }
        }
        let signedIn = try await realm.customers.signIn(
            SignInRequest(deviceUUID: TestWorld.deviceUUID, customer: name), TestWorld.context)
        let session = try await realm.customers.session(token: signedIn.token)
        _ = try await realm.purchases.purchase(
            purchaseID(n),
            PurchaseRequest(productId: "news", quantity: 1, unitPrice: 4990, currency: "USD"),
            session, TestWorld.context)
        try knife.check()
    }

    private func audit() async throws {
        let store = try await open(Knife(nil))
        let realm = try await store.realm(named: Store.defaultRealm)
        for _ in 0..<3 {
            wall.advance(seconds: 7200)
            try await realm.keeping.workOnce()
        }
        let change = try await realm.subscriptions.changeAll(
            Self.request, bundleID: TestWorld.bundleID.value, TestWorld.context)
        #expect(change.succeededCount == 2 && change.failedCount == 0)
        #expect(change.completeDate != nil)
        for customer in try await realm.customers.listCustomers() {
            let history = try await realm.subscriptions.history(of: customer.customerId).events
            #expect(history.map(\.kind) == ["subscribed", "extended"])
        }
        let owed = Statement(
            "test.owed", "SELECT notification_type FROM outbox ORDER BY notification_type")
        let types = try await realm.rows(owed).map { try $0.text("notification_type") }
        #expect(
            types == [
                "RENEWAL_EXTENDED", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "SUBSCRIBED",
                "SUBSCRIBED",
            ])
        await store.close()
    }
}

extension TestWorld {
    /// What every owed notification says.
    fileprivate func signed() async throws -> [ResponseBodyV2DecodedPayload] {
        let owed = Statement("test.owed", "SELECT customer_id, cause FROM outbox")
        var payloads: [ResponseBodyV2DecodedPayload] = []
        for row in try await realm.rows(owed) {
            let ready = try await realm.merchant.readyNotification(
                try row.text("cause"), of: CustomerID(try row.integer("customer_id")))
            payloads.append(try opened(ready?.signedPayload))
        }
        return payloads
    }

    fileprivate func ends() async throws -> [(id: String, product: String, end: Timestamp)] {
        try await realm.subscriptions.list().subscriptions.map {
            ($0.subscriptionId, $0.productId, $0.endDate)
        }
    }
}
