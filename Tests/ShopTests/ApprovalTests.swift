// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop

/// Ask to Buy at the store: what waits, the answers, the time-out.
@Suite(.timeLimit(.minutes(5))) struct ApprovalTests {
    private static let dayMilliseconds = ApprovalAnswer.limitMilliseconds

    private func world(_ processor: ScriptedProcessor? = nil) async throws -> TestWorld {
        let world = try await TestWorld.open(processor: processor)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: true))
        return world
    }

    @discardableResult
    private func buy(
        _ world: TestWorld, _ n: Int = 1, _ product: String = "credits.5", price: Int64? = nil
    ) async throws -> PurchaseResponse {
        try await world.buy(
            product, purchaseID(n), price: price,
            session: try await world.session(customer: "kid"))
    }

    @discardableResult
    private func answer(_ answer: String, _ world: TestWorld, _ n: Int = 1) async throws
        -> PurchaseRecord
    {
        try await world.realm.purchases.answerApproval(
            purchaseID(n), AnswerApprovalRequest(answer: answer), TestWorld.context)
    }

    private func jump(_ milliseconds: Int64, _ world: TestWorld) async throws {
        _ = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: milliseconds), TestWorld.context)
    }

    private func outbox(_ world: TestWorld) async throws -> [Row] {
        let all = Statement("test.outbox", "SELECT * FROM outbox")
        return try await world.realm.rows(all)
    }

    private func dueRows(_ world: TestWorld) async throws -> Int {
        let all = Statement("test.dueWork", "SELECT * FROM due_work")
        return try await world.realm.rows(all).count
    }

    @Test func `a customer who asks to buy waits`() async throws {
        let world = try await world()

        let first = try await buy(world)
        let again = try await buy(world)

        #expect(first.state == "waiting" && first.waitingFor == "approval")
        #expect(first.signedTransaction == nil)
        #expect(again == first)
        #expect(try await outbox(world).isEmpty)
        #expect(try await dueRows(world) == 1)
    }

    @Test func `an approved payment is sold once and stays so`() async throws {
        let world = try await world()
        try await buy(world)

        let record = try await answer("approved", world)
        let again = try await answer("approved", world)
        let response = try await buy(world)

        #expect(record == again)
        #expect(record.state == "sold" && record.approval == "approved")
        #expect(
            try world.verified(response.signedTransaction).transactionId == record.transactionId)
        #expect(try await outbox(world).count == 1)
        #expect(try await dueRows(world) == 0)
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 1)
    }

    @Test func `a declined payment is refused, and its answer stands`() async throws {
        let world = try await world()
        try await buy(world)

        let record = try await answer("declined", world)
        let late = try await refusal { try await answer("approved", world) }

        #expect(record.state == "refused" && record.refusal == "approvalDeclined")
        #expect(late.error.code == "approvalAnswered" && late.kind == .conflict)
        #expect(try await answer("declined", world) == record)
        #expect(try await buy(world).refusal?.code == "approvalDeclined")
        #expect(try await dueRows(world) == 0)
    }

    @Test func `a day without an answer refuses, on the jump that passes it`() async throws {
        let world = try await world()
        try await buy(world)

        try await jump(Self.dayMilliseconds - 1, world)
        #expect(try await buy(world).state == "waiting")
        try await jump(1, world)

        let response = try await buy(world)
        #expect(response.refusal?.code == "approvalTimedOut")
        let late = try await refusal { try await answer("approved", world) }
        #expect(late.error.message.contains("too long"))
        #expect(try await outbox(world).isEmpty)
    }

    @Test func `an answer after the time-out has no effect`()
        async throws
    {
        let world = try await world()
        try await buy(world)
        world.wall.advance(seconds: Self.dayMilliseconds / 1000)

        let late = try await refusal { try await answer("approved", world) }

        #expect(late.error.code == "approvalAnswered")
        #expect(late.error.message.contains("too long"))
        #expect(try await world.realm.keeping.workOnce() == 0)
        #expect(try await buy(world).refusal?.code == "approvalTimedOut")
    }

    @Test func `a changed price is decided again at the approval`() async throws {
        let world = try await world()
        try await buy(world)
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: 1290), app: AppDescription(bundleID: TestWorld.bundleID))

        let record = try await answer("approved", world)

        let response = try await buy(world)
        #expect(record.refusal == "priceChanged" && record.approval == "approved")
        #expect(response.refusal?.code == "priceChanged" && response.product?.price == 1290)
        #expect(try await outbox(world).isEmpty)
    }

    @Test func `the charge begins with the approval`() async throws {
        let processor = ScriptedProcessor([.approve])
        let world = try await world(processor)

        #expect(try await buy(world).state == "waiting")
        #expect(processor.calls.isEmpty)
        #expect(try await answer("approved", world).state == "sold")
        #expect(processor.calls == ["authorise"])
        try await world.realm.keeping.workOnce()
        #expect(processor.calls == ["authorise", "capture"])
        #expect(try await buy(world).state == "sold")
    }

    @Test func `a charge that hangs after the approval is settled by the next worker`()
        async throws
    {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer])
        let world = try await world(processor)
        try await buy(world)

        #expect(try await answer("approved", world).state == "authorising")
        #expect(try await answer("approved", world).state == "sold")
        #expect(processor.calls == ["authorise", "outcome"])
    }

    @Test func `answers and a time-out that race come to one`() async throws {
        for round in 0..<8 {
            let world = try await world()
            try await buy(world)
            world.wall.advance(seconds: Self.dayMilliseconds / 1000 - (round < 4 ? 1 : 0))

            try await withThrowingTaskGroup { group in
                for word in ["approved", "declined", "approved", "declined"] {
                    group.addTask { _ = try? await self.answer(word, world) }
                }
                group.addTask { try await world.realm.keeping.workOnce() }
                try await group.waitForAll()
            }

            try await world.realm.keeping.workOnce()
            let record = try #require(
                try await world.realm.purchases.listPurchases().purchases.first)
            let sold = try await world.realm.purchases.listTransactions().transactions.count
            #expect(record.state == "sold" || record.state == "refused")
            #expect(record.approval != nil)
            #expect(sold == (record.state == "sold" ? 1 : 0))
            #expect(try await outbox(world).count == sold)
            #expect(try await dueRows(world) == 0)
        }
    }

    @Test func `a sandbox's payment may ask by itself, production's may not`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        var request = PurchaseRequest(
            productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD",
            simulatesAskToBuyInSandbox: true)

        let asked = try await world.realm.purchases.purchase(
            purchaseID(1), request, session, TestWorld.context)
        request.simulatesAskToBuyInSandbox = nil
        let other = try await refusal {
            try await world.realm.purchases.purchase(
                purchaseID(1), request, session, TestWorld.context)
        }

        #expect(asked.state == "waiting")
        #expect(other.error.field == "simulatesAskToBuyInSandbox")

        let live = try await TestWorld.open(
            processor: ScriptedProcessor([.approve]), realm: "live",
            environment: .production)
        _ = try await live.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        let signedIn = try await live.signIn(customer: "ann", password: "correct horse")
        request.simulatesAskToBuyInSandbox = true

        let sold = try await live.realm.purchases.purchase(
            purchaseID(1), request, try await live.realm.customers.session(token: signedIn.token),
            TestWorld.context)

        #expect(sold.state == "sold")
        #expect(sold.waitingFor == nil)
    }

    @Test func `a waiting device is informed of every answer`() async throws {
        for word in ["approved", "declined"] {
            let world = try await world()
            let session = try await world.session(customer: "kid")
            let asked = try await buy(world)
            let never = NoTimeout()

            async let waiting: Void = world.realm.purchases.changes(
                since: asked.revision, session, timeout: never.wait)
            await never.started()
            try await answer(word, world)
            try await waiting

            let page = try await world.realm.purchases.transactions(
                since: asked.revision, session, TestWorld.context)
            #expect(page.answeredPurchases == [purchaseID(1)])
            #expect(page.transactions.count == (word == "approved" ? 1 : 0))
            let after = try await world.realm.purchases.transactions(
                since: page.revision, session, TestWorld.context)
            #expect(!after.hasNews)
        }
    }

    @Test func `what waits is listed until it is answered`() async throws {
        let world = try await world()
        for (n, product) in ["credits.5", "credits.10", "pro"].enumerated() {
            try await buy(world, n + 1, product)
        }
        try await answer("declined", world, 2)

        let first = try await world.realm.purchases.listPurchases(state: "waiting", limit: 1)
        let rest = try await world.realm.purchases.listPurchases(
            state: "waiting", after: first.next)
        let all = try await world.realm.purchases.listPurchases()

        #expect(first.purchases.map(\.purchaseId) == [purchaseID(1)])
        #expect(rest.purchases.map(\.purchaseId) == [purchaseID(3)])
        #expect(rest.next == nil)
        #expect(all.purchases.map(\.state) == ["waiting", "refused", "waiting"])
        #expect(
            first.purchases.first?.answerableUntil
                == TestWall.start.adding(milliseconds: Self.dayMilliseconds))
    }

    @Test(arguments: [("maybe", "answerUnknown"), ("timedOut", "answerUnknown")])
    func `an answer is one of two`(word: String, code: String) async throws {
        let world = try await world()
        #expect(try await refusal { try await answer(word, world) }.error.code == code)
    }

    @Test func `a list is of all purchases or of those that wait`() async throws {
        let world = try await world()
        for state in ["", "sold", "refused", "Waiting"] {
            let refused = try await refusal {
                try await world.realm.purchases.listPurchases(state: state)
            }
            #expect(refused.error.code == "stateUnknown" && refused.error.field == "state")
        }
    }

    @Test(arguments: [("approved", "approve"), ("declined", "decline")])
    func `the audit has each answer, with what it changed`(word: String, verb: String) async throws
    {
        let world = try await world()
        try await buy(world)

        _ = try await answer(word, world)

        let entry = try await world.realm.auditEntries().entries.last
        #expect(entry?.deed == "purchase.\(verb)")
        #expect(entry?.subject.hasSuffix(purchaseID(1)) == true)
        #expect(entry?.shown == "state: waiting > \(word)")
    }

    @Test func `what does not wait is not found`() async throws {
        let world = try await world()
        try await world.buy("credits.5", purchaseID(4))

        for n in [4, 5] {
            let refusal = try await refusal { try await answer("approved", world, n) }
            #expect(refusal.error.code == "purchaseNotFound" && refusal.kind == .notFound)
        }
    }

    @Test func `two customers' purchases with one id are distinguished`() async throws {
        let world = try await world()
        let second = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "sister", asksToBuy: true))
        try await buy(world)
        try await world.buy(
            "credits.5", purchaseID(1), session: try await world.session(customer: "sister"))

        let unclear = try await refusal { try await answer("approved", world) }
        let record = try await world.realm.purchases.answerApproval(
            purchaseID(1),
            AnswerApprovalRequest(answer: "approved", customerId: second.customerId),
            TestWorld.context)

        #expect(unclear.error.code == "purchaseAmbiguous")
        #expect(record.customerId == second.customerId && record.state == "sold")
        #expect(try await buy(world).state == "waiting")
    }

    @Test func `whether a customer asks can be changed`() async throws {
        let world = try await world()
        let kid = try #require(
            try await world.realm.customers.listCustomers().first { $0.name == "kid" })
        try await buy(world, 1)

        let changed = try await world.realm.customers.changeCustomer(
            kid.customerId, ChangeCustomerRequest(asksToBuy: false))

        #expect(kid.asksToBuy && !changed.asksToBuy && changed.canMakePayments)
        #expect(try await buy(world, 1).state == "waiting")
        #expect(try await buy(world, 2, "credits.10").state == "sold")
        let nobody = try await refusal {
            try await world.realm.customers.changeCustomer("7", ChangeCustomerRequest())
        }
        #expect(nobody.error.code == "customerNotFound")
    }
}
