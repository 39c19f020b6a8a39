// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// The machine's clock jumps ahead for a while and is set back: what was dated,
/// put off and held in between.
@Suite(.timeLimit(.minutes(5))) struct ClockStepTests {
    private let twoDays: Int64 = 2 * 86_400

    private func production(
        _ processor: ScriptedProcessor = ScriptedProcessor([]), courier: (any Courier)? = nil
    ) async throws -> (world: TestWorld, session: DeviceSession) {
        let world = try await TestWorld.open(
            processor: processor, realm: "live", environment: .production, courier: courier)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        let answer = try await world.signIn(customer: "ann", password: "correct horse")
        return (world, try await world.realm.customers.session(token: answer.token))
    }

    private func sold(
        _ world: TestWorld, _ number: Int, _ session: DeviceSession
    ) async throws -> JWSTransactionDecodedPayload {
        try world.verified(
            try await world.buy("credits.5", purchaseID(number), session: session)
                .signedTransaction)
    }

    @Test func `after a clock is set back, customers buy at its time`() async throws {
        let (world, session) = try await production()
        world.wall.advance(seconds: twoDays)
        let ahead = try await sold(world, 1, session)
        world.wall.advance(seconds: -twoDays)

        let after = try await sold(world, 2, session)
        let again = try await sold(world, 1, session)

        #expect(ahead.purchaseDate == TestWall.start.adding(seconds: twoDays))
        #expect(after.purchaseDate == TestWall.start)
        // What a device judges is the date of the signature.
        #expect(after.signedDate == TestWall.start && again.signedDate == TestWall.start)
        #expect(again.purchaseDate == ahead.purchaseDate)
        let page = try await world.realm.purchases.transactions(
            since: 0, session, TestWorld.context)
        let listed = try page.transactions.map { try world.verified($0.signedTransaction) }
        #expect(listed.map(\.signedDate) == [TestWall.start, TestWall.start])
    }

    @Test func `a little step back is no step for a customer`() async throws {
        let (world, session) = try await production()
        let pull = ClockRow.pullMillisecondsMax / 1000
        world.wall.advance(seconds: pull)
        _ = try await sold(world, 1, session)
        world.wall.advance(seconds: -pull)

        #expect(
            try await sold(world, 2, session).purchaseDate == TestWall.start.adding(seconds: pull))
        world.wall.advance(seconds: -1)
        #expect(
            try await sold(world, 3, session).purchaseDate == TestWall.start.adding(seconds: -1))
    }

    @Test func `a step ahead dates what is sold during it, and nothing after it`() async throws {
        let (world, session) = try await production()
        _ = try await sold(world, 1, session)
        world.wall.advance(seconds: twoDays)

        let ahead = try await sold(world, 2, session)

        #expect(ahead.purchaseDate == TestWall.start.adding(seconds: twoDays))
        world.wall.advance(seconds: -twoDays)
        #expect(try await sold(world, 3, session).purchaseDate == TestWall.start)
    }

    @Test func `a lease of a clock that ran ahead does not outlast it`() async throws {
        let world = try await TestWorld.open(courier: ScriptedCourier())
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        try await world.buy("credits.5", purchaseID(1))
        world.wall.advance(seconds: twoDays)
        #expect(try await world.realm.claim(RunningLanes()).errands.map(\.fence) == [1])

        // Its holder dies, and the clock is set back.
        world.wall.advance(seconds: -twoDays)

        #expect(try await world.realm.claim(RunningLanes()).errands.map(\.fence) == [2])
        // Nobody takes what is held by a clock that is right, or almost.
        #expect(try await world.realm.claim(RunningLanes()).errands.isEmpty)
        world.wall.advance(seconds: 29)
        #expect(try await world.realm.claim(RunningLanes()).errands.isEmpty)
    }

    @Test func `what was put off by a clock that ran ahead is due again`() async throws {
        let courier = ScriptedCourier(Delivery(status: 500), Delivery(status: 500))
        let processor = ScriptedProcessor([])
        let (world, session) = try await production(processor, courier: courier)
        processor.make(captureFailures: 1)
        try await world.realm.catalogue.setNotificationURL(
            "https://example.com/", bundleID: TestWorld.bundleID.value, TestWorld.context)
        world.wall.advance(seconds: twoDays)
        _ = try await sold(world, 1, session)
        // The notification failed and is put off by an hour, the capture by a second.
        #expect(try await world.realm.keeping.workOnce() == 2)
        world.wall.advance(seconds: -twoDays)
        #expect(try await world.realm.keeping.workOnce() == 0)

        let worker = Task { await world.store.work() }
        let held = Statement("test.held", "SELECT kind FROM errands WHERE lease_until IS NOT NULL")
        try await until("a second parcel and a capture, and both written down") {
            guard courier.parcels.count == 2, !processor.captured.isEmpty else { return false }
            return try await world.realm.rows(held).isEmpty
        }
        worker.cancel()
        await worker.value

        #expect(courier.parcels.count == 2)
        #expect(processor.captured.count == 1)
        #expect(world.logged.count(Self.wasSetBack) == 1)
        // It failed again, and waits as long as it should.
        #expect(try await world.realm.keeping.workOnce() == 0)
        world.wall.advance(seconds: 12 * 3600)
        #expect(try await world.realm.keeping.workOnce() == 1)
    }

    private static let wasSetBack = "a clock was set back: what it had put off is due again"

    @Test func `a clock that put nothing off is not reported`() async throws {
        let world = try await TestWorld.open()

        #expect(try await world.realm.worker.bringForward(in: 0) == 0)

        #expect(world.logged.count(Self.wasSetBack) == 0)
    }

    /// Notifications that were tried so often and are to be tried again.
    private func putOff(_ world: TestWorld, attempts: Int = 1) async throws -> Int {
        let tried = Statement(
            "test.tried",
            """
            SELECT attempt FROM errands WHERE kind = 'notification' AND lease_until IS NULL
            """)
        return try await world.realm.rows(tried).count {
            try $0.integer("attempt") == attempts
        }
    }

    /// As another machine does whose clock runs ahead.
    private func putOffAhead(_ world: TestWorld) async throws {
        let ahead = Statement(
            "test.ahead", [.integer], "UPDATE errands SET due_at = due_at + $1")
        let distance = SQLValue.integer(twoDays * 1000)
        try await world.realm.storage.write { try $0.execute(ahead, [distance]) }
    }

    @Test func `a worker at work makes due again what its clock has put off`() async throws {
        let courier = ScriptedCourier(Delivery(status: 500), Delivery(status: 500))
        let (world, session) = try await production(courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            "https://example.com/", bundleID: TestWorld.bundleID.value, TestWorld.context)
        let worker = Task { await world.store.work() }
        world.wall.advance(seconds: twoDays)
        _ = try await sold(world, 1, session)
        try await until("a notification that is put off") { try await putOff(world) == 1 }

        world.wall.advance(seconds: -twoDays)
        world.realm.ringAll()

        await until("a second parcel") { courier.parcels.count == 2 }
        worker.cancel()
        await worker.value
    }

    @Test func `what another machine's clock has put off is due again before long`()
        async throws
    {
        let courier = ScriptedCourier(Delivery(status: 500), Delivery(status: 500))
        let (world, session) = try await production(courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            "https://example.com/", bundleID: TestWorld.bundleID.value, TestWorld.context)
        let worker = Task { await world.store.work() }
        _ = try await sold(world, 1, session)
        try await until("a notification that is put off") { try await putOff(world) == 1 }
        try await putOffAhead(world)

        // Half an hour passes, in which nothing would be due without it.
        var left: Int64 = 1800
        await until("a second parcel") {
            if left > 0 { world.wall.advance(seconds: 60) }
            left -= 60
            world.realm.ringAll()
            return courier.parcels.count == 2
        }
        worker.cancel()
        await worker.value
    }

    /// While it ran ahead, the clock set the next time of each chore.
    @Test func `a worker whose clock was set back has its chores to do as before`()
        async throws
    {
        let failed = Delivery(status: 500)
        let courier = ScriptedCourier(failed, failed, failed, failed)
        let (world, session) = try await production(courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            "https://example.com/", bundleID: TestWorld.bundleID.value, TestWorld.context)
        let worker = Task { await world.store.work() }
        world.wall.advance(seconds: twoDays)
        // The worker looks for chores before it sends the second.
        for number in 1...2 {
            _ = try await sold(world, number, session)
            try await until("a notification put off") { try await putOff(world) == number }
        }
        world.wall.advance(seconds: -twoDays)
        world.realm.ringAll()
        try await until("two put off again") { try await putOff(world, attempts: 2) == 2 }

        try await putOffAhead(world)
        var left: Int64 = 3600
        await until("a third time for both") {
            if left > 0 { world.wall.advance(seconds: 60) }
            left -= 60
            world.realm.ringAll()
            return courier.parcels.count == 6
        }

        worker.cancel()
        await worker.value
    }

    @Test func `an approval asked for by a clock that is moved back times out within a day`()
        async throws
    {
        let world = try await TestWorld.open()
        let ann = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", asksToBuy: true))
        let session = try await world.session(customer: ann.name)
        func move(_ request: MoveClockRequest) async throws {
            _ = try await world.realm.moveClock(request, TestWorld.context)
        }
        try await move(MoveClockRequest(advanceMilliseconds: twoDays * 1000))
        #expect(
            try await world.buy("credits.5", purchaseID(1), session: session).state == "waiting")

        try await move(MoveClockRequest(runOffsetMilliseconds: 0))

        world.wall.advance(seconds: 86_400 - 1)
        #expect(try await world.realm.worker.workDue().count == 0)
        world.wall.advance(seconds: 1)
        #expect(try await world.realm.worker.workDue().count == 1)
    }

    /// Dates of questions and their answers.
    private func dates(_ world: TestWorld) async throws -> [(asked: Int64, decided: Int64)] {
        let statement = Statement(
            "test.dates",
            "SELECT asked_at, decided_at FROM purchases WHERE decided_at IS NOT NULL")
        return try await world.realm.rows(statement).map {
            (try $0.integer("asked_at"), try $0.integer("decided_at"))
        }
    }

    @Test(arguments: ["approved", "declined", nil], [true, false])
    func `no answer is dated before its question, after a clock was set back`(
        answer: String?, byMove: Bool
    ) async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", asksToBuy: true))
        let session = try await world.session(customer: "ann")
        if byMove {
            _ = try await world.realm.moveClock(
                MoveClockRequest(advanceMilliseconds: twoDays * 1000), TestWorld.context)
        } else {
            world.wall.advance(seconds: twoDays)
        }
        try await world.buy("credits.5", purchaseID(1), session: session)

        if byMove {
            _ = try await world.realm.moveClock(
                MoveClockRequest(runOffsetMilliseconds: 0), TestWorld.context)
            let waiting = try await world.realm.purchases.listPurchases().purchases.first
            #expect(waiting?.askedDate == TestWall.start)
            #expect(waiting?.answerableUntil == TestWall.start.adding(seconds: 86_400))
        } else {
            world.wall.advance(seconds: -twoDays)
        }
        if let answer {
            let record = try await world.realm.purchases.answerApproval(
                purchaseID(1), AnswerApprovalRequest(answer: answer), TestWorld.context)
            #expect(record.askedDate == TestWall.start)
        } else {
            for index in world.realm.clusters.all.indices {
                try await world.realm.worker.bringForward(in: index)
            }
            world.wall.advance(seconds: 86_400)
            #expect(try await world.realm.worker.workDue().count == 1)
        }

        let found = try await dates(world)
        #expect(found.count == 1)
        for dates in found { #expect(dates.asked <= dates.decided) }
        for sold in try await world.realm.purchases.listTransactions().transactions {
            #expect((sold.payload.purchaseDate?.milliseconds ?? 0) >= found[0].asked)
        }
    }

    @Test func `a charge's answer is not dated before its question either`() async throws {
        let (world, session) = try await production(ScriptedProcessor([.chargeAndLoseAnswer]))
        world.wall.advance(seconds: twoDays)
        let asked = try await world.buy("credits.5", purchaseID(1), session: session)
        world.wall.advance(seconds: -twoDays)

        let settled = try await world.buy("credits.5", purchaseID(1), session: session)

        #expect(asked.state == "authorising" && settled.state == "sold")
        let found = try await dates(world)
        #expect(found.count == 1)
        for dates in found { #expect(dates.asked <= dates.decided) }
    }

    @Test func `a worker notices that its clock was set back`() {
        var watch = WallWatch(TestWall.start)
        let steps: [(Int64, Bool)] = [
            (10, false), (0, false), (-29, false), (-60, true), (-60, false), (twoDays, false),
            (twoDays - 31, true),
            // Exactly the slack.
            (twoDays - 61, false),
        ]
        for (seconds, isStep) in steps {
            #expect(watch.hasGoneBack(TestWall.start.adding(seconds: seconds)) == isStep)
        }
    }

    @Test func `a chore is due from its start on, and again after its pause`() {
        let chores = [(0, 10), (5, 10)].map { start, pause in
            Chore<Realm>(startSeconds: start, pauseSeconds: pause, isApart: true) { _, _ in }
        }
        var times = ChoreTimes(chores, at: TestWall.start)
        let due = [0, 4, 5, 9, 10, 14, 15].map { seconds in
            times.due(of: chores, at: TestWall.start.adding(seconds: seconds)).map(\.startSeconds)
        }

        #expect(due == [[0], [], [5], [], [0], [], [5]])
    }

    /// A thousand idle realms would otherwise read their databases every ten seconds.
    @Test func `the first database has no chore that is due every few seconds`() {
        let first = KeepingRoom.chores.filter { $0.concerns(0) }
        // The clocks of families, and what is deleted.
        #expect(first.map(\.pauseSeconds) == [3600, 3600])
        #expect(KeepingRoom.chores.allSatisfy { $0.concerns(1) })
    }

    @Test func `an approval asked for by a clock that ran ahead times out within a day`()
        async throws
    {
        let world = try await TestWorld.open()
        let ann = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", asksToBuy: true))
        let session = try await world.session(customer: ann.name)
        world.wall.advance(seconds: twoDays)
        #expect(
            try await world.buy("credits.5", purchaseID(1), session: session).state == "waiting")
        world.wall.advance(seconds: -twoDays)

        for index in world.realm.clusters.all.indices {
            try await world.realm.worker.bringForward(in: index)
        }
        world.wall.advance(seconds: 86_400 - 1)
        #expect(try await world.realm.worker.workDue().count == 0)
        world.wall.advance(seconds: 1)
        #expect(try await world.realm.worker.workDue().count == 1)
    }

    /// Several machines' clocks may differ by as much.
    @Test(arguments: ["approval", "charge"])
    func `what is put off by half a minute too long stays, and a second more is too long`(
        kind: String
    ) async throws {
        let world = try await TestWorld.open(
            processor: kind == "charge" ? ScriptedProcessor([.loseRequest]) : nil)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", asksToBuy: kind == "approval"))
        let session = try await world.session(customer: "ann")
        try await world.buy("credits.5", purchaseID(1), session: session)
        func moved() async throws -> Int {
            var count = 0
            for index in world.realm.clusters.all.indices {
                count += try await world.realm.worker.bringForward(in: index)
            }
            return count
        }
        func asked() async throws -> Timestamp? {
            try await world.realm.purchases.listPurchases().purchases.first?.askedDate
        }

        world.wall.advance(seconds: -30)
        #expect(try await moved() == 0)
        #expect(try await asked() == TestWall.start)
        world.wall.advance(seconds: -1)
        #expect(try await moved() == 1)
        let isQuestion = kind == "approval"
        #expect(try await asked() == TestWall.start.adding(seconds: isQuestion ? -31 : 0))
        #expect(try await moved() == 0)
    }

    /// The pauses of a payment processor. The last is that of all later attempts.
    @Test(arguments: [(0, 0), (1, 1), (2, 5), (5, 600), (6, 3600), (7, 3600), (1000, 3600)])
    func `an errand is put off by the pause after its last attempt at most`(
        attempt: Int64, pause: Int64
    ) async throws {
        let (world, session) = try await production()
        let storage = world.realm.storage(of: session.customer)
        for late in [30, 31] as [Int64] {
            let due = TestWall.start.adding(seconds: pause + late)
            let row = RealmSchema.errands.row([
                "customer_id": .integer(session.customer.value), "kind": .text(WorkKind.capture),
                "subject": .text("\(late)"), "lane": .text("lane"),
                "due_at": .integer(due.milliseconds), "attempt": .integer(attempt),
                "fence": .integer(1), "lease_until": .null,
            ])
            try await storage.write { try $0.execute(Statement.Errands.insertHeld, row) }
        }

        for index in world.realm.clusters.all.indices {
            try await world.realm.worker.bringForward(in: index)
        }

        let dates = Statement("test.dates", "SELECT due_at FROM errands ORDER BY subject")
        let due = try await world.realm.rows(dates).map { try $0.integer("due_at") }
        let start = TestWall.start.milliseconds
        #expect(due == [start + (pause + 30) * 1000, start])
    }
}
