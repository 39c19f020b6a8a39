// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop
@testable import Work

/// Subscriptions from their sale to the merchant's server, with a clock that
/// jumps.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionSaleTests {
    @Test func `a subscription is sold, renewed at its end, and read by a stopped app`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let bought = try await world.buy("news", purchaseID(1), session: session)
        let first = try world.verified(bought.signedTransaction)
        #expect(first.type == "Auto-Renewable Subscription" && first.price == 4990)
        #expect(first.subscriptionGroupIdentifier == "g" && first.transactionReason == "PURCHASE")
        #expect(first.expiresDate == first.purchaseDate?.adding(Period(1, .month)))
        #expect(first.originalTransactionId == first.transactionId)

        try await world.jump(Period(1, .month))

        let page = try await world.realm.purchases.transactions(
            since: bought.revision, after: nil, session, TestWorld.context)
        let second = try world.verified(page.transactions.first?.signedTransaction)
        #expect(page.transactions.count == 1)
        #expect(second.originalTransactionId == first.transactionId)
        #expect(second.purchaseDate == first.expiresDate)
        #expect(second.originalPurchaseDate == first.originalPurchaseDate)
        #expect(second.expiresDate == first.purchaseDate?.adding(Period(2, .month)))
        #expect(second.transactionReason == "RENEWAL")
        #expect(second.webOrderLineItemId != first.webOrderLineItemId)
        let receipt = try await world.receipt(session)
        #expect(receipt.purchases.map(\.expiresDate).count == 2)
        #expect(receipt.purchases.last?.expiresDate == second.expiresDate)
    }

    @Test func `each step of a life reaches the merchant with what is true then`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        try await world.buy("news", purchaseID(1))
        try await world.jump(Period(1, .month))
        try await world.realm.subscriptions.switchRenewal(
            of: try await world.subscription(), on: false, TestWorld.context)
        try await world.jump(Period(1, .month))

        let courier = ScriptedCourier()
        try await world.attempt(courier)

        let told = try courier.parcels.map { try world.opened($0) }
        #expect(
            told.map { "\($0.notificationType ?? "") \($0.subtype ?? "-") \($0.data?.status ?? 0)" }
                == [
                    "SUBSCRIBED INITIAL_BUY 2", "DID_RENEW - 2",
                    "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED 2", "EXPIRED VOLUNTARY 2",
                ])
        let renewal = try world.renewal(told.last?.data?.signedRenewalInfo)
        #expect(renewal.autoRenewStatus == 0 && renewal.expirationIntent == 1)
        #expect(renewal.autoRenewProductId == "news" && renewal.renewalPrice == nil)
    }

    @Test func `an upgrade ends the present period and a downgrade waits`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let first = try world.verified(
            try await world.buy("news", purchaseID(1), session: session).signedTransaction)
        let upgrade = try await world.buy("premium", purchaseID(2), session: session)
        let second = try world.verified(upgrade.signedTransaction)
        #expect(second.productId == "premium" && second.price == 9990)
        #expect(second.originalTransactionId == first.transactionId)
        let old = try await world.realm.purchases.transaction(first.transactionId ?? "")
        #expect(old.payload.isUpgraded == true)

        let downgrade = try await world.buy("small", purchaseID(3), session: session)

        let delivered = try world.verified(downgrade.signedTransaction)
        #expect(delivered.transactionId == second.transactionId)
        let again = try await world.buy("small", purchaseID(3), session: session)
        #expect(try world.verified(again.signedTransaction).transactionId == second.transactionId)
        try await world.jump(Period(1, .month))
        let all = try await world.realm.purchases.listTransactions().transactions
        #expect(all.map(\.payload.productId) == ["news", "premium", "small"])
        #expect(all.last?.payload.price == 1990)
    }

    @Test func `a change of the next period brings the token of the renewal`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let (one, two) = (
            "0f0f0f0f-0000-4000-8000-000000000001", "0f0f0f0f-0000-4000-8000-000000000002"
        )
        let first = try world.verified(
            try await world.buy("premium", purchaseID(1), username: one, session: session)
                .signedTransaction)
        let id = try #require(first.transactionId)
        func next() async throws -> String? {
            let all = try await world.merchant().statuses(of: id, only: []).data
            return try world.renewal(all.first?.lastTransactions.first?.signedRenewalInfo)
                .appAccountToken
        }

        try await world.buy("small", purchaseID(2), username: two, session: session)

        #expect(try await next() == two)
        try await world.buy("news", purchaseID(3), session: session)
        #expect(try await next() == two, "a change without a token keeps it")
        let present = try await world.realm.purchases.transaction(id).payload
        #expect(present.appAccountToken == one)
        try await world.jump(Period(1, .month))
        let all = try await world.realm.purchases.listTransactions().transactions
        #expect(all.map(\.payload.productId) == ["premium", "news"])
        #expect(all.map(\.payload.appAccountToken) == [one, two])
    }

    @Test func `an introductory offer is sold once, at its price`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let asked = try await world.realm.catalogue.products(
            ProductsRequest(ids: ["trial"]), session, TestWorld.context)
        #expect(asked.products.first?.offer?.price == 0)
        let wrong = try await world.buy("trial", purchaseID(1), price: 4990, session: session)
        #expect(wrong.refusal?.code == "priceChanged")

        let first = try world.verified(
            try await world.buy("trial", purchaseID(2), session: session).signedTransaction)
        #expect(first.offerType == 1 && first.offerDiscountType == "FREE_TRIAL")
        #expect(first.offerPeriod == "P1W" && first.price == 0)
        #expect(first.expiresDate == first.purchaseDate?.adding(Period(1, .week)))
        let receipt = try await world.receipt(session)
        #expect(receipt.purchases.first?.isTrialPeriod == true)

        let later = try await world.realm.catalogue.products(
            ProductsRequest(ids: ["trial"]), session, TestWorld.context)
        #expect(later.products.first?.offer == nil)
    }

    @Test(arguments: [("premium", Int64?.none, Int64(4990)), ("small", 0, 0)])
    func `the introductory offer is shown where buying begins a period`(
        present: String, offered: Int64?, price: Int64
    ) async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        try await world.buy(present, purchaseID(1), session: session)

        let asked = try await world.realm.catalogue.products(
            ProductsRequest(ids: ["trial"]), session, TestWorld.context)
        let bought = try await world.buy("trial", purchaseID(2), price: price, session: session)

        #expect(asked.products.first?.offer?.price == offered)
        #expect(bought.refusal == nil)
    }

    @Test func `a year is a jump, and the same seed gives the same year`() async throws {
        var years: [[String]] = []
        for _ in 0..<2 {
            let world = try await TestWorld.openWithSubscriptions(seed: 7)
            for n in 0..<3 {
                _ = try await world.realm.customers.createCustomer(
                    CreateCustomerRequest(name: "c\(n)"))
                let session = try await world.session(customer: "c\(n)")
                try await world.buy(n == 0 ? "weekly" : "news", purchaseID(n), session: session)
            }
            try await world.jump(Period(1, .year))
            let all = try await world.realm.purchases.listTransactions().transactions
            years.append(
                all.map {
                    "\($0.customerId) \($0.payload.transactionId ?? "") \($0.payload.expiresDate, default: "")"
                })
            #expect(all.count == 53 + 13 + 13)
        }
        #expect(years[0] == years[1])
    }

    @Test func `the renewals of many customers share commits, in order`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        for n in 0..<20 {
            _ = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "c\(n)"))
            let session = try await world.session(customer: "c\(n)")
            try await world.buy("news", purchaseID(n), session: session)
        }
        world.places.counter.reset()

        try await world.jump(Period(1, .year))

        // A commit for each month, and those that note how far the jump is.
        #expect(world.places.counter.commits < 40)
        let all = try await world.realm.purchases.listTransactions().transactions
        #expect(all.count == 20 * 13)
        for (_, theirs) in Dictionary(grouping: all, by: \.customerId) {
            let ends = theirs.map(\.payload.expiresDate?.milliseconds)
            #expect(
                Array(theirs.map(\.payload.purchaseDate?.milliseconds).dropFirst())
                    == ends.dropLast())
        }
    }

    /// A process that dies in a jump has moved the clock. The next one does the
    /// rest, and the history is the same as without the death.
    @Test(arguments: [1, 3, 7, 12, 17])
    func `a jump that is cut off is finished by the next process`(after: Int) async throws {
        func play(cut: Int?) async throws -> [String] {
            let world = try await TestWorld.openWithSubscriptions(seed: 5)
            for (n, product) in ["weekly", "news", "trial"].enumerated() {
                _ = try await world.realm.customers.createCustomer(
                    CreateCustomerRequest(name: "c\(n)"))
                let session = try await world.session(customer: "c\(n)")
                try await world.buy(product, purchaseID(n), session: session)
            }
            var last = world
            if let cut {
                let (started, start) = AsyncStream.makeStream(of: Void.self)
                let jump = Task {
                    for await _ in started { break }
                    try await world.jump(Period(3, .month))
                }
                world.places.counter.onStatement.withLock { watch in
                    let left = Mutex(cut)
                    watch = { name in
                        guard name == "subscriptions.put" else { return }
                        if left.withLock({
                            $0 -= 1; return $0 == 0
                        }) {
                            jump.cancel()
                        }
                    }
                }
                start.yield()
                _ = await jump.result
                world.places.counter.onStatement.withLock { $0 = nil }
                last = try await world.restarted()
                #expect(try await last.realm.clock().jump != nil)
                _ = try await last.realm.keeping.workOnce()
            } else {
                try await world.jump(Period(3, .month))
            }
            #expect(try await last.realm.clock().jump == nil)
            try await last.checkFolds()
            let customers = try await last.realm.customers.listCustomers()
            var told: [String] = []
            for customer in customers {
                told += try await last.realm.subscriptions.history(of: customer.customerId)
                    .events.map { "\(customer.name) \($0.event) \($0.date) \($0.message)" }
            }
            return told.sorted()
        }

        let whole = try await play(cut: nil)
        #expect(whole.count > 15)
        #expect(try await play(cut: after) == whole)
    }

    @Test func `a renewal that cannot be charged is retried, and paid when it can be`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let bought = try await world.buy("news", purchaseID(1))
        let customer = try #require(
            await world.realm.purchases.listTransactions().transactions.first?.customerId)
        _ = try await world.realm.customers.changeCustomer(
            customer, ChangeCustomerRequest(canMakePayments: false), TestWorld.context)
        try await world.jump(Period(1, .month))
        let id = try await world.subscription()
        #expect(try await world.realm.subscriptions.show(id).status == "retry")
        _ = try await world.realm.customers.changeCustomer(
            customer, ChangeCustomerRequest(canMakePayments: true), TestWorld.context)
        try await world.jump(Period(2, .day))

        let record = try await world.realm.subscriptions.show(id)

        #expect(record.status == "active")
        let page = try await world.realm.purchases.transactions(
            since: bought.revision, after: nil, try await world.session(), TestWorld.context)
        #expect(page.transactions.count == 1)
    }

    @Test func `a period that ends earlier or later says so everywhere`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let bought = try await world.buy("news", purchaseID(1), session: session)
        let first = try world.verified(bought.signedTransaction)
        let id = try #require(first.transactionId)

        try await world.realm.subscriptions.extend(id, days: 10, TestWorld.context)
        let longer = try await world.realm.purchases.transaction(id)
        #expect(
            longer.payload.expiresDate == first.expiresDate?.adding(seconds: 10 * 86_400))
        let receipt = try await world.receipt(session)
        #expect(receipt.purchases.first?.expiresDate == longer.payload.expiresDate)

        let expired = try await world.realm.subscriptions.expire(id, TestWorld.context)
        let page = try await world.realm.purchases.transactions(
            since: bought.revision, after: nil, session, TestWorld.context)
        let shorter = try world.verified(page.transactions.first?.signedTransaction)
        #expect(shorter.expiresDate == expired.now)
        #expect(expired.subscription.endDate == expired.now)
        #expect(expired.subscription.usableUntil == nil)
        try await world.checkFolds()
    }

    @Test func `a product that moves to another group is not subscribed to twice`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let first = try await world.buy("news", purchaseID(1), session: session)
        var moved = TestWorld.withSubscriptions()
        moved.catalogue.products = moved.catalogue.products.map { product in
            guard product.id == "news" else { return product }
            return Product(
                id: product.id, kind: .autoRenewable(groupID: "other", period: "P1M"),
                referenceName: "", price: product.price, localizations: product.localizations)
        }
        moved.terms["news"] = SubscriptionTerms(
            groupID: "other", level: 1, period: Period(1, .month))
        try await world.realm.catalogue.importCatalogue(
            moved, app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)

        let again = try await world.buy("news", purchaseID(2), session: session)

        #expect(
            try world.verified(again.signedTransaction).transactionId
                == world.verified(first.signedTransaction).transactionId)
        #expect(try await world.realm.subscriptions.list().subscriptions.count == 1)
    }

    @Test func `a failed renewal that costs more than the product can be paid by buying`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        try await world.buy("news", purchaseID(1), session: session)
        let id = try await world.subscription()
        _ = try await world.realm.subscriptions.raisePrice(
            of: id,
            RaisePriceRequest(
                price: 5990, startDate: world.wall.clock.now, needsConsent: false),
            TestWorld.context)
        try await world.realm.subscriptions.failBilling(of: id, true, TestWorld.context)
        try await world.jump(Period(40, .day))

        let asked = try await world.buy("news", purchaseID(2), price: 4990, session: session)
        #expect(asked.refusal?.code == "priceChanged" && asked.product?.priceNow == 5990)
        let paid = try await world.buy("news", purchaseID(3), price: 5990, session: session)

        #expect(try world.verified(paid.signedTransaction).price == 5990)
    }

    @Test func `a failed renewal is paid by buying, at the customer's own price`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        try await world.buy("news", purchaseID(1), session: session)
        var change = ProductChange()
        change.price = 9990
        _ = try await world.realm.catalogue.changeProduct(
            "news", bundleID: TestWorld.bundleID.value, change, TestWorld.context)
        try await world.realm.subscriptions.failBilling(
            of: try await world.subscription(), true, TestWorld.context)
        try await world.jump(Period(40, .day))

        let paid = try await world.buy("news", purchaseID(2), price: 9990, session: session)

        let sold = try world.verified(paid.signedTransaction)
        #expect(sold.price == 4990)
        #expect(
            try await world.realm.subscriptions.show(sold.transactionId ?? "").status == "active")
    }

    @Test func `an offer's price is for the product's own price, and not for a storefront's`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        var change = ProductChange()
        change.prices = [ProductPrice(storefront: "JPN", price: 600_000)]
        _ = try await world.realm.catalogue.changeProduct(
            "paid", bundleID: TestWorld.bundleID.value, change, TestWorld.context)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "tokyo", storefront: "JPN"))
        let tokyo = try await world.session(customer: "tokyo")
        func asked(_ session: DeviceSession) async throws -> ProductDescription? {
            try await world.realm.catalogue.products(
                ProductsRequest(ids: ["paid"]), session, TestWorld.context
            ).products.first
        }

        #expect(try await asked(tokyo)?.offer == nil)
        #expect(try await asked(world.session())?.offer?.price == 990)
    }

    @Test func `a subscription that was sold by rule is charged once there is a processor`()
        async throws
    {
        let places = TestPlaces()
        let world = try await TestWorld.openWithSubscriptions(places: places)
        try await world.buy("news", purchaseID(1))

        let processor = ScriptedProcessor([])
        let next = try await world.restarted(processor: processor)
        try await next.jump(Period(1, .month))

        let record = try #require(await next.realm.subscriptions.list().subscriptions.first)
        #expect(record.status == "active")
        #expect(processor.charged.map(\.amount.milliunits) == [4990])
        #expect(try await next.realm.purchases.listTransactions().transactions.count == 2)
    }

    @Test func `a cleared history has no subscription, and the offer is new again`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        try await world.buy("trial", purchaseID(1), session: session)
        let customer = session.customer.description
        _ = try await world.realm.customers.clearHistory(
            ofCustomer: customer, TestWorld.context)
        try await world.jump(Period(1, .year))

        #expect(try await world.realm.purchases.listTransactions().transactions.isEmpty)
        let sold = try world.verified(
            try await world.buy("trial", purchaseID(2), session: session).signedTransaction)
        #expect(sold.offerType == 1)
    }
}

