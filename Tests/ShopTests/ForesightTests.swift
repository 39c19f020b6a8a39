// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// What a commit of inner work will write is worked out while the one before is written.
/// What changes in between is worked out anew.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct ForesightTests {
    /// Nine customers with a monthly subscription, three a commit.
    private func world(_ places: TestPlaces = TestPlaces()) async throws -> TestWorld {
        let world = try await TestWorld.openWithSubscriptions(
            places: places, customersOfCommit: 3)
        for number in 0..<9 {
            _ = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "c\(number)"))
            try await world.buy(
                "news", purchaseID(number),
                session: try await world.session(customer: "c\(number)"))
        }
        return world
    }

    private func statuses(_ world: TestWorld) async throws -> [String] {
        try await world.realm.subscriptions.list().subscriptions.map(\.status)
    }

    private func renewals(_ world: TestWorld) async throws -> Int {
        try await world.kinds().count { $0 == "renewed" }
    }

    @Test func `all commits of a page but the first are foreseen`() async throws {
        let world = try await world()
        world.places.counter.reset()

        try await world.jump(Period(1, .month))

        let statements = world.places.counter.statements
        #expect(try await renewals(world) == 9)
        #expect(statements.count { $0 == "customers.foreseen" } == 6)
        // Of the commits, only the first one asks.
        #expect(statements.count { $0 == "subscriptions.one" } == 3 + 6)
        #expect(statements.count { $0 == "customers.line" } == 9)
        try await world.checkFolds()
    }

    @Test func `two workers that foresee the same renew each once`() async throws {
        let places = TestPlaces()
        let one = try await world(places)
        let two = try await TestWorld.open(
            places: places, wall: one.wall, randomness: 2, customersOfCommit: 3)
        for _ in 0..<3 {
            one.wall.advance(seconds: 31 * 86_400)
            async let first = one.realm.worker.workDue()
            async let second = two.realm.worker.workDue()
            let counts = try await (first.count, second.count)
            #expect(counts.0 + counts.1 == 9)
        }

        #expect(try await renewals(one) == 27)
        try await one.checkFolds()
    }

    @Test func `renewals that fail since then fail`() async throws {
        let world = try await world()
        world.places.counter.afterRead(of: "customers.foreseen") {
            var change = TestWorld.withSubscriptions()
            change.settings = SandboxSettings(failsRenewals: true)
            try await world.realm.catalogue.importCatalogue(
                change, app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
        }

        try await world.jump(Period(1, .month))

        let statuses = try await statuses(world)
        #expect(statuses.count { $0 == "retry" } >= 6)
        #expect(statuses.count { $0 == "active" } == (try await renewals(world)))
        try await world.checkFolds()
    }

    @Test func `a clock that is set back since then makes nothing due`() async throws {
        let world = try await world()
        let start = try await world.realm.clock().now
        world.places.counter.afterRead(of: "customers.foreseen") {
            try await world.setClock(MoveClockRequest(standAt: start))
        }

        try await world.jump(Period(1, .month))

        #expect(try await renewals(world) <= 3)
        try await world.checkFolds()
    }

    @Test func `a customer who decides meanwhile is asked first`() async throws {
        let world = try await world()
        let all = try await world.realm.subscriptions.list().subscriptions
        let last = try #require(all.last)
        world.places.counter.afterRead(of: "customers.foreseen") {
            try await world.realm.subscriptions.extend(
                last.subscriptionId, days: 3, TestWorld.context)
        }

        try await world.jump(Period(1, .month))

        // The customer's own due work was done before, so nothing is renewed twice.
        #expect(try await renewals(world) == 9)
        let extended = try await world.realm.subscriptions.show(last.subscriptionId)
        #expect(
            extended.endDate == last.endDate.adding(Period(1, .month)).adding(seconds: 3 * 86_400))
        try await world.checkFolds()
    }

    @Test(.enabled(if: !TestClusters.areShared))
    func `a snapshot that is loaded since then is what is there`() async throws {
        let world = try await world()
        _ = try await world.realm.keeping.saveSnapshot(
            SaveSnapshotRequest(name: "before"), TestWorld.context)
        let before = try await world.realm.rows(
            Statement("test.all", "SELECT * FROM subscriptions ORDER BY customer_id"))
        world.places.counter.afterRead(of: "customers.foreseen") {
            _ = try await world.realm.keeping.loadSnapshot("before", TestWorld.context)
        }

        try await world.jump(Period(1, .month))

        let after = try await world.realm.rows(
            Statement("test.all", "SELECT * FROM subscriptions ORDER BY customer_id"))
        #expect(after == before)
        #expect(try await renewals(world) == 0)
        try await world.checkFolds()
    }
}
