// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Renewals that a payment processor charges.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct RenewalChargeTests {
    @Test func `a year is charged through the processor, and is the year of a rule`()
        async throws
    {
        let processor = ScriptedProcessor([])
        let world = try await TestWorld.openWithSubscriptions(seed: 3, processor: processor)
        try await world.buy("news", purchaseID(1))
        let ruled = try await TestWorld.openWithSubscriptions(seed: 3)
        try await ruled.buy("news", purchaseID(1))

        try await world.jump(Period(1, .year))
        try await ruled.jump(Period(1, .year))
        try await world.realm.keeping.workOnce()

        #expect(processor.charged.count == 13 && processor.captured.count == 13)
        #expect(processor.calls.count { $0 == "authorise" } == 13)
        #expect(Set(processor.keys).count == 13 && processor.keys.allSatisfy { $0.count <= 300 })
        #expect(try await world.realm.clock().jump == nil)
        #expect(try await world.story() == ruled.story())
        #expect(try await world.charges() == Array(repeating: "sold", count: 12))
        try await world.checkMoney(processor)
    }

    @Test func `a declined charge is repeated at the end, and then by the timetable`()
        async throws
    {
        let processor = ScriptedProcessor([.approve, .decline, .decline, .approve])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        try await world.buy("news", purchaseID(1))

        try await world.jump(Period(33, .day))
        try await world.realm.keeping.workOnce()

        #expect(try await world.kinds() == ["subscribed", "chargeDeclined", "failed", "recovered"])
        #expect(try await world.charges() == ["declined", "declined", "sold"])
        #expect(Set(processor.keys).count == 4)
        try await world.checkMoney(processor)
    }

    @Test(arguments: [ScriptedProcessor.Act.chargeAndLoseAnswer, .loseRequest])
    func `a jump waits for an answer, and the charge is never made twice`(
        act: ScriptedProcessor.Act
    ) async throws {
        let processor = ScriptedProcessor([.approve, act])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        try await world.buy("news", purchaseID(1))

        let moved = try await world.realm.moveClock(
            MoveClockRequest(advancePeriod: "P1Y"), TestWorld.context)
        #expect(moved.jump != nil, "the jump is under way")
        #expect(try await world.charges() == ["asked"])
        let again = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 0), TestWorld.context)

        #expect(again.jump == nil)
        try await world.realm.keeping.workOnce()
        #expect(processor.charged.count == 13 && processor.captured.count == 13)
        #expect(processor.calls.count { $0 == "outcome" } == 1)
        try await world.checkMoney(processor)
        try await world.checkFolds()
    }

    @Test func `an answer after the clock was set back is not dated before its question`()
        async throws
    {
        let processor = ScriptedProcessor([])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        try await world.buy("news", purchaseID(1))
        let start = try await world.realm.clock().now
        processor.whenAuthorising {
            try await world.setClock(MoveClockRequest(moveTo: start))
            try await world.change("offAndOn")
        }

        try await world.jump(Period(2, .month))

        #expect(try await world.charges() == ["sold"])
        #expect(
            try await world.kinds() == ["subscribed", "switchedOff", "switchedOn", "renewed"])
        let all: [SQLValue] = [.integer(RealmClock.latest.milliseconds), .integer(0)]
        let renewed = try await world.realm.rows(Statement.Clocks.lastTimed, all)
            .compactMap { try $0.optionalInteger("last_timed") }.max()
        // A period is charged a minute before it begins.
        #expect(renewed == start.adding(Period(1, .month)).milliseconds - 60_000)
        try await world.checkFolds()
    }

    /// A change while the first renewal has no answer, the processor's answer,
    /// and what becomes of both.
    private static let table = """
        change      answer   events after the purchase         charges         kept
        nothing     approve  renewed                           sold            2
        nothing     decline  chargeDeclined                    declined        1
        off         approve  switchedOff                       dropped         1
        off         decline  switchedOff                       declined        1
        offAndOn    approve  switchedOff,switchedOn,renewed    sold            2
        offAndOn    decline  switchedOff,switchedOn,chargeDeclined  declined   1
        upgrade     approve  upgraded                          dropped         2
        downgrade   approve  choseProduct,renewed              dropped,sold    2
        downgrade   decline  choseProduct,renewed              declined,sold   2
        extend      approve  extended                          dropped         1
        extend      decline  extended                          declined        1
        raise       approve  increaseAnnounced                 dropped         1
        raiseAgreed approve  increaseAnnounced,renewed         dropped,sold    2
        raiseLater  approve  increaseAnnounced,renewed         sold            2
        expire      approve  expired                           dropped         1
        forbid      approve  renewed                           sold            2
        reprice     approve  renewed                           sold            2
        """

    @Test(arguments: table.split(separator: "\n").dropFirst().map(String.init))
    func `a change while a charge is under way`(line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        let act = words[1] == "approve" ? ScriptedProcessor.Act.approve : .decline
        let processor = ScriptedProcessor([.approve, act])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        try await world.buy("news", purchaseID(1))
        let change = Mutex<String?>(words[0])
        processor.whenAuthorising {
            guard
                let change = change.withLock({ change in
                    defer { change = nil }
                    return change
                })
            else { return }
            try await world.change(change)
        }
        // 20 s before the end, after the charge a minute ahead.
        let end = try #require(await world.realm.subscriptions.list().subscriptions.first?.endDate)

        _ = try await world.realm.moveClock(
            MoveClockRequest(moveTo: end.adding(seconds: -20)), TestWorld.context)
        try await world.realm.keeping.workOnce()

        #expect(try await world.kinds().dropFirst().joined(separator: ",") == words[2])
        #expect(try await world.charges().joined(separator: ",") == words[3])
        #expect(processor.charged.count == Int(words[4]))
        try await world.checkMoney(processor)
        try await world.checkFolds()
    }

    @Test func `a waiting device is informed when the processor has answered`() async throws {
        let processor = ScriptedProcessor([])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        try await world.buy("news", purchaseID(1))
        let session = try await world.session()
        let never = NoTimeout()
        let waiting = Mutex<Task<Void, any Error>?>(nil)
        // What asks the processor was announced before this.
        processor.whenAuthorising {
            let revision = try await world.realm.purchases.transactions(
                since: 0, session, TestWorld.context
            ).revision
            let task = Task {
                try await world.realm.purchases.changes(
                    since: revision, session, timeout: never.wait)
            }
            await never.started()
            waiting.withLock { $0 = task }
        }

        try await world.jump(Period(1, .month))

        try await #require(waiting.withLock(\.self)).value
        #expect(try await world.charges() == ["sold"])
    }

    @Test func `a retry that is cancelled, or paid by buying, is given back`() async throws {
        for isBought in [false, true] {
            let processor = ScriptedProcessor([.approve, .decline, .decline])
            let world = try await TestWorld.openWithSubscriptions(processor: processor)
            let session = try await world.session()
            try await world.buy("news", purchaseID(1), session: session)
            let end = try #require(
                await world.realm.subscriptions.list().subscriptions.first?.endDate)
            _ = try await world.realm.moveClock(
                MoveClockRequest(moveTo: end), TestWorld.context)
            let isChanged = Mutex(false)
            processor.whenAuthorising {
                let isDone = isChanged.withLock { done in
                    defer { done = true }
                    return done
                }
                if isDone { return }
                if isBought {
                    try await world.buy("news", purchaseID(2), session: session)
                } else {
                    try await world.change("off")
                }
            }

            try await world.jump(Period(1, .day))
            try await world.realm.keeping.workOnce()

            #expect(try await world.charges() == ["declined", "declined", "dropped"])
            let last = try await world.kinds().last
            #expect(last == (isBought ? "recovered" : "expired"))
            try await world.checkMoney(processor)
            try await world.checkFolds()
        }
    }

    @Test func `what the price was when the charge was asked for is what is written`()
        async throws
    {
        let processor = ScriptedProcessor([.approve, .chargeAndLoseAnswer])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        try await world.buy("news", purchaseID(1))
        try await world.jump(Period(1, .month))
        try await world.change("reprice")

        _ = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 0), TestWorld.context)

        let all = try await world.realm.purchases.listTransactions().transactions
        #expect(all.map(\.payload.price) == [4990, 4990])
        try await world.realm.keeping.workOnce()
        try await world.checkMoney(processor)
    }

    @Test func `what a dead process asked for is settled by the next`() async throws {
        let processor = ScriptedProcessor([.approve, .chargeAndLoseAnswer])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        try await world.buy("news", purchaseID(1))
        try await world.jump(Period(1, .month))

        let next = try await world.restarted(processor: processor)
        try await next.realm.keeping.workOnce()

        #expect(try await next.charges() == ["sold"])
        #expect(processor.charged.count == 2)
        #expect(try await next.realm.clock().jump == nil)
        try await next.checkMoney(processor)
    }

    @Test(arguments: [false, true])
    func `the money of a renewal goes back to its own charge`(byUpgrade: Bool) async throws {
        let processor = ScriptedProcessor([])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        try await world.buy("news", purchaseID(1))
        try await world.jump(Period(1, .month))
        let renewed = try #require(
            await world.realm.purchases.listTransactions().transactions.last?.payload.transactionId)

        if byUpgrade {
            try await world.buy("premium", purchaseID(2))
        } else {
            try await world.realm.refunds.request(renewed, RefundRequest(), TestWorld.context)
            try await world.realm.refunds.decide(
                renewed, DecideRefundRequest(state: "granted"), TestWorld.context)
        }
        // The refund waits until the sum was taken.
        for _ in 0..<2 {
            try await world.realm.keeping.workOnce()
            _ = try await world.realm.moveClock(
                MoveClockRequest(advanceMilliseconds: 5000), TestWorld.context)
        }
        try await world.realm.keeping.workOnce()

        #expect(processor.refunded.map(\.amount.milliunits) == [4990])
        #expect(processor.refundedKeys.allSatisfy { $0.contains("/renewal/") })
        #expect(processor.calls.count { $0 == "refund" } == 1)
        try await world.checkMoney(processor)
    }

    @Test func `a tester's charge asks the processor and answers with what became of it`()
        async throws
    {
        let processor = ScriptedProcessor([.approve, .approve, .decline, .decline, .approve])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        try await world.buy("news", purchaseID(1))
        let (room, id) = (world.realm.subscriptions, try await world.subscription())

        let renewed = try await room.renew(id, TestWorld.context)
        #expect(renewed.events.map(\.kind) == ["renewed"])
        #expect(renewed.events.first?.cause == "tester")
        try await world.jump(Period(2, .month))
        #expect(try await world.kinds().suffix(2) == ["chargeDeclined", "failed"])
        let paid = try await room.failBilling(of: id, false, TestWorld.context)

        #expect(paid.events.map(\.kind) == ["recovered"])
        #expect(paid.subscription.status == "active")
        try await world.realm.keeping.workOnce()
        try await world.checkMoney(processor)
    }

    @Test func `two processes work off one jump, and each period is charged once`()
        async throws
    {
        let (places, processor) = (TestPlaces(), ScriptedProcessor([]))
        let wall = TestWall()
        let one = try await TestWorld.openWithSubscriptions(
            places: places, wall: wall, processor: processor
        ) { _ in }
        for n in 0..<6 {
            _ = try await one.realm.customers.createCustomer(CreateCustomerRequest(name: "c\(n)"))
            try await one.buy("news", purchaseID(n), session: one.session(customer: "c\(n)"))
        }
        let two = try await TestWorld.open(
            places: places, wall: wall, randomness: 77, processor: processor
        ) { _ in }

        async let jumped: Void = one.jump(Period(1, .year))
        for _ in 0..<12 { try await two.realm.keeping.workOnce() }
        try await jumped
        _ = try await two.realm.keeping.workOnce()
        _ = try await one.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 0), TestWorld.context)
        _ = try await one.realm.keeping.workOnce()

        #expect(try await one.realm.clock().jump == nil)
        #expect(processor.charged.count == 6 * 13)
        #expect(try await one.realm.purchases.listTransactions().transactions.count == 6 * 13)
        try await one.checkMoney(processor)
        try await one.checkFolds()
    }

    @Test func `a production realm charges ahead, not all at once, and never late`()
        async throws
    {
        let processor = ScriptedProcessor([])
        let world = try await TestWorld.openWithSubscriptions(
            processor: processor, realm: "live", environment: .production)
        var ends: [String: Timestamp] = [:]
        for n in 0..<8 {
            _ = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "c\(n)", password: "a long password"))
            let token = try await world.signIn(customer: "c\(n)", password: "a long password").token
            let session = try await world.realm.customers.session(token: token)
            try await world.buy("news", purchaseID(n), session: session)
        }
        for record in try await world.realm.subscriptions.list().subscriptions {
            ends[record.subscriptionId] = record.endDate
        }
        let end = try #require(ends.values.min())
        world.wall.set(end.adding(seconds: -86_400))
        var charged: [Int] = []
        for _ in 0..<24 {
            try await world.realm.keeping.workOnce()
            charged.append(processor.charged.count - 8)
            world.wall.advance(seconds: 3600)
        }

        #expect(Set(charged).count > 4, "\(charged)")
        #expect(charged.last == 8)
        try await world.checkMoney(processor)
    }

    @Test func `a realm whose processor is owed an answer is not reset`() async throws {
        let processor = ScriptedProcessor([.approve, .chargeAndLoseAnswer])
        let world = try await TestWorld.openWithSubscriptions(processor: processor)
        let session = try await world.session()
        try await world.buy("news", purchaseID(1), session: session)
        try await world.jump(Period(1, .month))
        func reset() async throws {
            _ = try await world.store.resetRealm(
                named: world.realm.description.name, TestWorld.context)
        }
        func clear() async throws {
            _ = try await world.realm.customers.clearHistory(
                ofCustomer: session.customer.description, TestWorld.context)
        }

        #expect(try await refusal(of: reset).error.code == "processorIsOwed")
        #expect(try await refusal(of: clear).error.code == "chargesOwed")
        _ = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 0), TestWorld.context)
        try await world.realm.keeping.workOnce()
        try await clear()

        #expect(try await world.charges().isEmpty)
        try await world.buy("news", purchaseID(1), session: session)
        #expect(processor.charged.count == 3)
    }

    // MARK: Cuts

    /// Kills the store before and after every call of a port.
    @Test func `a store that dies anywhere charges each period once, with the same history`()
        async throws
    {
        let whole = RenewalStory(nil)
        let calls = try await whole.run()
        let told = try await whole.told()
        #expect(calls > 20 && told.count == 5, "\(told)")
        var fired = 0
        let cuts = SeededShare.of(0..<calls, oneIn: TestPlaces.isOnPostgres ? 6 : 3)
        for call in cuts {
            for side in Knife.Side.allCases {
                let story = RenewalStory((call, side))
                _ = try await story.run()
                #expect(try await story.told() == told, "\(call) \(side)")
                fired += story.knife.fired
            }
        }
        #expect(fired == 2 * cuts.count)
    }
}

