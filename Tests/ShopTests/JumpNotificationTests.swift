// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop
@testable import Work

/// The notifications that a jump of the clock causes: in the order of their
/// events, and not again and again to a server that does not answer. Each cluster
/// has an order and a count of its own.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !TestClusters.areShared))
struct JumpNotificationTests {
    private func subscribed(_ courier: ScriptedCourier) async throws -> TestWorld {
        let world = try await TestWorld.open(courier: courier)
        try await world.realm.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            TestWorld.context)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        for (n, product) in ["news", "weekly", "small", "premium"].enumerated() {
            _ = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "c\(n)"))
            let session = try await world.session(customer: "c\(n)")
            try await world.buy(product, purchaseID(n), session: session)
            world.wall.advance(seconds: 3 * 86_400)
        }
        try await world.realm.keeping.workOnce()
        return world
    }

    @Test func `they arrive in the order of their events`() async throws {
        let courier = ScriptedCourier()
        let world = try await subscribed(courier)
        let before = courier.parcels.count

        try await world.jump(Period(3, .month))
        try await world.realm.keeping.workOnce()

        let dates = try await world.owedDates()
        let sent = try courier.parcels.dropFirst(before).map {
            try #require(dates[$0.id])
        }
        #expect(sent.count > 20)
        #expect(sent == sent.sorted())
    }

    @Test func `a server that failed three times in a row is not tried again`() async throws {
        let failures = Array(repeating: Delivery(.timedOut), count: 100)
        let courier = ScriptedCourier()
        let world = try await subscribed(courier)
        let before = courier.parcels.count
        courier.script(failures)

        try await world.jump(Period(3, .month))
        try await world.realm.keeping.workOnce()

        #expect(courier.parcels.count - before == 3)
        #expect(try await !world.realm.sends())
    }

    private func move(
        _ world: TestWorld, _ notifications: JumpNotifications?, months: Int = 3
    ) async throws -> ClockDescription {
        try await world.realm.moveClock(
            MoveClockRequest(
                advancePeriod: "P\(months)M", notifications: notifications?.rawValue),
            TestWorld.context)
    }

    @Test func `what is awaited has arrived when the jump returns, as it is then`() async throws {
        let courier = ScriptedCourier()
        let world = try await subscribed(courier)
        let before = courier.parcels.count

        let moved = try await move(world, .awaited)

        let sent = courier.parcels.dropFirst(before)
        #expect(
            moved.notifications == SentInJump(delivered: sent.count, failed: 0, unsent: 0))
        #expect(sent.count > 20)
        #expect(try await !world.realm.sends())
        let told = try sent.map { try world.opened($0) }
        #expect(told.allSatisfy { $0.signedDate == moved.now })
    }

    @Test func `what is queued is sent later, and what is dropped never`() async throws {
        let courier = ScriptedCourier()
        let world = try await subscribed(courier)
        let before = courier.parcels.count

        let queued = try await move(world, .queued)
        #expect(queued.notifications == nil && courier.parcels.count == before)
        #expect(try await world.realm.sends())
        try await world.realm.keeping.workOnce()
        let sent = courier.parcels.count
        #expect(sent > before)

        let dropped = try await move(world, .dropped)
        try await world.realm.keeping.workOnce()
        #expect(dropped.notifications == nil && courier.parcels.count == sent)
        // What happens after the jump is sent as ever.
        _ = try await world.realm.subscriptions.switchRenewal(
            of: try #require(
                try await world.realm.subscriptions.list().subscriptions.first
            ).subscriptionId,
            on: false, TestWorld.context)
        try await world.realm.keeping.workOnce()
        #expect(courier.parcels.count == sent + 1)
    }

    @Test func `what a failed server was not sent is in the history as unsent`() async throws {
        let courier = ScriptedCourier()
        let world = try await subscribed(courier)
        let before = courier.parcels.count
        courier.script(Array(repeating: Delivery(status: 500), count: 3))

        let moved = try await move(world, .awaited, months: 1)

        let sent = try #require(moved.notifications)
        #expect(sent.delivered == 0 && sent.failed == 3 && sent.unsent > 3)
        #expect(courier.parcels.count == before + 3)
        let history = try await world.wholeHistory()
        let unsent = history.filter { ($0.sendAttempts ?? []).isEmpty }
        #expect(unsent.count == sent.unsent)
        #expect(unsent.allSatisfy { $0.signedPayload != nil })
        // The next jump tries again.
        let next = try await move(world, .awaited, months: 1)
        #expect(next.notifications?.unsent == 0)
        #expect((next.notifications?.delivered ?? 0) > 3)
    }

    @Test func `a jump over a time that failed before tries the server again`() async throws {
        let courier = ScriptedCourier()
        let world = try await subscribed(courier)
        let start = try await world.realm.clock().now
        courier.script(Array(repeating: Delivery(status: 500), count: 3))
        #expect((try await move(world, .awaited).notifications?.unsent ?? 0) > 0)
        _ = try await world.realm.moveClock(MoveClockRequest(moveTo: start), TestWorld.context)

        let again = try await move(world, .awaited, months: 8)

        #expect(again.notifications?.unsent == 0 && (again.notifications?.delivered ?? 0) > 3)
    }

    @Test func `a server that works again in between is tried again`() async throws {
        let courier = ScriptedCourier()
        let world = try await subscribed(courier)
        courier.script([500, 500, 200, 500, 500].map { Delivery(status: $0) })

        let moved = try await move(world, .awaited)

        #expect(moved.notifications?.failed == 4 && moved.notifications?.unsent == 0)
    }

    @Test func `a choice that there is not is refused, and nothing moves`() async throws {
        let world = try await subscribed(ScriptedCourier())
        let before = try await world.realm.clock().now

        let refusal = try await refusal {
            try await world.realm.moveClock(
                MoveClockRequest(advancePeriod: "P1M", notifications: "later"),
                TestWorld.context)
        }

        #expect(refusal.error.code == "notificationsUnclear")
        #expect(refusal.error.field == "notifications")
        #expect(try await world.realm.clock().now == before)
    }

    /// The worker of the same store finds the jump's work done, and may send too.
    @Test func `beside a worker they arrive once each, in order, before the jump returns`()
        async throws
    {
        let courier = ScriptedCourier()
        let world = try await subscribed(courier)
        let before = courier.parcels.count
        let working = Task { await world.store.work() }

        let moved = try await move(world, .awaited)

        let sent = courier.parcels.dropFirst(before)
        #expect(moved.notifications?.delivered == sent.count)
        #expect(Set(sent.map(\.id)).count == sent.count)
        let dates = try await world.owedDates()
        let order = try sent.map { try #require(dates[$0.id]) }
        #expect(order == order.sorted())
        working.cancel()
        await working.value
    }
}

