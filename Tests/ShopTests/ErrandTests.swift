// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Outer work: leases, fences, lanes.
@Suite(.timeLimit(.minutes(5)))
struct ErrandTests {
    private let lanes = RunningLanes(start: Errands.laneMax)

    private func world(_ courier: (any Courier)?) async throws -> TestWorld {
        let world = try await TestWorld.open(courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        return world
    }

    private func rows(_ world: TestWorld) async throws -> [Row] {
        let all = Statement(
            "test.errands", [], "SELECT * FROM errands ORDER BY customer_id, subject")
        return try await world.realm.rows(all)
    }

    @Test func `a sale's errand is done once and gone`() async throws {
        let courier = ScriptedCourier()
        let world = try await world(courier)
        try await world.buy(purchaseID(1))
        try await world.buy(purchaseID(1))

        #expect(try await world.realm.keeping.workOnce() == 1)
        #expect(try await world.realm.keeping.workOnce() == 0)

        #expect(courier.parcels.count == 1)
        #expect(try await rows(world).isEmpty)
        #expect(try await !world.realm.keeping.owesWork())
    }

    @Test func `production's retries come due by its clock, and end`() async throws {
        let courier = ScriptedCourier(
            Delivery(status: 500), Delivery(.timedOut), Delivery(status: 500))
        let world = try await TestWorld.open(
            realm: "live", environment: .production, courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            "https://example.com/", bundleID: TestWorld.bundleID.value, TestWorld.context)
        _ = try await world.realm.merchant.sendNotification(
            SendNotificationRequest(
                bundleId: TestWorld.bundleID.value, notificationType: "TEST"), TestWorld.context)

        var tried: [Int] = []
        for hour in 0...40 {
            if try await world.realm.keeping.workOnce() > 0 { tried.append(hour) }
            world.wall.advance(seconds: 3600)
        }

        #expect(tried == [0, 1, 13, 37])
        #expect(courier.parcels.count == 4)
        #expect(try await !world.realm.keeping.owesWork())
    }

    @Test func `a charge that a processor approves owes its errand too`() async throws {
        let courier = ScriptedCourier()
        let world = try await TestWorld.open(
            processor: ScriptedProcessor([.approve, .decline]), courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)

        let sold = try await world.buy(purchaseID(1))
        let declined = try await world.buy(purchaseID(2))

        #expect(sold.state == "sold" && declined.state == "refused")
        // The notification, and the sum to be taken.
        #expect(try await world.realm.keeping.workOnce() == 2)
        #expect(courier.parcels.count == 1)
    }

    @Test func `without a URL no errand is owed`() async throws {
        let world = try await TestWorld.open(courier: ScriptedCourier())
        try await world.buy(purchaseID(1))

        #expect(try await rows(world).isEmpty)
    }

    @Test func `without a courier errands wait for a process that has one`() async throws {
        let world = try await world(nil)
        try await world.buy(purchaseID(1))
        #expect(try await world.realm.keeping.workOnce() == 0)
        let courier = ScriptedCourier()

        let next = try await world.restarted(courier: courier)

        #expect(try await next.realm.keeping.workOnce() == 1)
        #expect(courier.parcels.count == 1)
    }

    @Test func `what one holds no other takes until the lease is over`() async throws {
        let world = try await world(ScriptedCourier())
        try await world.buy(purchaseID(1))

        let first = try await world.realm.claim(RunningLanes()).errands
        let second = try await world.realm.claim(RunningLanes()).errands
        world.wall.advance(seconds: Errands.leaseMilliseconds / 1000)
        let third = try await world.realm.claim(RunningLanes()).errands

        #expect(first.map(\.attempt) == [1] && second.isEmpty && third.map(\.attempt) == [2])
        #expect(first.map(\.fence) == [1] && third.map(\.fence) == [2])
    }

    /// A worker killed in the middle leaves its lease; the next does the work.
    @Test func `a dead worker's errand is done by another`() async throws {
        let courier = ScriptedCourier()
        let world = try await world(courier)
        try await world.buy(purchaseID(1))
        _ = try await world.realm.claim(lanes)

        let next = try await world.restarted(courier: courier)
        #expect(try await next.realm.keeping.workOnce() == 0)
        world.wall.advance(seconds: Errands.leaseMilliseconds / 1000)

        #expect(try await next.realm.keeping.workOnce() == 1)
        #expect(courier.parcels.count == 1)
    }

    @Test func `the only process there can be takes over at once`() async throws {
        let courier = ScriptedCourier()
        let world = try await world(courier)
        try await world.buy(purchaseID(1))
        let left = try #require(try await world.realm.claim(lanes).errands.first)

        try await Errands.releaseLeft(in: world.realm.storage)

        #expect(try await world.realm.keeping.workOnce() == 1)
        #expect(courier.parcels.count == 1)
        await world.realm.worker.run(left)
        #expect(try await world.attemptCount() == 1)
    }

    @Test func `one that wakes after its lease ended changes nothing`() async throws {
        let world = try await world(ScriptedCourier(Delivery(status: 500)))
        try await world.buy(purchaseID(1))
        let late = try #require(try await world.realm.claim(lanes).errands.first)
        world.wall.advance(seconds: Errands.leaseMilliseconds / 1000)
        let holder = try #require(try await world.realm.claim(RunningLanes()).errands.first)
        let before = try await rows(world)

        // Fails to deliver, and would give the notification up.
        await world.realm.worker.run(late)

        #expect(try await rows(world) == before)
        #expect(world.logged.count("an errand took longer than its lease") == 1)
        #expect(try await world.attemptCount() == 0)
        await world.realm.worker.run(holder)
        #expect(try await rows(world).isEmpty)
        #expect(try await world.attemptCount() == 1)
    }

    @Test func `a handler that throws leaves its errand to be run again`() async throws {
        let world = try await world(ScriptedCourier())
        try await world.buy(purchaseID(1))
        let errand = try #require(try await world.realm.claim(lanes).errands.first)
        let gone = Statement("test.clear", [], "DELETE FROM transactions")
        try await world.realm.storage.write { try $0.execute(gone, []) }

        // Its lane gets no more room for that.
        #expect(await world.realm.worker.run(errand) == false)

        #expect(world.logged.count("an errand failed") == 1)
        let row = try #require(try await rows(world).first)
        #expect(try row.optionalInteger("lease_until") == nil)
        #expect(try row.integer("due_at") > world.wall.clock.now.milliseconds)
    }

    /// What is not done narrows its lane.
    @Test(arguments: [(200, true), (500, false)])
    func `a notification is done once it is delivered`(status: Int, isDone: Bool) async throws {
        let world = try await world(ScriptedCourier(Delivery(status: status)))
        try await world.buy(purchaseID(1))
        let errand = try #require(try await world.realm.claim(lanes).errands.first)

        #expect(await world.realm.worker.run(errand) == isDone)
    }

    @Test(arguments: [(ScriptedProcessor.Act.approve, true), (.loseRequest, false)])
    func `a charge is done once its outcome is known`(
        act: ScriptedProcessor.Act, isDone: Bool
    ) async throws {
        let world = try await TestWorld.open(processor: ScriptedProcessor([.loseRequest, act]))
        try await world.buy(purchaseID(1))
        world.wall.advance(seconds: 60)
        let errand = try #require(try await world.realm.claim(lanes).errands.first)

        #expect(await world.realm.worker.run(errand) == isDone)
    }

    @Test func `an errand of a kind that this program does not know is not done`() async throws {
        let world = try await world(ScriptedCourier())
        let errand = Errand(
            customer: CustomerID(10), kind: "newer", subject: "s", lane: "l", attempt: 1, fence: 1)

        #expect(await world.realm.worker.run(errand) == false)
    }

    @Test func `one lane takes no more than its share`() async throws {
        let world = try await world(ScriptedCourier())
        for number in 1...20 { try await world.buy(purchaseID(number)) }
        for number in 1...3 {
            try await world.realm.storage.write { writing in
                try Errands.add(
                    kind: NotificationErrands.kind, subject: "s\(number)", lane: "other",
                    dueAt: TestWall.start.adding(seconds: 1), customer: CustomerID(10), writing)
            }
        }
        world.wall.advance(seconds: 1)

        let errands = try await world.realm.claim(lanes).errands
        let more = try await world.realm.claim(lanes).errands

        #expect(errands.count { $0.lane == TestWorld.bundleID.value } == Errands.laneMax)
        #expect(errands.count { $0.lane == "other" } == 3)
        #expect(more.isEmpty)
        lanes.leave(errands[0], wentWell: true)
        #expect(try await world.realm.claim(lanes).errands.count == 1)
    }

    /// The realm's clock stands, and with it the date of the errand that waits for
    /// room. The worker would spin until the first one has ended.
    @Test func `a lane without room is not looked at again until it has some`() async throws {
        let world = try await world(ScriptedCourier())
        let lanes = RunningLanes()
        for number in 1...2 { try await world.buy(purchaseID(number)) }
        let first = try await world.realm.claim(lanes)
        world.places.counter.reset()

        let second = try await world.realm.claim(lanes)

        #expect(first.errands.count == 1)
        #expect(second.errands.isEmpty && second.next == nil)
        #expect(world.places.counter.commits == 0)
    }

    @Test func `places that a lane did not need are free again`() async throws {
        let world = try await world(ScriptedCourier())
        for number in 1...3 { try await world.buy(purchaseID(number)) }
        let first = try await world.realm.claim(lanes).errands
        try await world.buy(purchaseID(4))

        let second = try await world.realm.claim(lanes).errands

        #expect(first.count == 3)
        #expect(second.count == 1)
    }

    @Test func `a lane's share grows while it goes well and falls when it does not`() throws {
        let lanes = RunningLanes()
        let errand = Errand(
            customer: CustomerID(10), kind: "k", subject: "s", lane: "l", attempt: 1, fence: 1)
        var shares: [Int] = []
        for wentWell in [true, true, true, true, false, true] {
            let room = lanes.enter("k", "l", isDue: true)
            shares.append(room)
            lanes.give(back: room - 1, "k", "l")
            lanes.leave(errand, wentWell: wentWell)
        }

        #expect(shares == [1, 2, 4, 8, 8, 1])
        #expect(lanes.enter("k", "l", isDue: false) == 0)
        #expect(lanes.enter("k", "l", isDue: true) == 2)
        #expect(lanes.enter("k", "l", isDue: true) == 0)
    }

    @Test func `dead endpoints delay no other`() async throws {
        let courier = HangingCourier(deadHost: "dead.example.com")
        let world = try await TestWorld.open(courier: courier)
        for number in 0..<40 {
            let app = number == 0 ? TestWorld.bundleID.value : "com.example.app\(number)"
            let host = number < 30 ? "dead.example.com" : "lively.example.com"
            try await world.realm.catalogue.putCatalogue(
                TestWorld.catalogue(), app: AppDescription(bundleID: BundleID(app)))
            try await world.realm.catalogue.setNotificationURL(
                "http://\(host)/\(number)", bundleID: app, TestWorld.context)
            for _ in 0..<10 {
                _ = try await world.realm.merchant.sendNotification(
                    SendNotificationRequest(bundleId: app, notificationType: "TEST"),
                    TestWorld.context)
            }
        }
        let working = Task { await world.store.work() }

        await courier.delivered(100)

        working.cancel()
        await working.value
        #expect(courier.hanging <= 30)
    }

    @Test func `a notification is three commits: taken, signed, settled`() async throws {
        let world = try await world(ScriptedCourier())
        try await world.buy(purchaseID(1))
        world.places.counter.reset()
        let signed = world.logged.count("notification signed")

        try await world.realm.keeping.workOnce()

        #expect(world.places.counter.commits == 3)
        #expect(world.logged.count("notification signed") - signed == 1)
    }

    @Test func `a sale with a notification is one statement more`() async throws {
        let world = try await world(ScriptedCourier())
        let session = try await world.session()
        world.places.counter.reset()

        try await world.buy(purchaseID(1), session: session)

        #expect(
            world.places.counter.statements == [
                "customers.line", "purchases.facts", "purchases.insert", "transactions.insert",
                "outbox.insert", "errands.insert",
            ])
        #expect(world.places.counter.commits == 1)
    }