/// A subscription through a declined charge and three renewals, finished however
/// often the store dies on the way.
private final class RenewalStory: Sendable {
    let knife: Knife
    private let places = TestPlaces(isOneProcess: true)
    private let wall = TestWall()
    private let processor = ScriptedProcessor([.approve, .approve, .decline])
    private let restarts = Mutex<UInt64>(1)
    private let target = TestWall.start.adding(Period(3, .month)).adding(seconds: 5)

    init(_ cut: Knife.Cut?) { knife = Knife(cut) }

    func run() async throws -> Int {
        let first = try await world(Knife(nil))
        try await first.realm.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            TestWorld.context)
        try await first.buy("news", purchaseID(1))
        await first.store.close()
        let calls = try await knife.walk(deathsMax: 3) {
            let world = try await self.world(self.knife)
            if try await world.realm.clock().now < self.target {
                _ = try await world.realm.moveClock(
                    MoveClockRequest(standAt: self.target), TestWorld.context)
                try self.knife.check()
            }
            _ = try await world.realm.keeping.workOnce()
            try self.knife.check()
            await world.store.close()
        }
        return calls
    }

    /// The history, after the last life has done what is left.
    func told() async throws -> [String] {
        let world = try await world(Knife(nil))
        wall.advance(seconds: 60)
        try await world.realm.keeping.workOnce()
        #expect(try await world.realm.clock().jump == nil)
        #expect(Set(processor.keys).count == processor.keys.count)
        try await world.checkMoney(processor)
        try await world.checkFolds()
        let story = try await world.story()
        await world.store.close()
        return story
    }

    private func world(_ knife: Knife) async throws -> TestWorld {
        let randomness = restarts.withLock { restarts in
            restarts += 1
            return restarts
        }
        let cutting = CutAuthoriser(authoriser: processor, knife: knife)
        var ports = StorePorts(
            places: knife.cutting(places.places), keys: try await TestWorld.keys.value,
            wall: wall.clock, randomness: .seeded(randomness), authoriser: { _ in cutting },
            passwordCost: PasswordCost(rounds: 2))
        ports.opensSandboxes = true
        let store = try await Store.open(ports)
        return TestWorld(
            places: places, wall: wall, logged: Logged(), store: store,
            realm: try await store.realm(named: Store.defaultRealm))
    }
}

