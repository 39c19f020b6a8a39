// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// What is kept for a time only, and what is never removed.
@Suite(.timeLimit(.minutes(5))) struct PruneTests {
    private static let day: Int64 = 86_400

    private func count(_ table: String, _ world: TestWorld) async throws -> Int {
        let all = Statement("test.\(table)", "SELECT * FROM \(table)")
        return try await world.realm.rows(all).count
    }

    /// Sales and a test, sent, as many days ago as asked.
    private func world(_ courier: ScriptedCourier) async throws -> TestWorld {
        let world = try await TestWorld.open(courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        for n in 1...5 { try await world.buy(purchaseID(n)) }
        _ = try await world.realm.merchant.sendNotification(
            SendNotificationRequest(
                bundleId: TestWorld.bundleID.value, notificationType: "TEST"), TestWorld.context)
        try await world.realm.keeping.workOnce()
        return world
    }

    @Test func `what was signed is kept for half a year and a week`() async throws {
        let world = try await world(ScriptedCourier())
        try #require(try await count("notifications", world) == 6)

        world.wall.advance(seconds: 190 * Self.day)
        try await world.realm.keeping.prune()
        #expect(try await count("notifications", world) == 6)
        world.wall.advance(seconds: 1)
        try await world.buy(purchaseID(6))
        try await world.realm.keeping.workOnce()
        let removed = try await world.realm.keeping.prune(batch: 2)

        #expect(removed == 6)
        #expect(try await count("notifications", world) == 1)
        #expect(try await count("notification_attempts", world) == 1)
        // The sales' causes stay, the test's is gone.
        #expect(try await count("outbox", world) == 6)
        #expect(try await count("transactions", world) == 6)
        #expect(try await world.realm.keeping.prune() == 0)
    }

    @Test func `what is still owed is never removed`() async throws {
        let courier = ScriptedCourier(Delivery(.timedOut))
        let world = try await TestWorld.open(
            realm: "live", environment: .production, courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            "https://example.com/", bundleID: TestWorld.bundleID.value, TestWorld.context)
        _ = try await world.realm.merchant.sendNotification(
            SendNotificationRequest(
                bundleId: TestWorld.bundleID.value, notificationType: "TEST"), TestWorld.context)
        try await world.realm.keeping.workOnce()
        world.wall.advance(seconds: 400 * Self.day)

        #expect(try await world.realm.keeping.prune() == 0)
        try await world.realm.keeping.workOnce()

        #expect(courier.parcels.count == 2)
        #expect(Set(courier.parcels).count == 1)
        #expect(try await world.realm.keeping.prune() == 1)
        #expect(try await count("outbox", world) == 0)
    }

    @Test func `sessions go a month after their end`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "other"))
        let old = try await world.signIn()
        world.wall.advance(seconds: 300 * Self.day)
        let new = try await world.signIn(customer: "other")

        let ends = Statement("test.ends", "SELECT s.expires_at FROM sessions s")
        let dates = try await world.realm.rows(ends).map { try $0.integer("expires_at") }
        let (first, last) = (try #require(dates.min()), try #require(dates.max()))
        world.wall.set(Timestamp(milliseconds: first).adding(seconds: 30 * Self.day))
        #expect(try await world.realm.keeping.prune() == 0)
        world.wall.advance(seconds: 1)
        let removed = try await world.realm.keeping.prune()

        #expect(old.token != new.token && last > first)
        #expect(removed == 1)
        #expect(try await count("sessions", world) == 1)
    }

    @Test func `looking for what is old writes nothing`() async throws {
        let world = try await world(ScriptedCourier())
        world.places.counter.reset()

        #expect(try await world.realm.keeping.prune() == 0)

        #expect(world.places.counter.commits == 0)
    }

    @Test(.timeLimit(.minutes(5))) func `a worker prunes by itself`() async throws {
        let world = try await world(ScriptedCourier())
        world.wall.advance(seconds: 191 * Self.day)
        let wall = world.wall
        let working = Task { await world.realm.keeping.work() }
        // The worker starts its clock when it first looks; a moved wall and a
        // bell are all that it needs from then on.
        try await until("a realm without old notifications") {
            wall.advance(seconds: 700)
            world.realm.ringAll()
            return try await count("notifications", world) == 0
        }
        working.cancel()
        await working.value
    }
}