    @Test func `looking for work writes nothing`() async throws {
        let world = try await world(ScriptedCourier())
        world.places.counter.reset()

        let (errands, next) = try await world.realm.claim(lanes)

        #expect(errands.isEmpty && next == nil)
        #expect(world.places.counter.commits == 0)
    }

    @Test func `the next due date is returned`() async throws {
        let world = try await world(ScriptedCourier())
        try await world.realm.storage.write { writing in
            try Errands.add(
                kind: NotificationErrands.kind, subject: "s", lane: "l",
                dueAt: TestWall.start.adding(seconds: 90), customer: CustomerID(10), writing)
        }

        #expect(try await world.realm.claim(lanes).next == .seconds(90))
    }

    @Test func `sales and moved clocks wake a worker`() async throws {
        let courier = WaitingCourier()
        let world = try await world(courier)
        let working = Task { await world.store.work() }

        try await world.buy(purchaseID(1))
        await courier.heard(1)
        try await world.realm.storage.write { writing in
            try Errands.add(
                kind: NotificationErrands.kind, subject: try #require(try world.cause(writing)),
                lane: "l", dueAt: TestWall.start.adding(seconds: 3600),
                customer: try #require(try world.buyer(writing)), writing)
        }
        // The worker may still be settling the first: only the second is in lane `l`.
        _ = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 3_600_000), TestWorld.context)
        await world.settled()