extension TestWorld {
    /// The kinds of what happened, in order.
    func kinds() async throws -> [String] { try await events().map(\.kind) }

    /// What happened, with dates.
    func story() async throws -> [String] {
        try await events().map { "\($0.date) \($0.cause) \($0.message)" }
    }

    private func events() async throws -> [SubscriptionEventRecord] {
        var events: [SubscriptionEventRecord] = []
        for customer in try await realm.customers.listCustomers() {
            events += try await realm.subscriptions.history(of: customer.customerId).events
        }
        return events
    }

    /// The states of the charges of renewals, in order.
    func charges() async throws -> [String] {
        let all = Statement(
            "test.charges",
            "SELECT state FROM renewal_charges ORDER BY customer_id, asked_at, period_end, attempt")
        return try await realm.rows(all).map { try $0.text("state") }
    }

    /// What was charged and not given back is what the transactions cost, and is
    /// captured; nothing is owed.
    func checkMoney(_ processor: ScriptedProcessor) async throws {
        let all = try await realm.purchases.listTransactions().transactions
        let sold = all.compactMap(\.payload.price).filter { $0 > 0 }
        let charged = processor.charged.map(\.amount.milliunits).filter { $0 > 0 }
        #expect(charged.sorted() == sold.sorted())
        let captured = processor.captured.map(\.amount.milliunits).filter { $0 > 0 }
        #expect(captured.sorted() == sold.sorted())
        let owed = Statement("test.owed", "SELECT kind FROM errands WHERE lane = 'processor'")
        #expect(try await realm.rows(owed).isEmpty)
    }