extension TestWorld {
    /// A world that also sells a group of subscriptions.
    static func openWithSubscriptions(
        places: TestPlaces = TestPlaces(), wall: TestWall = TestWall(), seed: Int64? = nil,
        processor: ScriptedProcessor? = nil, realm: String? = nil,
        environment: Environment = .sandbox, customersOfCommit: Int = CommitSize.subjectsMax,
        sleep: @escaping @Sendable (Duration) async throws -> Void = StorePorts.sleepForEver
    ) async throws -> TestWorld {
        let world = try await open(
            places: places, wall: wall, seed: seed, processor: processor, realm: realm,
            environment: environment, customersOfCommit: customersOfCommit, sleep: sleep)
        try await world.realm.catalogue.importCatalogue(
            withSubscriptions(), app: AppDescription(bundleID: bundleID), context)
        return world
    }

    /// The catalogue with a group of subscriptions.
    static func withSubscriptions() -> CatalogueImport {
        var catalogue = Self.catalogue()
        let monthly = Period(1, .month)
        let free = Offer(mode: .free, period: Period(1, .week), price: Amount(milliunits: 0))
        let paid = Offer(
            mode: .payAsYouGo, period: monthly, periodCount: 3, price: Amount(milliunits: 990))
        let half = Offer(
            id: "half", referenceName: "half", mode: .payUpFront, period: Period(1, .month),
            price: Amount(milliunits: 2490))
        let back = Offer(
            id: "back", referenceName: "back", mode: .payUpFront, period: Period(1, .month),
            price: Amount(milliunits: 1490), isEligible: true)
        let code = Offer(
            referenceName: "spring", mode: .free, period: Period(1, .month),
            price: Amount(milliunits: 0), eligibility: [.new, .existing, .expired])
        let plans: [(String, Int, Period, Int64, [Offer])] = [
            ("paid", 2, monthly, 4990, [paid]), ("news", 2, monthly, 4990, []),
            ("trial", 2, monthly, 4990, [free]),
            ("small", 3, monthly, 1990, []), ("premium", 1, monthly, 9990, []),
            ("weekly", 2, Period(1, .week), 1490, []),
            ("yearly", 2, Period(1, .year), 39990, []),
        ]
        var terms: [ProductID: SubscriptionTerms] = [:]
        for (id, level, period, price, offers) in plans {
            catalogue.products.append(
                Product(
                    id: ProductID(id),
                    kind: .autoRenewable(groupID: "g", period: period.description),
                    referenceName: id, price: Amount(milliunits: price),
                    localizations: [
                        Localization(locale: "en_US", displayName: id, details: "")
                    ]))
            terms[ProductID(id)] = SubscriptionTerms(
                groupID: "g", level: level, period: period, introductoryOffers: offers,
                promotionalOffers: [half], codeOffers: [code], winBackOffers: [back])
        }
        var change = CatalogueImport(catalogue)
        change.terms = terms
        return change
    }