        working.cancel()
        await working.value
        #expect(try await rows(world).isEmpty)
    }

    @Test func `a worker that is stopped lets go of what it had begun`() async throws {
        let courier = WaitingCourier(holds: true)
        let world = try await world(courier)
        let working = Task { await world.store.work() }
        try await world.buy(purchaseID(1))
        await courier.heard(1)

        working.cancel()
        await working.value

        let row = try #require(try await rows(world).first)
        #expect(try row.optionalInteger("lease_until") == nil)
        #expect(try row.integer("attempt") == 0)
        #expect(try await world.attemptCount() == 0)
    }

    /// Its task is not cancelled: a store that closes closes the bells.
    @Test func `a worker whose bells are closed lets go of what it had begun`() async throws {
        let courier = WaitingCourier(holds: true)
        let world = try await world(courier)
        let hasEnded = Mutex(false)
        let working = Task {
            await world.realm.worker.work()
            hasEnded.withLock { $0 = true }
        }
        defer { working.cancel() }
        try await world.buy(purchaseID(1))
        await courier.heard(1)

        for bell in world.realm.bells { bell.close() }

        await until("the worker's end") { hasEnded.withLock { $0 } }
        let row = try #require(try await rows(world).first)
        #expect(try row.optionalInteger("lease_until") == nil)
        #expect(try row.integer("attempt") == 0)
    }
}

