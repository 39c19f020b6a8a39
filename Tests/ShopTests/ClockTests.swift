// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop
@testable import Work

@Suite(.timeLimit(.minutes(5))) struct ClockTests {
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

    @Test func `a stored clock beyond all dates is a fault, not a crash`() async throws {
        let world = try await TestWorld.open()
        let strange = Statement(
            "test.strange", [.integer], "UPDATE clocks SET clock_ahead = $1")
        try await world.realm.storage.write { try $0.execute(strange, [.integer(.max)]) }

        await #expect(throws: StorageFault.self) { try await world.signIn() }
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

    @Test func `a clock that is set back counts, also after later purchases`() async throws {
        let world = try await TestWorld.open()
        try await world.buy(purchaseID(1))
        let earlier = TestWall.start.adding(seconds: -86_400)
        _ = try await move(world, MoveClockRequest(standAt: earlier))

        let second = try world.verified(try await world.buy(purchaseID(2)).signedTransaction)

        #expect(second.purchaseDate == earlier && second.signedDate == earlier)
        #expect(try await world.signIn().now == earlier)
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
        (MoveClockRequest(advanceMilliseconds: 1, rate: 2), "clockMoveUnclear"),
        (MoveClockRequest(rate: 0), "clockRateInvalid"),
        (MoveClockRequest(rate: -60), "clockRateInvalid"),
        (MoveClockRequest(rate: .max), "clockRateInvalid"),
        (MoveClockRequest(timeRate: "monthly"), "timeRateUnknown"),
        (MoveClockRequest(rate: 2, timeRate: "realTime"), "clockMoveUnclear"),
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

    @Test(arguments: [
        MoveClockRequest(rate: 2), MoveClockRequest(advanceMilliseconds: 1),
        MoveClockRequest(runOffsetMilliseconds: 1),
    ])
    func `no move leaves a clock outside its range`(request: MoveClockRequest) async throws {
        let world = try await TestWorld.open()
        world.wall.set(Timestamp(milliseconds: 900_000_000_000))

        let refusal = try await refusal { try await move(world, request) }

        #expect(refusal.error.code == "clockOutOfRange")
        #expect(try await world.realm.clock().rate == nil)
    }

    @Test func `a clock that follows the machine's follows its speed too`() async throws {
        let world = try await TestWorld.open()
        _ = try await move(world, MoveClockRequest(rate: 60))

        let follows = try await move(world, MoveClockRequest(runOffsetMilliseconds: 0))
        world.wall.advance(seconds: 100)

        #expect(
            follows
                == ClockDescription(
                    now: TestWall.start, isStanding: false, offsetMilliseconds: 0))
        #expect(try await world.realm.clock().now == TestWall.start.adding(seconds: 100))
    }

    @Test func `a production realm's clock is never moved`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)

        let refusal = try await refusal {
            try await move(world, MoveClockRequest(advanceMilliseconds: 1))
        }

        #expect(refusal.kind == .forbidden)
        #expect(refusal.error.code == "sandboxOnly")
    }

    // MARK: Speed

    private func importing(
        _ rate: TimeRate?, into world: TestWorld
    ) async throws {
        try await world.realm.catalogue.importCatalogue(
            CatalogueImport(
                TestWorld.catalogue(), settings: rate.map { SandboxSettings(timeRate: $0) }),
            app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
    }

    @Test func `a faster clock dates what is sold, and the wall stays as it is`() async throws {
        let world = try await TestWorld.open()

        let moved = try await move(world, MoveClockRequest(rate: 1440))
        let first = try world.verified(try await world.buy(purchaseID(1)).signedTransaction)
        world.wall.advance(seconds: 60)
        let second = try world.verified(try await world.buy(purchaseID(2)).signedTransaction)

        #expect(
            moved
                == ClockDescription(
                    now: TestWall.start, isStanding: false, offsetMilliseconds: 0, rate: 1440))
        #expect(first.purchaseDate == TestWall.start)
        #expect(second.purchaseDate == TestWall.start.adding(milliseconds: day))
        #expect(
            try await world.realm.clock()
                == ClockDescription(
                    now: TestWall.start.adding(milliseconds: day), isStanding: false,
                    offsetMilliseconds: day - 60_000, rate: 1440))
    }

    @Test func `a month of a fast clock ends no session`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        _ = try await move(world, MoveClockRequest(rate: 86_400))
        world.wall.advance(seconds: 60)

        let session = try await world.realm.customers.session(token: token)

        #expect(
            session.clock.now(wall: world.wall.clock.now)
                == TestWall.start.adding(milliseconds: 60 * day))
    }

    @Test func `the rate of a file is the clock's, across a restart`() async throws {
        let world = try await TestWorld.open()
        try await importing(.secondIsDay, into: world)
        world.wall.advance(seconds: 2)

        let next = try await world.restarted()

        #expect(try await next.realm.clock().now == TestWall.start.adding(milliseconds: 2 * day))
        #expect(try await next.realm.clock().rate == 86_400)
    }

    @Test func `a file sets the rate only where it changes it`() async throws {
        let world = try await TestWorld.open()
        func rate() async throws -> Int64? { try await world.realm.clock().rate }
        try await importing(.minuteIsDay, into: world)
        _ = try await move(world, MoveClockRequest(rate: 7))

        try await importing(.minuteIsDay, into: world)
        #expect(try await rate() == 7)
        try await importing(nil, into: world)
        #expect(try await rate() == 7)
        world.wall.advance(seconds: 1)
        let before = try await world.realm.clock().now
        try await importing(.real, into: world)

        #expect(
            try await world.realm.clock()
                == ClockDescription(
                    now: before, isStanding: false, offsetMilliseconds: 6000))
    }

    @Test func `a production realm's clock takes no file's rate`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        try await importing(.secondIsDay, into: world)
        world.wall.advance(seconds: 9)

        #expect(try await world.realm.clock().now == TestWall.start.adding(seconds: 9))
        #expect(try await world.realm.clock().rate == nil)
    }

    @Test func `what falls due by a faster clock is done by it`() async throws {
        let world = try await TestWorld.open()
        try await world.realm.catalogue.importCatalogue(
            CatalogueImport(TestWorld.catalogue(), settings: SandboxSettings(asksToBuy: true)),
            app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
        let asked = try await world.buy("credits.5", purchaseID(1))
        _ = try await move(world, MoveClockRequest(rate: 86_400))
        #expect(try await world.realm.worker.workDue().next == .milliseconds(1000))
        world.wall.advance(seconds: 1)

        let done = try await world.realm.worker.workDue().count
        let again = try await world.buy("credits.5", purchaseID(1))

        #expect(asked.state == "waiting")
        #expect(done == 1)
        #expect(again.state == "refused")
    }

    @Test func `every move is in the audit, by whom, from what to what`() async throws {
        let world = try await TestWorld.open()
        let context = RequestContext(requestID: "r", actor: "control")
        let moves = [
            MoveClockRequest(standAt: TestWall.start.adding(seconds: 60)),
            MoveClockRequest(rate: 60), MoveClockRequest(runOffsetMilliseconds: -day),
            MoveClockRequest(advanceMilliseconds: day), MoveClockRequest(rate: 1),
        ]
        let earlier = try await world.realm.auditEntries().entries.count
        for move in moves { _ = try await world.realm.moveClock(move, context) }
        _ = try await refusal {
            try await world.realm.moveClock(MoveClockRequest(rate: 0), context)
        }

        let entries = try await world.realm.auditEntries().entries.dropFirst(earlier)

        let start = "\(TestWall.start)"
        let stood = "\(TestWall.start.adding(seconds: 60))"
        let back = "\(TestWall.start.adding(seconds: -86_400))"
        #expect(Set(entries.map { "\($0.who) \($0.deed)" }) == ["control clock.move"])
        #expect(
            entries.map(\.shown) == [
                "now: \(start) > \(stood); state: running > standing", "rate: 1 > 60",
                "now: \(stood) > \(back); state: standing > running",
                "now: \(back) > \(start)", "rate: 60 > 1",
            ])
        #expect(entries.allSatisfy { $0.date == TestWall.start })
    }

    @Test func `a file's change of the clock's speed is audited, once`() async throws {
        let world = try await TestWorld.open()
        let settings = SandboxSettings(timeRate: .minuteIsDay)
        let context = RequestContext(requestID: "r", actor: "ann")
        for _ in 0..<2 {
            try await world.realm.catalogue.importCatalogue(
                CatalogueImport(TestWorld.catalogue(), settings: settings),
                app: AppDescription(bundleID: TestWorld.bundleID), context)
        }

        let entries = try await world.realm.auditEntries().entries.filter { $0.who == "ann" }

        #expect(
            entries.map(\.deed) == ["clock.move", "catalogue.import"])
        #expect(entries.first?.before("rate") == "1")
        #expect(entries.first?.after("rate") == "\(24 * 60)")
    }
}
