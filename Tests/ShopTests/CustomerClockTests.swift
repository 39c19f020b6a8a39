// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Clocks that customers have instead of the realm's.
@Suite(.timeLimit(.minutes(5))) struct CustomerClockTests {
    /// A world with customers who have each bought `news`.
    private func world(
        _ names: [String], places: TestPlaces = TestPlaces(), courier: ScriptedCourier? = nil
    ) async throws -> TestWorld {
        let world = try await TestWorld.open(places: places, courier: courier)
        try await world.realm.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            TestWorld.context)
        if courier != nil {
            try await world.realm.catalogue.setNotificationURL(
                TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        }
        for (n, name) in names.enumerated() {
            _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: name))
            let session = try await world.session(customer: name)
            try await world.buy("news", purchaseID(n), session: session)
        }
        return world
    }

    private func attach(
        _ world: TestWorld, _ names: [String], to clock: String? = nil
    ) async throws -> ClockDescription {
        try await world.realm.customers.attachClock(
            AttachClockRequest(customers: names, clockId: clock), TestWorld.context)
    }

    private func advance(
        _ world: TestWorld, _ name: String, _ period: String,
        _ notifications: JumpNotifications? = nil
    ) async throws -> ClockDescription {
        try await world.realm.customers.moveClock(
            of: name,
            MoveClockRequest(advancePeriod: period, notifications: notifications?.rawValue),
            TestWorld.context)
    }

    /// How often a customer's subscription was renewed.
    private func renewals(_ world: TestWorld, _ name: String) async throws -> Int {
        let id = try await world.realm.customers.known(name)
        return try await world.realm.subscriptions.history(of: id.description).events
            .count { $0.kind == "renewed" }
    }

    @Test func `a jump of a customer's clock does only what is due by it`() async throws {
        let world = try await world(["ann", "bob", "cid"])
        let token = try await world.signIn(customer: "ann").token
        let attached = try await attach(world, ["ann", "cid"])

        let moved = try await advance(world, "ann", "P2M")

        #expect(attached.clockId == "1" && attached.now == TestWall.start)
        #expect(moved.customerIds?.count == 2 && moved.clockId == "1")
        #expect(moved.now == TestWall.start.adding(Period(2, .month)))
        let counts = [
            try await renewals(world, "ann"), try await renewals(world, "bob"),
            try await renewals(world, "cid"),
        ]
        #expect(counts == [2, 0, 2])
        #expect(try await world.realm.clock().now == TestWall.start)
        // Wall time did not move, so the session is valid, and dated by the clock.
        let session = try await world.realm.customers.session(token: token)
        #expect(session.clock.now(wall: world.wall.clock.now) == moved.now)
        let sold = try await world.buy("credits.5", purchaseID(20), session: session)
        #expect(try world.verified(sold.signedTransaction).purchaseDate == moved.now)
        #expect(try world.verified(sold.signedTransaction).signedDate == moved.now)
    }

    @Test func `a jump of the realm's clock leaves customers with another`() async throws {
        let world = try await world(["ann", "bob"])
        _ = try await attach(world, ["ann"])

        try await world.jump(Period(3, .month))

        #expect(try await renewals(world, "ann") == 0)
        #expect(try await renewals(world, "bob") == 3)
        #expect(try await world.realm.customers.clock(of: "ann").now == TestWall.start)
        #expect(try await world.realm.clock().jump == nil)
    }

    @Test func `who joins a clock gets its time, and who leaves it the realm's`() async throws {
        let world = try await world(["ann", "bob"])
        let clock = try await attach(world, ["ann"])
        _ = try await advance(world, "ann", "P3M")

        let joined = try await attach(world, ["bob"], to: clock.clockId)
        #expect(joined.customerIds?.count == 2)
        #expect(try await renewals(world, "bob") == 3)

        let left = try await world.realm.customers.detachClock(of: "bob", TestWorld.context)
        #expect(left.clockId == nil && left.now == TestWall.start)
        #expect(try await world.realm.customers.clock(of: "bob").clockId == nil)
        #expect(try await renewals(world, "bob") == 3)
        #expect(try await world.realm.customers.clocks().clocks.count == 1)
        _ = try await world.realm.customers.detachClock(of: "ann", TestWorld.context)
        if world.realm.isOneCluster {
            #expect(try await world.realm.customers.clocks().clocks.isEmpty)
        }
        let entries = try await world.realm.auditEntries().entries
            .filter { $0.deed == "customer.clock" }
        // With several clusters, the entries arrive in another order.
        #expect(
            entries.map { "\($0.before("clock")) > \($0.after("clock"))" }.sorted() == [
                "1 > the realm's", "1 > the realm's", "the realm's > 1", "the realm's > 1",
            ])
        // The number of a clock that was removed is not given again.
        #expect(try await attach(world, ["ann"]).clockId == "2")
        _ = try await attach(world, ["ann"])
        if world.realm.isOneCluster {
            #expect(try await world.realm.customers.clocks().clocks.map(\.clockId) == ["3"])
        }
    }

    @Test func `a running clock of customers falls due by itself`() async throws {
        let world = try await world(["ann", "bob"])
        _ = try await attach(world, ["ann"])
        _ = try await world.realm.customers.moveClock(
            of: "ann", MoveClockRequest(rate: 86_400), TestWorld.context)
        world.wall.advance(seconds: 62)

        try await world.realm.keeping.workOnce()

        #expect(try await renewals(world, "ann") == 2)
        #expect(try await renewals(world, "bob") == 0)
    }

    @Test func `its rate, its standing and its moves back are its own`() async throws {
        let world = try await world(["ann"])
        _ = try await attach(world, ["ann"])
        func move(_ request: MoveClockRequest) async throws -> ClockDescription {
            try await world.realm.customers.moveClock(of: "ann", request, TestWorld.context)
        }

        let fast = try await move(
            MoveClockRequest(timeRate: Tempo.monthIsFiveMinutes.rawValue))
        let stood = try await move(MoveClockRequest(isStanding: true))
        world.wall.advance(seconds: 60)
        let back = try await move(MoveClockRequest(moveTo: TestWall.start.adding(seconds: -5)))

        #expect(fast.timeRate == Tempo.monthIsFiveMinutes.rawValue)
        #expect(stood.isStanding && back.isStanding)
        #expect(back.now == TestWall.start.adding(seconds: -5))
        #expect(
            try await world.realm.clock().now == TestWall.start.adding(seconds: 60))
    }

    @Test func `notifications of its jump are sent in order, and later ones by the realm's clock`()
        async throws
    {
        let courier = ScriptedCourier()
        let world = try await world(["ann", "bob"], courier: courier)
        try await world.realm.keeping.workOnce()
        _ = try await attach(world, ["ann"])
        let before = courier.parcels.count

        let moved = try await advance(world, "ann", "P3M", .awaited)
        let jumped = courier.parcels.count
        #expect(moved.notifications == SentInJump(delivered: 3, failed: 0, unsent: 0))
        let told = try courier.parcels[before...].map { try world.opened($0) }
        #expect(told.map(\.notificationType) == Array(repeating: "DID_RENEW", count: 3))
        #expect(told.allSatisfy { $0.signedDate == moved.now })

        // What happens afterwards is due at once, although her clock is months ahead.
        let id = try await world.realm.customers.known("ann")
        let subscription = try #require(
            try await world.realm.subscriptions.list(customer: id.description).subscriptions.first)
        _ = try await world.realm.subscriptions.switchRenewal(
            of: subscription.subscriptionId, on: false, TestWorld.context)
        try await world.realm.keeping.workOnce()
        #expect(courier.parcels.count == jumped + 1)
        #expect(try await !world.realm.sends())
    }

    @Test func `a jump is stopped where its work has come to`() async throws {
        let world = try await world(["ann"])
        _ = try await attach(world, ["ann"])
        let none = try await refusal {
            try await world.realm.customers.moveClock(
                of: "ann", MoveClockRequest(stopsJump: true), TestWorld.context)
        }
        #expect(none.error.code == "noJump")
    }

    @Test(
        arguments: [
            (["nobody"], nil, "customerNotFound"), ([], nil, "customersUnclear"),
            (["ann"], "7", "clockNotFound"), (["ann"], "0", "clockNotFound"),
            (["ann"], "x", "clockNotFound"),
        ] as [([String], String?, String)])
    func `what makes no sense is refused`(
        names: [String], clock: String?, code: String
    ) async throws {
        let world = try await world(["ann"])

        let refused = try await refusal { try await attach(world, names, to: clock) }

        #expect(refused.error.code == code)
        #expect(try await world.realm.customers.clocks().clocks.isEmpty)
        let own = try await refusal { try await advance(world, "ann", "P1M") }
        #expect(own.error.code == "noOwnClock")
    }

    @Test func `production and a processor have one clock`() async throws {
        let live = try await TestWorld.open(realm: "live", environment: .production)
        let forbidden = try await refusal { try await attach(live, ["ann"]) }
        #expect(forbidden.error.code == "sandboxOnly")
        let charged = try await TestWorld.open(processor: ScriptedProcessor([]))
        let conflict = try await refusal { try await attach(charged, ["customer"]) }
        #expect(conflict.error.code == "processorCharges")
    }

    @Test func `customers' clocks outlive a restart and a reset`() async throws {
        let world = try await world(["ann", "bob"])
        _ = try await attach(world, ["ann"])
        let moved = try await advance(world, "ann", "P1M")

        let next = try await world.restarted()
        #expect(try await next.realm.customers.clock(of: "ann") == moved)
        _ = try await next.store.resetRealm(
            named: next.realm.description.name, TestWorld.context)
        let reset = try await next.store.realm(named: next.realm.description.name)
        #expect(try await reset.customers.clock(of: "ann").now == moved.now)
    }

    @Test func `a snapshot has the clocks of customers, with their rates`() async throws {
        let world = try await world(["ann", "bob"])
        guard world.realm.isOneCluster else { return }
        _ = try await attach(world, ["ann"])
        _ = try await advance(world, "ann", "P1M")
        _ = try await world.realm.customers.moveClock(
            of: "ann", MoveClockRequest(timeRate: Tempo.everyMinute.rawValue), TestWorld.context)
        let saved = try await world.realm.customers.clock(of: "ann")
        _ = try await world.realm.keeping.saveSnapshot(
            SaveSnapshotRequest(name: "a"), TestWorld.context)
        _ = try await attach(world, ["bob"])
        _ = try await world.realm.customers.moveClock(
            of: "ann", MoveClockRequest(advanceMilliseconds: 120_000), TestWorld.context)

        _ = try await world.realm.keeping.loadSnapshot("a", TestWorld.context)

        let loaded = try await world.realm.customers.clock(of: "ann")
        #expect(loaded == saved && loaded.timeRate == Tempo.everyMinute.rawValue)
        #expect(try await world.realm.customers.clock(of: "bob").clockId == nil)
        #expect(try await world.realm.customers.clocks().clocks.count == 1)
    }

    // MARK: What it costs

    @Test func `a worker looks once at any number of clocks`() async throws {
        func cost(_ count: Int) async throws -> [String] {
            let names = (0..<count).map { "c\($0)" }
            let places = TestPlaces()
            let world = try await world(names, places: places)
            for name in names { _ = try await attach(world, [name]) }
            try await world.realm.keeping.workOnce()
            places.counter.reset()
            _ = try await world.realm.worker.workDue(in: 0)
            return places.counter.statements
        }
        #expect(try await cost(2) == cost(20))
    }

    @Test func `a family shares a clock, whether it has one before or after a member joins`()
        async throws
    {
        let world = try await TestWorld.open()
        var ids: [String] = []
        for name in ["ann", "ben", "cleo"] {
            ids.append(
                try await world.realm.customers.createCustomer(CreateCustomerRequest(name: name))
                    .customerId)
        }
        try await world.realm.families.join(ids[0], member: ids[1], TestWorld.context)

        let clock = try await world.realm.customers.attachClock(
            AttachClockRequest(customers: [ids[0]]), TestWorld.context)
        #expect(clock.customerIds == [ids[0], ids[1]].sorted())
        try await world.realm.families.join(ids[0], member: ids[2], TestWorld.context)
        #expect(
            try await world.realm.customers.clock(of: ids[2]).customerIds == ids.sorted())
        _ = try await world.realm.customers.detachClock(of: ids[1], TestWorld.context)
        #expect(try await world.realm.customers.clocks().clocks.isEmpty)
    }

    @Test func `a worker that is alone does not look while nothing is due`() async throws {
        let slept = Mutex(0)
        let (asleep, sleeping) = AsyncStream.makeStream(of: Void.self)
        let places = TestPlaces(isOneProcess: true)
        let world = try await TestWorld.open(
            places: places,
            sleep: { _ in
                let count = slept.withLock { count in
                    count += 1
                    return count
                }
                if count == 5 { places.counter.reset() }
                if count < 50 { return }
                sleeping.finish()
                try await StorePorts.sleepForEver(.zero)
            })
        let work = Task { await world.realm.worker.work() }
        for await _ in asleep {}
        #expect(places.counter.statements == [])
        work.cancel()
        await work.value
    }
}