/// A courier whose parcels can be waited for, and that may hold them until
/// the task ends.
private final class WaitingCourier: Courier {
    private let holds: Bool
    private let told: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    init(holds: Bool = false) {
        self.holds = holds
        (told, tell) = AsyncStream.makeStream(of: Void.self)
    }

    func heard(_ count: Int) async {
        for number in 1...count {
            guard await first(of: told, "parcel \(number)") != nil else { return }
        }
    }

    func deliver(_ parcel: Parcel) async -> Delivery {
        tell.yield()
        guard holds else { return Delivery(status: 200) }
        try? await StorePorts.sleepForEver(.zero)
        return Delivery(.other)
    }
}

/// Delivers to every host but one, which takes parcels and never answers.
private final class HangingCourier: Courier {
    private let deadHost: String
    private let hung = Mutex(0)
    private let told: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    init(deadHost: String) {
        self.deadHost = deadHost
        (told, tell) = AsyncStream.makeStream(of: Void.self)
    }

    var hanging: Int { hung.withLock { $0 } }

    func delivered(_ count: Int) async {
        for number in 1...count {
            guard await first(of: told, "delivery \(number)") != nil else { return }
        }
    }

    func deliver(_ parcel: Parcel) async -> Delivery {
        guard parcel.url.contains(deadHost) else {
            tell.yield()
            return Delivery(status: 200)
        }
        hung.withLock { $0 += 1 }
        try? await StorePorts.sleepForEver(.zero)
        return Delivery(.timedOut)
    }
}

extension TestWorld {
    func attemptCount() async throws -> Int64 {
        let count = Statement(
            "test.attempts", [], "SELECT count(*) AS n FROM notification_attempts")
        return try await realm.sum(count)
    }

    fileprivate func cause(_ reading: any Reading) throws -> String? {
        try reading.first(Statement("test.cause", [], "SELECT cause FROM outbox"))?.text("cause")
    }

    fileprivate func buyer(_ reading: any Reading) throws -> CustomerID? {
        try reading.first(Statement("test.buyer", [], "SELECT customer_id FROM outbox"))
            .map { CustomerID(try $0.integer("customer_id")) }
    }

    /// Returns when nothing is owed any more.
    fileprivate func settled() async {
        await until("a realm that owes nothing") { (try? await realm.keeping.owesWork()) != true }
    }
}
