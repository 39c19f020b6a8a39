// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop
@testable import Work

/// What a sandbox does to notifications on command.
@Suite(.timeLimit(.minutes(5))) struct NotificationFaultTests {
    private func world(
        _ fault: String, _ courier: ScriptedCourier, of name: String = "notifications"
    ) async throws -> TestWorld {
        let world = try await TestWorld.open(courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        _ = try await world.realm.faults.set(
            name, SetFaultRequest(value: fault), TestWorld.context)
        return world
    }

    private func buy(_ n: Int, _ world: TestWorld) async throws {
        try await world.buy("credits.5", purchaseID(n))
    }

    private func work(_ world: TestWorld) async throws {
        _ = try await world.realm.keeping.workOnce()
    }

    @Test func `a lost one is in the history as a failure`() async throws {
        let courier = ScriptedCourier()
        let world = try await world("lose", courier)
        try await buy(1, world)

        try await work(world)

        #expect(courier.parcels.isEmpty)
        let history = try await world.history(bearer: try await world.bearer())
        #expect(history.notificationHistory?.map { $0.sendAttempts?.count } == [0])
    }

    @Test func `a duplicate has the same bytes, and is one attempt`() async throws {
        let courier = ScriptedCourier()
        let world = try await world("duplicate", courier)
        try await buy(1, world)

        try await work(world)

        #expect(courier.parcels.count == 2 && Set(courier.parcels).count == 1)
        let history = try await world.history(bearer: try await world.bearer())
        #expect(history.notificationHistory?.map { $0.sendAttempts?.count } == [1])
    }

    @Test func `a delay is of commercial time`() async throws {
        let courier = ScriptedCourier()
        let world = try await world("delay=60", courier)
        try await buy(1, world)

        try await work(world)
        let early = courier.parcels.count
        world.wall.advance(seconds: 61)
        try await work(world)

        #expect(early == 0 && courier.parcels.count == 1)
    }

    @Test func `later ones overtake earlier ones`() async throws {
        let courier = ScriptedCourier()
        let world = try await world("reorder", courier)
        for n in 1...8 { try await buy(n, world) }

        for _ in 0..<130 {
            try await work(world)
            world.wall.advance(seconds: 1)
        }

        let dates = try courier.parcels.map {
            try world.verified(try world.opened($0).data?.signedTransactionInfo).transactionId
        }
        #expect(dates.count == 8 && Set(dates).count == 8)
        #expect(dates.compactMap { $0 } != dates.compactMap { $0 }.sorted())
    }

    @Test func `the number of attempts is that of the switch, with Apple's pauses`() async throws {
        let failure = Delivery(status: 500)
        let courier = ScriptedCourier(failure, failure, failure, failure)
        let world = try await world("3", courier, of: "notification-attempts")
        try await buy(1, world)

        for hours: Int64 in [1, 12, 24, 48] {
            try await work(world)
            world.wall.advance(seconds: hours * 3600 + 1)
        }

        #expect(courier.parcels.count == 3)
    }
}
