// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Refunds through a payment processor: what was charged, minus what went back, is
/// what the transactions say.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct RefundMoneyTests {
    private func world(_ processor: ScriptedProcessor) async throws -> TestWorld {
        try await TestWorld.open(processor: processor)
    }

    /// Does all errands, also those that are put off.
    private func work(_ world: TestWorld) async throws {
        for _ in 0..<7 {
            try await world.realm.keeping.workOnce()
            world.wall.advance(seconds: 3600)
        }
    }

    @Test func `a sum goes back once, after it was taken`() async throws {
        let processor = ScriptedProcessor([])
        processor.make(captureFailures: 1)
        processor.make(refundFailures: 2)
        let world = try await world(processor)
        let id = try await world.sell("credits.5", 1, try await world.session())

        let granted = try await world.decide(id, "granted")
        #expect(processor.refunded.isEmpty && granted.refund.returnedDate == nil)
        try await world.realm.keeping.workOnce()
        #expect(!processor.calls.contains("refund"), "it is not captured yet")
        try await work(world)

        #expect(processor.refunded.map(\.amount.milliunits) == [990])
        #expect(processor.calls.filter { $0 == "refund" }.count == 3)
        let refund = try #require(await world.realm.refunds.list().refunds.first)
        #expect(refund.returnedDate != nil && refund.takenBackDate == nil)
        #expect(try await !world.realm.keeping.owesWork())
    }

    @Test(arguments: [false, true])
    func `a refund that is taken back leaves the money with the store`(
        isReturned: Bool
    ) async throws {
        let processor = ScriptedProcessor([])
        let world = try await world(processor)
        let id = try await world.sell("credits.5", 1, try await world.session())
        try await work(world)
        try await world.decide(id, "granted")
        if isReturned { try await work(world) }

        try await world.decide(id, "reversed")
        try await work(world)

        #expect(processor.calls.contains("refund") == isReturned)
        #expect(processor.refunded.isEmpty && processor.captured.count == 1)
        #expect(try await world.realm.refunds.list().refunds.first?.takenBackDate != nil)
        try await world.decide(id, "granted")
        try await work(world)
        #expect(processor.refunded.map(\.amount.milliunits) == [990])
        #expect(try await !world.realm.keeping.owesWork())
    }

    @Test func `a revocation, and what cost nothing, call no processor`() async throws {
        let processor = ScriptedProcessor([])
        let world = try await world(processor)
        let id = try await world.sell("credits.5", 1, try await world.session())
        try await work(world)
        try await world.decide(id, "granted", "nothing")
        try await world.decide(id, "reversed")
        try await work(world)

        #expect(processor.calls == ["authorise", "capture"])
        #expect(try await !world.realm.keeping.owesWork())
    }

    @Test func `a history is not cleared while money is to go back`() async throws {
        let processor = ScriptedProcessor([])
        let world = try await world(processor)
        let session = try await world.session()
        let id = try await world.sell("credits.5", 1, session)
        try await work(world)
        try await world.decide(id, "granted")

        let refused = try await refusal {
            try await world.realm.customers.clearHistory(
                ofCustomer: session.customer.description, TestWorld.context)
        }

        #expect(refused.error.code == "chargesOwed")
        try await work(world)
        _ = try await world.realm.customers.clearHistory(
            ofCustomer: session.customer.description, TestWorld.context)
        #expect(try await world.realm.refunds.list().refunds.isEmpty)
    }

    @Test(arguments: Seeds.all)
    func `what was charged minus what went back is the sum over the transactions`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed)
        let processor = ScriptedProcessor([])
        let world = try await world(processor)
        let session = try await world.session()
        var ids: [String] = []
        for step in 1...60 {
            let choice = Int.random(in: 0..<8, using: &random)
            if ids.isEmpty || choice == 0 {
                ids.append(
                    try await world.sell(
                        Bool.random(using: &random) ? "credits.5" : "credits.10", step, session))
                continue
            }
            let id = try #require(ids.randomElement(using: &random))
            let words = ["requested", "granted", "granted", "declined", "reversed"]
            let state = try #require(words.randomElement(using: &random))
            let kind = choice == 1 ? "nothing" : nil
            do { try await world.decide(id, state, kind) } catch let refused as Refusal {
                #expect(refused.kind == .conflict)
            }
            if choice == 7 { try await world.realm.keeping.workOnce() }
        }
        try await work(world)

        let all = try await world.realm.purchases.listTransactions().transactions
        let refunds = try await world.realm.refunds.list().refunds
        let charged = processor.captured.map(\.amount.milliunits).reduce(0, +)
        let back = processor.refunded.map(\.amount.milliunits).reduce(0, +)
        let kept = all.map { record in
            (record.payload.price ?? 0)
                - refunds.filter {
                    $0.transactionId == record.payload.transactionId && $0.state == "granted"
                }.compactMap(\.sum).reduce(0, +)
        }
        #expect(charged - back == kept.reduce(0, +))
        #expect(kept.allSatisfy { $0 >= 0 })
        for record in all {
            let isRevoked = refunds.contains {
                $0.transactionId == record.payload.transactionId && $0.state == "granted"
            }
            #expect((record.payload.revocationDate != nil) == isRevoked)
        }
    }
}

