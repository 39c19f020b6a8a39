// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Ten years of many subscriptions, whose customers decide by a seed.
@Suite(.onPostgresAlready, .unforgiven, .timeLimit(.minutes(30))) struct DecadeTests {
    /// 50, and in a soak 1,000.
    private static let customers = SeededShare.isAll ? 1000 : 50

    /// Twice on SQLite, the second time beside the store's own worker, and once on
    /// PostgreSQL. With few customers a commit, so that most
    /// commits are foreseen while others are written. Commits of all customers are not, and
    /// have the same story.
    @Test(arguments: [Seeds.fresh])
    func `the same seed gives the same ten years, on both engines`(seed: UInt64) async throws {
        let first = try await Decade(seed, customers: Self.customers).play()
        let told = try await first.whole()
        #expect(told.count > Self.customers * 50)
        try await first.check()

        let beside = Decade(seed, customers: Self.customers, isBesideWorker: true)
        #expect(try await beside.play().whole() == told)
        let cluster = try await PostgresCluster.shared()
        let places = TestPlaces(server: TestPlaces.Server(conninfo: cluster.conninfo))
        let other = try await Decade(seed, customers: Self.customers, places: places).play()
        #expect(try await other.whole() == told)

        let whole = Decade(seed, customers: Self.customers, customersOfCommit: Self.customers)
        #expect(try await whole.play().unnumbered() == first.unnumbered())
    }

    /// The years of a processor that approves are those of a rule, and each period
    /// is charged once.
    @Test(arguments: [Seeds.fresh])
    func `a processor's years are those of a rule`(seed: UInt64) async throws {
        let ruled = try await Decade(seed, customers: 8, years: 2).play()
        let processor = ScriptedProcessor([])
        let charged = try await Decade(
            seed, customers: 8, years: 2, processor: processor, customersOfCommit: 3
        ).play()
        for _ in 0..<3 {
            try await charged.realm.keeping.workOnce()
            charged.wall.advance(seconds: 60)
        }

        // Numbers are drawn in the order of the answers.
        #expect(try await charged.unnumbered() == ruled.unnumbered())
        #expect(Set(processor.keys).count == processor.keys.count)
        try await charged.checkMoney(processor)
        try await charged.check()
    }
}

/// Customers who buy, cancel, change and fail to pay, every three months.
private struct Decade {
    private let customers: Int
    private let years: Int
    private let places: TestPlaces
    private let processor: ScriptedProcessor?
    private let customersOfCommit: Int
    private let isBesideWorker: Bool
    private var generator: SeededGenerator

    init(
        _ seed: UInt64, customers: Int, years: Int = 10, places: TestPlaces = TestPlaces(),
        processor: ScriptedProcessor? = nil, customersOfCommit: Int = 10,
        isBesideWorker: Bool = false
    ) {
        (self.customers, self.years, self.places) = (customers, years, places)
        (self.processor, self.customersOfCommit) = (processor, customersOfCommit)
        self.isBesideWorker = isBesideWorker
        generator = SeededGenerator(seed)
    }

    func play() async throws -> TestWorld {
        var decade = self
        return try await decade.run()
    }

