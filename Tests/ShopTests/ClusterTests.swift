// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoragePostgres
import StorageSQLite
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// A realm whose customers are shared out: the default customer is on the
/// other cluster, `neighbour` at home.
@Suite(.timeLimit(.minutes(5))) struct ClusterTests {
    static func world(
        _ places: TestPlaces = TestPlaces(far: [TestClusters.far]), wall: TestWall = TestWall(),
        processor: ScriptedProcessor? = nil, courier: (any Courier)? = nil
    ) async throws -> TestWorld {
        let world = try await TestWorld.open(
            places: places, wall: wall, processor: processor, courier: courier)
        do {
            _ = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "neighbour"))
        } catch let refusal as Refusal { #expect(refusal.kind == .conflict) }
        return world
    }

    static let customers = Statement("test.customers", "SELECT customer_id FROM customers")
    static let sold = Statement("test.sold", "SELECT transaction_id, customer_id FROM transactions")

    static func count(_ statement: Statement, _ world: TestWorld) async throws -> [Int] {
        try await world.realm.clusters.readAll { try $0.query(statement, []).count }
    }

    static func fault(_ operation: () async throws -> Void) async -> StorageFault? {
        do { try await operation() } catch { return error as? StorageFault }
        return nil
    }

    private func put(_ price: Int64, _ world: TestWorld) async throws {
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: price), app: AppDescription(bundleID: TestWorld.bundleID))
    }

    @Test func `each customer's facts are on one cluster, by the bucket`() async throws {
        let world = try await Self.world()

        let far = try await world.buy("credits.5", purchaseID(1))
        let near = try await world.buy(
            "credits.5", purchaseID(1), session: try await world.session(customer: "neighbour"))

        #expect(far.state == "sold" && near.state == "sold")
        #expect(try await Self.count(Self.customers, world) == [1, 1])
        #expect(try await Self.count(Self.sold, world) == [1, 1])
        for (index, storage) in world.realm.clusters.all.enumerated() {
            let rows = try await storage.read { try $0.query(Self.sold, []) }
            for row in rows {
                for column in ["transaction_id", "customer_id"] {
                    let number = try row.integer(column)
                    #expect(world.realm.clusters.map.cluster(of: number) == index)
                }
            }
        }
    }

    @Test(.enabled(if: TestClusters.areShared))
    func `with the environment's clusters, tests have customers on both`() async throws {
        let world = try await Self.world(TestPlaces())

        #expect(try await Self.count(Self.customers, world) == [1, 1])
    }

    @Test func `a purchase on another cluster is one commit of five statements there`() async throws
    {
        let world = try await Self.world()
        let session = try await world.session()
        try await world.buy("credits.10", purchaseID(1), session: session)
        world.places.counter.reset()

        try await world.buy("credits.5", purchaseID(2), session: session)

        #expect(world.places.counter.commits == 1)
        #expect(world.places.counter.statements.count == 5)
    }

    // MARK: A cluster that is down

    @Test func `a cluster that is down stops only its own customers`() async throws {
        let world = try await Self.world()
        let (far, near) = (
            try await world.session(), try await world.session(customer: "neighbour")
        )
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }

        let fault = await Self.fault {
            try await world.buy("credits.5", purchaseID(1), session: far)
        }
        let sold = try await world.buy("credits.5", purchaseID(1), session: near)
        let readiness = try await world.store.readiness()

        #expect(fault?.code == .unavailable)
        #expect(fault?.reason.contains(TestClusters.far) == true)
        #expect(sold.state == "sold")
        #expect(readiness.clustersAway == [TestClusters.far])

        world.places.down.withLock { $0 = [] }
        let later = try await world.buy("credits.5", purchaseID(1), session: far)
        world.wall.advance(seconds: 2)
        let well = try await world.store.readiness()
        #expect(later.state == "sold")
        #expect(well.clustersAway.isEmpty)
    }

    @Test func `a store starts beside a cluster that is down, which comes back`() async throws {
        let first = try await Self.world()
        let token = try await first.signIn().token
        first.places.down.withLock { _ = $0.insert(TestClusters.far) }

        let world = try await first.restarted()
        let near = try await world.session(customer: "neighbour")
        let sold = try await world.buy("credits.5", purchaseID(1), session: near)
        let fault = await Self.fault { _ = try await world.realm.customers.session(token: token) }

        #expect(sold.state == "sold")
        #expect(fault?.code == .unavailable)
        #expect(
            world.logged.count("a cluster does not answer: its customers have to wait") == 1)

        world.places.down.withLock { $0 = [] }
        let far = try await world.realm.customers.session(token: token)
        #expect(try await world.buy("credits.5", purchaseID(1), session: far).state == "sold")
    }

    @Test func `words reach listeners that came before the cluster`() async throws {
        let first = try await Self.world()
        let token = try await first.signIn().token
        first.places.down.withLock { _ = $0.insert(TestClusters.far) }
        let two = try await TestWorld.open(places: first.places, wall: first.wall, randomness: 7)
        first.places.down.withLock { $0 = [] }
        let session = try await two.realm.customers.session(token: token)
        let never = NoTimeout()

        async let waiting: Void = two.realm.purchases.changes(
            since: session.revision, session, timeout: never.wait)
        await never.started()
        try await first.buy("credits.5", purchaseID(1), session: session)

        try await waiting
    }

    @Test func `a list that lacks a cluster is no list`() async throws {
        let world = try await Self.world()
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }

        let fault = await Self.fault { _ = try await world.realm.customers.listCustomers() }

        #expect(fault?.code == .unavailable)
    }

    @Test func `metrics show which cluster does not answer`() async throws {
        let world = try await Self.world()
        let well = try await world.store.figures().first?.clusters
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }

        let figures = try await world.store.figures().first?.clusters

        #expect(well == [TestClusters.far: true])
        #expect(figures == [TestClusters.far: false])
    }

    // MARK: A clock, while a cluster is down

    private func advance(_ world: TestWorld) async throws -> ClockDescription {
        try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 2 * 86_400_000), TestWorld.context)
    }

    @Test func `a jump is not done before a cluster that is away has done its work`()
        async throws
    {
        var world = try await Self.world()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: true))
        let kid = try await world.session(customer: "kid")
        try #require(world.realm.clusters.map.cluster(of: kid.customer.value) == 1)
        let asked = try await world.buy("credits.5", purchaseID(1), session: kid)
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }

        let moved = try await advance(world)
        let shown = try await world.realm.clock()
        world = try await world.restarted()
        let restarted = try await world.realm.clock()

        let left = JumpDescription(
            target: TestWall.start.adding(seconds: 2 * 86_400), reached: TestWall.start)
        #expect(asked.state == "waiting")
        #expect(moved.jump == left && shown.jump == left && restarted.jump == left)
        #expect(moved.clustersAway == [TestClusters.far])
        #expect(shown.clustersAway == [TestClusters.far])

        world.places.down.withLock { $0 = [] }
        #expect(try await world.realm.clock().jump == left)
        try await world.realm.keeping.workOnce()
        let done = try await world.realm.clock()
        #expect(done.jump == nil && done.clustersAway == nil)
        #expect(try await world.buy("credits.5", purchaseID(1), session: kid).state == "refused")
    }

    @Test func `a worker ends no jump of which a cluster has not heard`() async throws {
        let world = try await Self.world()
        _ = try await world.session()
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }
        let jump = try await advance(world).jump
        world.places.down.withLock { $0 = [] }
        // It answers again, by the clock that it had.
        #expect(try await world.realm.clock().clustersAway == [TestClusters.far])

        _ = try await world.realm.worker.workDue(in: 0)

        #expect(jump != nil)
        #expect(try await world.realm.clock().jump == jump)
    }

    @Test func `a clock that was set back names the cluster that does not know`() async throws {
        let world = try await Self.world()
        _ = try await world.session()
        _ = try await advance(world)
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }

        let moved = try await world.realm.moveClock(
            MoveClockRequest(runOffsetMilliseconds: 0), TestWorld.context)

        #expect(moved.jump == nil && moved.clustersAway == [TestClusters.far])
        world.places.down.withLock { $0 = [] }
        try await world.realm.keeping.tidy(1)
        #expect(try await world.realm.clock().clustersAway == nil)
    }

    @Test func `a worker ends a jump when the last cluster has done its work`() async throws {
        let world = try await Self.world()
        _ = try await world.session()
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }
        #expect(try await advance(world).jump != nil)

        let worker = Task { await world.store.work() }
        defer { worker.cancel() }
        world.places.down.withLock { $0 = [] }

        try await until("the jump is done") {
            world.wall.advance(seconds: 1)
            world.realm.ringAll()
            return try await world.realm.clock().jump == nil
        }
        worker.cancel()
        await worker.value
    }

    // MARK: House rows

    private func revisions(_ world: TestWorld) async throws -> [Int64] {
        try await world.realm.clusters.readAll {
            try $0.first(Statement.Houses.state)?.integer("house_revision") ?? -9
        }
    }

    @Test func `a change at home is everywhere before it is answered`() async throws {
        let world = try await Self.world()

        try await put(1290, world)
        _ = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 86_400_000), TestWorld.context)

        let all = try await revisions(world)
        #expect(all.count == 2 && all[0] == all[1] && all[0] > 0)
        let sold = try await world.buy("credits.5", purchaseID(1), price: 1290)
        let payload = try world.verified(sold.signedTransaction)
        #expect(payload.purchaseDate == TestWall.start.adding(milliseconds: 86_400_000))
    }

    @Test func `a change reaches a cluster that was away, and is logged until then`()
        async throws
    {
        let world = try await Self.world()
        let session = try await world.session()
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }
        try await put(1290, world)
        let words = "a change cannot be copied to a cluster at present"
        #expect(world.logged.count(words) == 1)
        world.places.down.withLock { $0 = [] }

        // What the cluster knows is what is shown there and sold there.
        let shown = try await world.realm.catalogue.products(
            ProductsRequest(ids: ["credits.5"]), session, TestWorld.context)
        let old = try await world.buy("credits.5", purchaseID(1), session: session)
        try await world.realm.keeping.workOnce()
        let late = try await world.buy("credits.5", purchaseID(2), session: session)
        let new = try await world.buy(
            "credits.5", purchaseID(3), price: 1290, session: session)

        #expect(shown.products.map(\.price) == [990])
        #expect(old.state == "sold")
        #expect(late.refusal?.code == "priceChanged" && late.product?.price == 1290)
        #expect(new.state == "sold")
    }

    @Test func `a late copier puts nothing over what is newer`() async throws {
        let world = try await Self.world()
        let old = try await world.realm.home.read { try House($0) }
        try await put(1290, world)
        let before = try await revisions(world)

        let late = try await world.realm.clusters[1].writeOrLeave {
            try old.write($0, wall: TestWall.start)
        }

        guard case .leave = late else {
            Issue.record("an older copy was written")
            return
        }

        #expect(try await revisions(world) == before)
        let sold = try await world.buy("credits.5", purchaseID(1), price: 1290)
        #expect(sold.state == "sold")
    }

    @Test func `rows that the home has no more go from the copy`() async throws {
        let world = try await Self.world()
        let context = TestWorld.context
        let bundle = TestWorld.bundleID.value
        _ = try await world.realm.catalogue.createGroup(
            CreateGroupRequest(groupId: "extra"), bundleID: bundle, context)
        let groups = Statement("test.groups", "SELECT group_id FROM subscription_groups")
        let made = try await Self.count(groups, world)

        try await world.realm.catalogue.removeGroup("extra", bundleID: bundle, context)

        #expect(made[0] == made[1] && made[0] > 0)
        #expect(try await Self.count(groups, world) == made.map { $0 - 1 })
    }

    @Test func `a home that was set back is not followed`() async throws {
        let world = try await Self.world()
        let back = Statement("test.back", "UPDATE realm SET house_revision = 0")
        try await world.realm.home.write { try $0.execute(back, []) }

        let fault = await Self.fault {
            try await Realm.bringHouse(
                from: world.realm.home, to: world.realm.clusters[1], at: TestWall.start)
        }

        #expect(fault?.code == .otherClusters)
    }

    /// A column that is added later is copied, or named here with its reason.
    @Test func `every column of a house table is copied`() async throws {
        let world = try await Self.world()
        let ownByTable: [String: Set<String>] = [
            // No customer's commit reads it, and it is secret.
            "apps": ["shared_secret"]
        ]
        let dialect = TestPlaces.isOnPostgres ? PostgresStorage.dialect : SQLiteStorage.dialect
        let rows = try await world.realm.home.read { try $0.query(dialect.columns, []) }
        var columns: [String: Set<String>] = [:]
        for row in rows {
            columns[try row.text("table_name"), default: []].insert(try row.text("column_name"))
        }
        for table in HouseCopy.all {
            let named = Set(table.columns.map(\.name)).union(ownByTable[table.name] ?? [])
            #expect(columns[table.name] == named)
        }
    }

    // MARK: Resets

    @Test func `a reset takes what happened out of every cluster`() async throws {
        let world = try await Self.world()
        try await world.buy("credits.5", purchaseID(1))
        try await world.buy(
            "credits.5", purchaseID(1), session: try await world.session(customer: "neighbour"))

        let reset = try await world.store.resetRealm(
            named: Store.defaultRealm, TestWorld.context)

        #expect(reset.purchases == 2 && reset.sessions == 2)
        #expect(try await Self.count(Self.sold, world) == [0, 0])
        #expect(try await Self.count(Self.customers, world) == [1, 1])
        let generations = try await world.realm.clusters.readAll {
            try $0.first(Statement.Houses.state)?.integer("generation")
        }
        #expect(generations == [reset.generation, reset.generation])
    }

    @Test func `a realm with a seed counts on from all clusters`() async throws {
        let places = TestPlaces(far: [TestClusters.far])
        let first = try await TestWorld.open(places: places, seed: 5)
        let one = try await first.buy("credits.5", purchaseID(1))
        let second = try await first.restarted()
        let two = try await second.buy("credits.5", purchaseID(2))

        let ids = try [one, two].map { try second.verified($0.signedTransaction).transactionId }
        #expect(ids[0] != ids[1])

        places.down.withLock { _ = $0.insert(TestClusters.far) }
        let fault = await Self.fault { _ = try await second.restarted() }
        #expect(fault?.code == .unavailable)
    }

    // MARK: Signing in

    @Test func `a customer whose row was never written comes by signing in`() async throws {
        let world = try await Self.world()
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }
        let made = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "Late", password: "secret"))
        world.places.down.withLock { $0 = [] }
        #expect(
            world.realm.clusters.map.cluster(of: try #require(Int64(made.customerId))) == 1)
        #expect(try await Self.count(Self.customers, world) == [1, 1])

        let wrong = try await refusal {
            try await world.signIn(customer: "late", password: "wrong")
        }
        let signedIn = try await world.signIn(customer: "late", password: "secret")

        #expect(wrong.error.code == "signInRefused")
        #expect(signedIn.customerId == made.customerId)
        #expect(try await Self.count(Self.customers, world) == [1, 2])
        let left = Statement("test.arrivals", "SELECT customer_id FROM arrivals")
        #expect(try await Self.count(left, world) == [0, 0])
    }

    @Test func `one that comes twice stays as it is`() async throws {
        let world = try await Self.world()
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }
        let made = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "late", password: "old"))
        world.places.down.withLock { $0 = [] }
        let number = try #require(Int64(made.customerId))
        let arrival = try #require(
            try await world.realm.home.read {
                try $0.first(Statement.Clustering.arrival, [.integer(number)])
            })
        try await world.realm.settleArrivals(in: 1)
        _ = try await world.realm.customers.changeCustomer(
            made.customerId, ChangeCustomerRequest(password: "new"), TestWorld.context)

        try await world.realm.settle(arrival: arrival)

        let signedIn = try await world.signIn(customer: "late", password: "new")
        #expect(signedIn.customerId == made.customerId)
    }

    @Test func `a name is one customer's, wherever the customers are`() async throws {
        let world = try await Self.world()
        for name in ["customer", "NEIGHBOUR", "Customer"] {
            let taken = try await refusal {
                try await world.realm.customers.createCustomer(CreateCustomerRequest(name: name))
            }
            #expect(taken.error.code == "customerExists")
        }
        #expect(try await Self.count(Self.customers, world) == [1, 1])
    }

    // MARK: The audit

    @Test func `the audit names a cluster whose newest entries are missing`() async throws {
        let world = try await Self.world()
        let customer = try await world.session().customer.description
        _ = try await world.realm.customers.changeCustomer(
            customer, ChangeCustomerRequest(canMakePayments: false), TestWorld.context)
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }

        let partial = try await world.realm.auditEntries()
        world.places.down.withLock { $0 = [] }
        let whole = try await world.realm.auditEntries(
            after: partial.entries.last.map {
                "\($0.entry)"
            })

        #expect(partial.clustersAway == [TestClusters.far])
        #expect(!partial.entries.contains { $0.deed == "customer.change" })
        #expect(whole.clustersAway == nil)
        #expect(whole.entries.map(\.deed) == ["customer.change"])
    }

    @Test func `the realm's audit has what every cluster's has, once`() async throws {
        let world = try await Self.world()
        let customers = try await world.realm.customers.listCustomers()
        for customer in customers {
            _ = try await world.realm.customers.changeCustomer(
                customer.customerId, ChangeCustomerRequest(canMakePayments: false),
                TestWorld.context)
        }

        let first = try await world.realm.auditEntries().entries
        let again = try await world.realm.auditEntries().entries

        let changes = first.filter { $0.deed == "customer.change" }.map(\.subject)
        #expect(Set(changes) == Set(customers.map(\.customerId)) && changes.count == 2)
        #expect(first == again)
        #expect(first.map(\.entry) == (1...Int64(first.count)).map { $0 })
    }
}