    /// What a person changes while a charge is under way.
    fileprivate func change(_ change: String) async throws {
        let (room, context) = (realm.subscriptions, Self.context)
        let id = try await subscription()
        let later = try await room.show(id).endDate.adding(seconds: 86_400)
        func raise(_ needsConsent: Bool, _ from: Timestamp) async throws {
            try await room.raisePrice(
                of: id,
                RaisePriceRequest(price: 5990, startDate: from, needsConsent: needsConsent),
                context)
        }
        switch change {
        case "off": try await room.switchRenewal(of: id, on: false, context)
        case "offAndOn":
            try await room.switchRenewal(of: id, on: false, context)
            try await room.switchRenewal(of: id, on: true, context)
        case "upgrade": try await buy("premium", purchaseID(8))
        case "downgrade": try await buy("small", purchaseID(8))
        case "extend": try await room.extend(id, days: 10, context)
        case "raise": try await raise(true, try await realm.clock().now)
        case "raiseAgreed": try await raise(false, try await realm.clock().now)
        case "raiseLater": try await raise(false, later)
        case "expire": try await room.expire(id, context)
        case "forbid":
            for customer in try await realm.customers.listCustomers() {
                _ = try await realm.customers.changeCustomer(
                    customer.customerId, ChangeCustomerRequest(canMakePayments: false), context)
            }
        case "reprice":
            var dearer = ProductChange()
            dearer.price = 2990
            _ = try await realm.catalogue.changeProduct(
                "news", bundleID: Self.bundleID.value, dearer, context)
        default: break
        }
    }
}