/// Kills the store before and after every call that it makes of a port while a
/// purchase is refunded, and asks a new one for the same.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct RefundCutTests {
    @Test(arguments: [["granted"], ["granted", "reversed"]])
    func `money goes back once wherever the store dies`(states: [String]) async throws {
        let calls = try await RefundStoryOfCuts(nil, states).run()
        #expect(calls > 12)
        var fired = 0
        let cuts = SeededShare.of(0..<calls, oneIn: TestPlaces.isOnPostgres ? 9 : 3)
        for call in cuts {
            for side in Knife.Side.allCases {
                let story = RefundStoryOfCuts((call, side), states)
                _ = try await story.run()
                fired += story.knife.fired
            }
        }
        #expect(fired == 2 * cuts.count)
    }
}

private final class RefundStoryOfCuts: Sendable {
    let knife: Knife
    private let states: [String]
    private let places = TestPlaces(isOneProcess: true)
    private let wall = TestWall()
    private let processor = ScriptedProcessor([])

    init(_ cut: Knife.Cut?, _ states: [String]) {
        knife = Knife(cut)
        self.states = states
    }

    func run() async throws -> Int {
        let calls = try await knife.walk(deathsMax: 3) { try await walk() }
        try await audit()
        return calls
    }

    private func open(_ knife: Knife) async throws -> Store {
        let cutting = CutAuthoriser(authoriser: processor, knife: knife)
        return try await Store.open(
            StorePorts(
                places: knife.cutting(places.places), keys: try await TestWorld.keys.value,
                wall: wall.clock, randomness: .seeded(UInt64(knife.calls + 7)),
                authoriser: { _ in cutting }, passwordCost: PasswordCost(rounds: 2)))
    }

    private func walk() async throws {
        let store = try await open(knife)
        let realm = try await store.realm(named: Store.defaultRealm)
        if try await realm.catalogue.apps().isEmpty {
            try await realm.catalogue.putCatalogue(
                TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        }
        let signedIn = try await realm.customers.signIn(
            SignInRequest(deviceUUID: TestWorld.deviceUUID), TestWorld.context)
        let session = try await realm.customers.session(token: signedIn.token)
        let sold = try await realm.purchases.purchase(
            purchaseID(1),
            PurchaseRequest(productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD"),
            session, TestWorld.context)
        try knife.check()
        let signed = try #require(sold.signedTransaction)
        let id = try #require(try TestWorld.payload(signed, realm).transactionId)
        let done = try await realm.refunds.list().refunds.first?.state
        for state in states.drop(while: { $0 != done && done != nil }) {
            _ = try await realm.refunds.decide(
                id, DecideRefundRequest(state: state), TestWorld.context)
            try knife.check()
        }
        wall.advance(seconds: 7200)
        try await realm.keeping.workOnce()
        try knife.check()
        await store.close()
    }

    private func audit() async throws {
        let store = try await open(Knife(nil))
        let realm = try await store.realm(named: Store.defaultRealm)
        for _ in 0..<3 {
            wall.advance(seconds: 7200)
            try await realm.keeping.workOnce()
        }
        let refunds = try await realm.refunds.list().refunds
        let last = try #require(states.last)
        #expect(refunds.map(\.state) == [last])
        #expect(processor.captured.count == 1)
        #expect(processor.refunded.count == (last == "granted" ? 1 : 0))
        let all = try await realm.purchases.listTransactions().transactions
        #expect(all.map { $0.payload.revocationDate != nil } == [last == "granted"])
        let customer = try #require(refunds.first).customerId
        let history = try await realm.subscriptions.history(of: customer).events
        #expect(history.count == states.count)
        let owed = Statement("test.owed", "SELECT notification_type FROM outbox ORDER BY revision")
        let types = try await realm.rows(owed).map { try $0.text("notification_type") }
        #expect(
            types
                == Array(["ONE_TIME_CHARGE", "REFUND", "REFUND_REVERSED"].prefix(states.count + 1)))
        #expect(try await !realm.keeping.owesWork())
        await store.close()
    }
}