/// A jump that is ended between two pieces of work.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !TestClusters.areShared))
struct StoppedJumpTests {
    @Test func `a jump that is stopped leaves no event in the clock's future`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        for n in 0..<3 {
            _ = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "c\(n)"))
            let session = try await world.session(customer: "c\(n)")
            try await world.buy("weekly", purchaseID(n), session: session)
        }
        let start = try await world.realm.clock().now
        let stopped = Mutex<ClockDescription?>(nil)
        let commits = Mutex(0)
        // Stops it in the middle, from another task, as another request would.
        let stop = AsyncStream.makeStream(of: Void.self)
        let stopper = Task {
            for await _ in stop.stream {
                let clock = try await world.realm.moveClock(
                    MoveClockRequest(stopsJump: true), TestWorld.context)
                stopped.withLock { $0 = clock }
                return
            }
        }
        world.places.counter.onStatement.withLock {
            $0 = { name in
                guard name == "dueWork.take" else { return }
                let count = commits.withLock {
                    $0 += 1
                    return $0
                }
                if count == 12 { stop.continuation.yield() }
            }
        }

        let moved = try await world.realm.moveClock(
            MoveClockRequest(advancePeriod: "P1Y"), TestWorld.context)
        stop.continuation.finish()
        try await stopper.value
        world.places.counter.onStatement.withLock { $0 = nil }

        let clock = try await world.realm.clock()
        #expect(clock.jump == nil)
        #expect(clock.now < start.adding(Period(1, .year)) && clock.now > start)
        #expect(moved.now == clock.now && stopped.withLock { $0?.now } == clock.now)
        let all = try await world.realm.purchases.listTransactions().transactions
        let weeks = clock.now.milliseconds(since: start) / (7 * 86_400_000)
        // A period is charged a minute before it begins.
        #expect(all.count >= 3 * Int(weeks + 1) && all.count <= 3 * Int(weeks + 2))
        try await world.checkFolds()
        // It can go on.
        _ = try await world.realm.moveClock(
            MoveClockRequest(moveTo: start.adding(Period(1, .year))), TestWorld.context)
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 3 * 53)
    }

    @Test func `without a jump there is nothing to stop`() async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal {
            try await world.realm.moveClock(
                MoveClockRequest(stopsJump: true), TestWorld.context)
        }
        let unclear = try await Self.code {
            try await world.realm.moveClock(
                MoveClockRequest(stopsJump: false), TestWorld.context)
        }

        #expect(refusal.kind == .conflict && refusal.error.code == "noJump")
        #expect(unclear == "clockMoveUnclear")
    }

    private static func code<Answer>(_ body: () async throws -> Answer) async throws -> String {
        try await refusal(of: body).error.code
    }
}

extension TestWorld {
    /// Every page of the notification history.
    func wholeHistory() async throws -> [NotificationHistoryResponseItem] {
        let merchant = try await realm.merchant.admit(bearer: try await bearer())
        let now = try await realm.clock().now
        let body = Array(
            "{\"startDate\":\(now.milliseconds - 170 * 86_400_000),\"endDate\":\(now.milliseconds)}"
                .utf8)
        var (items, token): ([NotificationHistoryResponseItem], String?) = ([], nil)
        repeat {
            let page = try await merchant.notificationHistory(body, paginationToken: token)
            items += page.notificationHistory ?? []
            token = page.paginationToken
        } while token != nil
        return items
    }

    /// When each notification's event happened, by the notification's UUID.
    func owedDates() async throws -> [String: Int64] {
        let owed = Statement(
            "test.owed", [], "SELECT notification_uuid, created_at FROM outbox")
        let rows = try await realm.rows(owed)
        return try Dictionary(
            uniqueKeysWithValues: rows.map {
                (try $0.text("notification_uuid"), try $0.integer("created_at"))
            })
    }
}

extension Realm {
    /// Whether any call is still owed.
    func sends() async throws -> Bool {
        try await sum(Statement("test.owes", [], "SELECT count(*) AS n FROM errands")) > 0
    }
}
