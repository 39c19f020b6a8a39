// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop

/// Calls at once that change which clock the people of a family have: in one process, and
/// in two on the same databases.
@Suite(.timeLimit(.minutes(5))) struct FamilyClockTests {
    private static let rounds = 20

    /// The stores to call, and a family by number, the organiser first.
    private func family(
        of count: Int, processes: Int
    ) async throws -> (one: TestWorld, two: TestWorld, ids: [String]) {
        let one = try await TestWorld.open()
        let two =
            processes == 1
            ? one
            : try await TestWorld.open(places: one.places, wall: one.wall, randomness: 2)
        var ids: [String] = []
        for n in 0..<count {
            let made = try await one.realm.customers.createCustomer(
                CreateCustomerRequest(name: "c\(n)"))
            ids.append(made.customerId)
        }
        for id in ids.dropFirst() { try await join(one, ids[0], id) }
        return (one, two, ids)
    }

    private func attach(_ world: TestWorld, _ id: String, to clock: String? = nil) async throws {
        _ = try await world.realm.customers.attachClock(
            AttachClockRequest(customers: [id], clockId: clock), TestWorld.context)
    }

    private func detach(_ world: TestWorld, _ id: String) async throws {
        _ = try await world.realm.customers.detachClock(of: id, TestWorld.context)
    }

    private func join(_ world: TestWorld, _ organiser: String, _ id: String) async throws {
        try await world.realm.families.join(organiser, member: id, TestWorld.context)
    }

    /// Makes the calls at once, many times, and expects that the people share a clock then.
    private func race(
        _ world: TestWorld, _ ids: [String], _ calls: [@Sendable () async throws -> Void],
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for _ in 0..<Self.rounds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for call in calls { group.addTask { try await call() } }
                try await group.waitForAll()
            }
            try await expectOneClock(world, ids, location)
        }
    }

    /// Expects that the people share a clock, and that there is no clock without customers.
    private func expectOneClock(
        _ world: TestWorld, _ ids: [String],
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        var found: Set<String?> = []
        for id in ids { found.insert(try await world.realm.customers.clock(of: id).clockId) }
        #expect(found.count == 1, sourceLocation: location)
        // Those of several clusters are not removed.
        guard world.realm.isOneCluster else { return }
        let all = try await world.realm.customers.clocks().clocks.map(\.clockId)
        #expect(Set(all) == found.subtracting([nil]), sourceLocation: location)
    }

    @Test(arguments: [1, 2])
    func `a family whose people get clocks at once shares one`(processes: Int) async throws {
        let (one, two, ids) = try await family(of: 3, processes: processes)

        try await race(
            one, ids,
            [
                { try await attach(one, ids[0]) }, { try await attach(two, ids[1]) },
                { try await attach(one, ids[2]) },
            ])
    }

    @Test(arguments: [1, 2])
    func `a family shares a clock if one of its people gets one while another loses it`(
        processes: Int
    ) async throws {
        let (one, two, ids) = try await family(of: 2, processes: processes)

        try await race(
            one, ids,
            [
                { try await attach(one, ids[0]) }, { try await detach(two, ids[1]) },
                { try await attach(one, ids[1]) },
            ])
    }

    @Test(arguments: [1, 2])
    func `a customer who joins a family while it gets a clock has that clock`(processes: Int)
        async throws
    {
        let (one, two, ids) = try await family(of: 3, processes: processes)

        for _ in 0..<Self.rounds {
            try await one.realm.families.leave(ids[0], member: ids[2], TestWorld.context)
            try await detach(one, ids[2])
            async let attached: Void = attach(one, ids[0])
            async let joined: Void = join(two, ids[0], ids[2])
            _ = try await (attached, joined)

            try await expectOneClock(one, ids)
        }
    }

    @Test func `the clock that a person leaves by joining a family is removed`() async throws {
        let (world, _, ids) = try await family(of: 2, processes: 1)
        let alone = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "alone"))
        try await attach(world, alone.customerId)

        try await join(world, ids[0], alone.customerId)

        try await expectOneClock(world, ids + [alone.customerId])
    }

    /// The process died after it had given the organiser the clock, and made another.
    @Test func `what a process left that died is completed`() async throws {
        let (world, _, ids) = try await family(of: 3, processes: 1)
        try await attach(world, ids[0])
        let clock = try #require(try await world.realm.customers.clock(of: ids[0]).clockId)
        let ben = CustomerID(try #require(Int64(ids[1])))
        _ = try await world.realm.bookkeeping(of: ben) { writing in
            try writing.execute(
                Statement.Clocks.setOfCustomer, [.integer(ben.value), .optional(Int64?.none)])
        }
        let now = try await world.realm.clock().now
        if world.realm.isAlone {
            try await world.realm.home.write { writing in
                let number = try #require(try writing.first(Statement.Clocks.next))
                try Realm.putClock(
                    ClockID(try number.integer("clocks_made")), .standing(at: now),
                    jump: nil, writing)
            }
        }
        #expect(try await world.realm.customers.clock(of: ids[1]).clockId == nil)

        try await world.realm.mendClocks(TestWorld.context)

        try await expectOneClock(world, ids)
        #expect(try await world.realm.customers.clock(of: ids[1]).clockId == clock)
    }

    @Test func `a call that is refused leaves the turn to the next`() async throws {
        let (world, _, ids) = try await family(of: 2, processes: 1)

        let refused = try await refusal { try await attach(world, ids[0], to: "7") }
        try await attach(world, ids[1])

        #expect(refused.error.code == "clockNotFound")
        try await expectOneClock(world, ids)
    }
}