    /// Compares each stored subscription with the fold of its stored events.
    func checkFolds() async throws {
        let events = Statement(
            "test.events", [.integer],
            "SELECT body FROM subscription_events WHERE subscription_id = $1 ORDER BY event")
        for record in try await realm.subscriptions.list().subscriptions {
            let id = try #require(Int64(record.subscriptionId))
            let (bodies, row) = try await realm.read(ofNumber: id) { reading in
                (
                    try reading.query(events, [.integer(id)]).map { try $0.text("body") },
                    try reading.first(Statement.Subscriptions.ofTransaction, [.integer(id)])
                        .map(SubscriptionRow.init(row:))
                )
            }
            let folded = try bodies.map { body -> SubscriptionEvent in
                try StoredJSON.value(body, "an event")
            }
            #expect(Subscription(folded) == row?.subscription)
            #expect(row?.events == Int64(bodies.count))
        }
    }

    /// Moves the clock, and does none of the work that falls due by that.
    func setClock(_ request: MoveClockRequest) async throws {
        let move = ClockMove(
            clock: .realm, request: request, notifications: nil, otherwise: .queued,
            farThrough: nil)
        _ = try await realm.house(.clock, Self.context) { .commit(try move.write($0)) }
    }

    func jump(_ period: Period) async throws {
        _ = try await realm.moveClock(
            MoveClockRequest(advancePeriod: period.description), Self.context)
    }

    /// The id of the only subscription.
    func subscription() async throws -> String {
        let all = try await realm.subscriptions.list().subscriptions
        return try #require(all.count == 1 ? all.first?.subscriptionId : nil)
    }

    /// What a signed renewal says.
    func renewal(_ signed: String?) throws -> JWSRenewalInfoDecodedPayload {
        let parts = try #require(signed).split(separator: ".").map(String.init)
        let body = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        let padded = body + String(repeating: "=", count: (4 - body.count % 4) % 4)
        return try JSONDecoder().decode(
            JWSRenewalInfoDecodedPayload.self, from: try #require(Data(base64Encoded: padded)))
    }
}
