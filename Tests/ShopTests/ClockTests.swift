// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

@Suite struct ClockTests {
    private let day: Int64 = 86_400_000

    private func move(
        _ world: TestWorld, _ request: MoveClockRequest
    ) async throws -> ClockDescription {
        try await world.realm.moveClock(request, TestWorld.context)
    }

    @Test func `a new realm's clock runs with the wall`() async throws {
        let world = try await TestWorld.open()
        world.wall.advance(seconds: 5)

        let clock = try await world.realm.clock()

        #expect(
            clock
                == ClockDescription(
                    now: TestWall.start.adding(seconds: 5), isStanding: false,
                    offsetMilliseconds: 0))
    }

    @Test func `a jump goes forward and the clock runs on`() async throws {
        let world = try await TestWorld.open()

        _ = try await move(world, MoveClockRequest(advanceMilliseconds: day))
        let moved = try await move(world, MoveClockRequest(advanceMilliseconds: day))
        world.wall.advance(seconds: 1)

        #expect(moved.offsetMilliseconds == 2 * day)
        #expect(
            try await world.realm.clock().now
                == TestWall.start.adding(milliseconds: 2 * day + 1000))
    }

    @Test func `a standing clock dates what is sold until it is moved`() async throws {
        let world = try await TestWorld.open()
        let instant = Timestamp(milliseconds: 1_000_000_000_000)
        let standing = try await move(world, MoveClockRequest(standAt: instant))
        world.wall.advance(seconds: 100)

        let first = try world.verified(try await world.buy(purchaseID(1)).signedTransaction)
        _ = try await move(world, MoveClockRequest(advanceMilliseconds: day))
        let second = try world.verified(try await world.buy(purchaseID(2)).signedTransaction)

        #expect(
            standing == ClockDescription(now: instant, isStanding: true, offsetMilliseconds: nil))
        #expect(first.purchaseDate == instant)
        #expect(first.signedDate == instant)
        #expect(second.purchaseDate == instant.adding(milliseconds: day))
    }

    @Test func `a customer's time never goes back`() async throws {
        let world = try await TestWorld.open()
        try await world.buy(purchaseID(1))
        _ = try await move(
            world, MoveClockRequest(standAt: TestWall.start.adding(seconds: -86_400)))

        let second = try world.verified(try await world.buy(purchaseID(2)).signedTransaction)

        #expect(second.purchaseDate == TestWall.start)
        #expect(second.signedDate == TestWall.start)
        #expect(try await world.signIn().now == TestWall.start)
    }

    @Test func `a clock survives a restart`() async throws {
        let world = try await TestWorld.open()
        let moved = try await move(world, MoveClockRequest(runOffsetMilliseconds: -day))

        let next = try await world.restarted()

        #expect(try await next.realm.clock() == moved)
    }

    @Test(arguments: [
        (MoveClockRequest(), "clockMoveUnclear"),
        (
            MoveClockRequest(
                standAt: Timestamp(milliseconds: 1), runOffsetMilliseconds: 1),
            "clockMoveUnclear"
        ),
        (MoveClockRequest(advanceMilliseconds: -1), "clockBackwards"),
        (MoveClockRequest(standAt: Timestamp(milliseconds: 0)), "clockOutOfRange"),
        (MoveClockRequest(standAt: Timestamp(milliseconds: .max)), "clockOutOfRange"),
        (MoveClockRequest(standAt: Timestamp(milliseconds: .min)), "clockOutOfRange"),
        (MoveClockRequest(advanceMilliseconds: .max), "clockOutOfRange"),
        (MoveClockRequest(runOffsetMilliseconds: .min), "clockOutOfRange"),
        (MoveClockRequest(runOffsetMilliseconds: 3_000_000_000_000), "clockOutOfRange"),
    ])
    func `a move that makes no sense is refused`(
        request: MoveClockRequest, code: String
    ) async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal { try await move(world, request) }

        #expect(refusal.kind == .badRequest)
        #expect(refusal.error.code == code)
        #expect(try await world.realm.clock().now == TestWall.start)
    }

    @Test func `a production realm's clock is never moved`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: Realm.production)

        let refusal = try await refusal {
            try await move(world, MoveClockRequest(advanceMilliseconds: 1))
        }

        #expect(refusal.kind == .forbidden)
        #expect(refusal.error.code == "sandboxOnly")
    }
}