    private mutating func run() async throws -> TestWorld {
        let world = try await TestWorld.openWithSubscriptions(
            places: places, seed: 11, processor: processor,
            customersOfCommit: customersOfCommit)
        let working = isBesideWorker ? Task { await world.store.work() } : nil
        var sessions: [DeviceSession] = []
        for n in 0..<customers {
            _ = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "c\(n)"))
            sessions.append(try await world.session(customer: "c\(n)"))
            let product = generator.one(of: ["news", "paid", "small", "trial", "yearly"])
            try await buy(product, n, sessions[n], world)
        }
        for quarter in 1...years * 4 {
            for turn in 0..<max(2, customers / 10) {
                let session = sessions[generator.integer(in: 0...(customers - 1))]
                try await decide(quarter * 1000 + turn, session, world)
            }
            try await world.jump(Period(3, .month))
        }
        working?.cancel()
        await working?.value
        return world
    }

    private func buy(
        _ product: String, _ n: Int, _ session: DeviceSession, _ world: TestWorld
    ) async throws {
        let asked = try await world.realm.catalogue.products(
            ProductsRequest(ids: [product]), session, TestWorld.context
        ).products.first
        try await world.buy(
            product, purchaseID(n),
            price: asked?.offer?.price ?? asked?.price, session: session)
    }

    /// One decision of one customer, or of the operator about the customer. Some
    /// are refused, as they come.
    private mutating func decide(
        _ n: Int, _ session: DeviceSession, _ world: TestWorld
    ) async throws {
        let (room, context) = (world.realm.subscriptions, TestWorld.context)
        let all = try await room.list(customer: session.customer.description).subscriptions
        guard let id = all.first?.subscriptionId else { return }
        let deed = generator.integer(in: 0...9)
        let product = generator.one(of: ["news", "small", "premium", "yearly"])
        let (flag, days) = (generator.boolean(), generator.integer(in: 1...20))
        do {
            switch deed {
            case 0...2: try await buy(product, n + 100, session, world)
            case 3: try await room.switchRenewal(of: id, on: false, context)
            case 4: try await room.switchRenewal(of: id, on: true, context)
            case 5, 6: try await room.failBilling(of: id, deed == 5, context)
            case 7: try await room.extend(id, days: days, context)
            case 8:
                let now = try await world.realm.clock().now
                let price = 5000 + Int64(n)
                try await room.raisePrice(
                    of: id,
                    RaisePriceRequest(price: price, startDate: now, needsConsent: flag), context)
            default: try await room.answerIncrease(of: id, isAgreed: flag, context)
            }
        } catch is Refusal {}
    }
}

extension TestWorld {
    /// The story without the numbers of transactions, which refunds name.
    fileprivate func unnumbered() async throws -> [String] {
        try await story().map { $0.replacing(#/transaction [0-9]+/#, with: "") }
    }

    /// The stored state is the fold of the events; a customer may use what was paid
    /// for, and within a grace period; no two periods cost the same time, unless an
    /// upgrade cut the first one short.
    fileprivate func check() async throws {
        try await checkFolds()
        let events = Statement(
            "test.bodies",
            "SELECT customer_id, subscription_id, body FROM subscription_events"
                + " ORDER BY customer_id, subscription_id, event")
        let rows = try await realm.rows(events)
        let lives = Dictionary(grouping: rows) { try? $0.integer("subscription_id") }
        var sold: [Int64] = []
        for life in lives.values {
            let events = try life.map { row -> SubscriptionEvent in
                try StoredJSON.value(try row.text("body"), "an event")
            }
            sold += events.compactMap(\.change.sold).map(\.price.amount.milliunits)
            checkEntitlement(events)
        }
        let paid = try await realm.rows(
            Statement("test.paid", "SELECT total_price FROM transactions")
        ).map { try $0.integer("total_price") }
        #expect(paid.sorted() == sold.sorted())
    }

    private func checkEntitlement(_ events: [SubscriptionEvent]) {
        var (paidUntil, whole) = (Timestamp(milliseconds: 0), Subscription?.none)
        for event in events {
            if let period = event.change.sold {
                if case .renewed = event.change {
                    #expect(period.start == paidUntil, "periods follow each other")
                }
                paidUntil = period.end
            }
            if case .extended(let end, _) = event.change { paidUntil = end }
            if whole == nil { whole = Subscription(first: event) } else { whole?.apply(event) }
            guard let usable = whole?.usableUntil else { continue }
            let grace = GracePeriod.sixteenDays.end(from: paidUntil, length: Period(1, .month))
            #expect(usable <= grace ?? paidUntil)
            if case .active? = whole?.state { #expect(usable == paidUntil) }
        }
    }
}
