// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// A jump that is stopped while two clusters work at it: `tester` is on the other
/// cluster, `neighbour` at home.
@Suite(.timeLimit(.minutes(5))) struct StoppedClusterTests {
    private let year = Period(1, .year)

    /// Both customers subscribe by the month.
    private func subscribed() async throws -> (world: TestWorld, start: Timestamp) {
        let world = try await TestWorld.openWithSubscriptions(
            places: TestPlaces(far: [TestClusters.far]))
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "neighbour"))
        try await world.buy("news", purchaseID(1))
        try await world.buy(
            "news", purchaseID(1), session: try await world.session(customer: "neighbour"))
        return (world, try await world.realm.clock().now)
    }

    private func setOut(_ world: TestWorld) async throws {
        try await world.setClock(MoveClockRequest(advancePeriod: year.description))
    }

    private func stop(_ world: TestWorld) async throws -> ClockDescription {
        try await world.realm.moveClock(MoveClockRequest(stopsJump: true), TestWorld.context)
    }

    /// Notes that a worker of the other cluster begins what is due by a date.
    private func begin(upTo date: Timestamp, _ world: TestWorld) async throws -> Bool {
        try await world.realm.clusters[1].write { writing in
            let jump = try #require(try ClockJump.current(writing))
            return try jump.advance(to: jump.reached, beginning: date, writing)
        }
    }

    /// The latest event of what fell due.
    private func lastTimed(_ world: TestWorld) async throws -> Timestamp? {
        let all: [SQLValue] = [.integer(RealmClock.latest.milliseconds), .integer(0)]
        return try await world.realm.rows(Statement.Clocks.lastTimed, all)
            .compactMap { try $0.optionalInteger("last_timed").map(Timestamp.init) }.max()
    }

    @Test func `the clock stops where the cluster is that has come furthest`() async throws {
        let (world, start) = try await subscribed()
        try await setOut(world)
        let begun = start.adding(milliseconds: 100 * 86_400_000)
        #expect(try await begin(upTo: begun, world))

        let clock = try await stop(world)

        #expect(clock.now == begun && clock.jump == nil && clock.clustersAway == nil)
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 2 * 4)
        try await world.checkFolds()
    }

    @Test func `a cluster that has done the whole jump is not left in the future`() async throws {
        let (world, start) = try await subscribed()
        try await setOut(world)
        _ = try await world.realm.worker.workDue(of: .realm, in: 1)

        let clock = try await stop(world)

        let last = try #require(try await lastTimed(world))
        #expect(clock.now == last && last > start.adding(Period(11, .month)))
        #expect(clock.jump == nil)
        try await world.checkFolds()
    }

    @Test func `once halted, a cluster begins nothing more, and its last look is void`()
        async throws
    {
        let (world, start) = try await subscribed()
        try await setOut(world)
        let stale = try #require(
            try await world.realm.clusters[1].read { try ClockJump.current($0) })
        let begun = start.adding(milliseconds: 40 * 86_400_000)
        #expect(try await begin(upTo: begun, world))

        let through = try await world.realm.haltJump(
            .realm, MoveClockRequest(stopsJump: true))
        _ = try await world.realm.worker.workDue(of: .realm, in: 1)
        let mayBegin = try await world.realm.clusters[1].write {
            try stale.advance(to: stale.reached, beginning: stale.target, $0)
        }

        #expect(through == begun && !mayBegin)
        let last = try #require(try await lastTimed(world))
        #expect(last > start.adding(milliseconds: 27 * 86_400_000) && last <= begun)
        // The same request again, after the process died.
        #expect(try await stop(world).now == last)
    }

    @Test func `if the process dies once it has halted, a worker lets the jump go on`()
        async throws
    {
        let (world, start) = try await subscribed()
        try await setOut(world)
        _ = try await world.realm.haltJump(.realm, MoveClockRequest(stopsJump: true))
        #expect(try await world.realm.clock().clustersAway == [TestClusters.far])

        try await world.realm.keeping.tidy(1)
        _ = try await world.realm.worker.workDue()

        let clock = try await world.realm.clock()
        #expect(clock.now == start.adding(year) && clock.jump == nil)
        #expect(clock.clustersAway == nil)
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 2 * 13)
    }

    @Test func `a stop that is refused halts nothing`() async throws {
        let (world, start) = try await subscribed()

        let refusal = try await refusal { try await stop(world) }

        #expect(refusal.error.code == "noJump")
        let far = try await world.realm.clusters[1].read { try Realm.clock($0, of: .realm) }
        #expect(try await far == world.realm.home.read { try Realm.clock($0, of: .realm) })
        #expect(try await world.realm.clock().now == start)
    }
}
