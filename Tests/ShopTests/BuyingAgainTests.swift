// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// A payment for a product that the customer has bought and not finished, or has asked
/// for: it charges nothing, and has the earlier purchase's outcome.
@Suite(.timeLimit(.minutes(5))) struct BuyingAgainTests {
    private func number(_ response: PurchaseResponse, _ world: TestWorld) throws -> String {
        try #require(try world.verified(response.signedTransaction).transactionId)
    }

    private func finish(_ number: String, _ world: TestWorld) async throws {
        _ = try await world.realm.purchases.finish(
            number, try await world.session(), TestWorld.context)
    }

    private func sales(_ world: TestWorld) async throws -> Int {
        try await world.realm.purchases.listTransactions().transactions.count
    }

    /// The purchase's row, as operators see it.
    private func record(_ n: Int, _ world: TestWorld) async throws -> PurchaseRecord {
        let all = try await world.realm.purchases.listPurchases().purchases
        return try #require(all.first { $0.purchaseId == purchaseID(n) })
    }

    private func answer(
        _ n: Int, _ answer: String, _ world: TestWorld
    ) async throws -> PurchaseRecord {
        try await world.realm.purchases.answerApproval(
            purchaseID(n), AnswerApprovalRequest(answer: answer), TestWorld.context)
    }

    private func kid(
        asksToBuy: Bool? = true, interrupts: Bool? = nil, processor: ScriptedProcessor? = nil
    ) async throws -> TestWorld {
        let world = try await TestWorld.open(processor: processor)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(
                name: "kid", asksToBuy: asksToBuy, interruptsPurchases: interrupts))
        return world
    }

    private func buy(
        _ n: Int, _ world: TestWorld, _ product: String = "credits.5", quantity: Int = 1
    ) async throws -> PurchaseResponse {
        try await world.buy(
            product, purchaseID(n), quantity: quantity,
            session: try await world.session(customer: "kid"), isIndependent: false)
    }

    // MARK: Unfinished

    @Test(arguments: ["credits.5", "pass"])
    func `what is unfinished is delivered again, whatever the quantity and the price`(
        product: String
    ) async throws {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.addPass()
        let first = try await world.buy(product, purchaseID(1), quantity: 2, isIndependent: false)

        for (n, quantity, shown) in [(2, 2, 990), (3, 1, 0), (4, 5, 991)] as [(Int, Int, Int64)] {
            let again = try await world.buy(
                product, purchaseID(n), quantity: quantity, price: shown, isIndependent: false)

            #expect(try number(again, world) == number(first, world))
            #expect(again.isRepeat == true && again.isFinished == false)
            #expect(try world.verified(again.signedTransaction).quantity == 2)
        }
        #expect(first.isRepeat == nil && first.isFinished == nil)
        #expect(try await sales(world) == 1)
        #expect(try await world.outbox().count == 1)
    }

    @Test(arguments: ["credits.5", "pass"])
    func `what is finished is bought anew, and each payment keeps its answer`(
        product: String
    ) async throws {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.addPass()
        let first = try await world.buy(product, purchaseID(1), isIndependent: false)
        let repeated = try await world.buy(product, purchaseID(2), isIndependent: false)
        try await finish(try number(first, world), world)

        let next = try await world.buy(product, purchaseID(3), isIndependent: false)

        #expect(try number(next, world) != number(first, world))
        #expect(next.isRepeat == nil)
        #expect(try await sales(world) == 2)
        // The same answers as before, whatever was finished since.
        let own = try await world.buy(product, purchaseID(1), isIndependent: false)
        let other = try await world.buy(product, purchaseID(2), isIndependent: false)
        #expect(own.isRepeat == nil && other.isRepeat == true && other.isFinished == true)
        #expect(try number(own, world) == number(repeated, world))
        #expect(try number(other, world) == number(repeated, world))
    }

    @Test func `a sheet that promised no charge charges nothing`() async throws {
        let world = try await TestWorld.open()
        let first = try await world.buy("credits.5", purchaseID(1), isIndependent: false)
        try await finish(try number(first, world), world)

        let response = try await world.buy(
            "credits.5", purchaseID(2), price: 0, isIndependent: false)

        #expect(response.refusal?.code == "priceChanged")
        #expect(response.product?.price == 990)
        #expect(try await sales(world) == 1)
    }

    @Test func `other products, customers and revoked purchases do not matter`() async throws {
        let world = try await kid(asksToBuy: nil)
        let first = try await world.buy("credits.5", purchaseID(1), isIndependent: false)

        #expect(
            try await world.buy("credits.10", purchaseID(2), isIndependent: false).isRepeat == nil)
        #expect(try await buy(3, world).isRepeat == nil)
        _ = try await world.decide(try number(first, world), "granted")
        let next = try await world.buy("credits.5", purchaseID(4), isIndependent: false)

        #expect(next.isRepeat == nil)
        #expect(try await sales(world) == 4)
    }

    // MARK: Waiting for an answer

    @Test(arguments: ["credits.5", "pro"])
    func `what waits for approval is not asked for twice, and sold once`(
        product: String
    ) async throws {
        let world = try await kid()
        _ = try await buy(1, world, product)

        let second = try await buy(2, world, product)
        #expect(second.state == "waiting" && second.waitingFor == "approval")
        let joined = try await record(2, world)
        #expect(joined.state == "joined" && joined.joins == purchaseID(1))
        let waiting = try await world.realm.purchases.listPurchases(state: "waiting")
        #expect(waiting.purchases.map(\.purchaseId) == [purchaseID(1)])
        let refused = try await refusal { try await answer(2, "approved", world) }
        #expect(refused.error.code == "purchaseNotFound")

        _ = try await answer(1, "approved", world)

        let (one, two) = (try await buy(1, world, product), try await buy(2, world, product))
        #expect(try number(one, world) == number(two, world))
        #expect(one.isRepeat == nil && two.isRepeat == true)
        #expect(try await sales(world) == 1)
    }

    @Test func `a payment that joined never buys, even when the first was finished`()
        async throws
    {
        let world = try await kid()
        _ = try await buy(1, world)
        _ = try await buy(2, world, quantity: 3)
        let sold = try #require(try await answer(1, "approved", world).transactionId)
        _ = try await world.realm.purchases.finish(
            sold, try await world.session(customer: "kid"), TestWorld.context)

        let second = try await buy(2, world, quantity: 3)

        #expect(try number(second, world) == sold)
        #expect(second.isRepeat == true && second.isFinished == true)
        #expect(try await buy(3, world).state == "waiting", "the next one is independent")
        #expect(try await sales(world) == 1)
    }

    @Test(arguments: ["declined", "timedOut"])
    func `a payment that joined is refused with the first`(answer word: String) async throws {
        let world = try await kid()
        _ = try await buy(1, world)
        _ = try await buy(2, world)

        if word == "declined" {
            _ = try await answer(1, word, world)
        } else {
            _ = try await world.realm.moveClock(
                MoveClockRequest(advanceMilliseconds: ApprovalAnswer.limitMilliseconds),
                TestWorld.context)
        }

        let codes = [try await buy(1, world).refusal?.code, try await buy(2, world).refusal?.code]
        #expect(codes[0] == codes[1] && codes[0] != nil)
        // The one that joined is confirmed again like any that was refused.
        let replacing = try await world.realm.purchases.purchase(
            purchaseID(3),
            PurchaseRequest(
                productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD",
                replaces: purchaseID(2)), try await world.session(customer: "kid"),
            TestWorld.context)
        #expect(replacing.state == "waiting")
    }

    @Test func `a cleared history leaves no payment that would buy by itself`() async throws {
        let world = try await kid()
        _ = try await buy(1, world)
        _ = try await buy(2, world)
        let customer = try await record(1, world).customerId

        _ = try await world.realm.customers.clearHistory(
            ofCustomer: customer, TestWorld.context)

        #expect(try await buy(1, world).state == "refused")
        #expect(try await buy(2, world).state == "refused")
        _ = try await world.realm.customers.clearHistory(
            ofCustomer: customer, TestWorld.context)
        #expect(try await buy(2, world).state == "refused")
    }

    @Test func `what was interrupted is joined while the next would be interrupted`()
        async throws
    {
        let world = try await kid(asksToBuy: nil, interrupts: true)
        let interrupted = try await buy(1, world)
        let joined = try await buy(2, world)
        #expect(interrupted.waitingFor == "attention" && joined.waitingFor == "attention")
        #expect(try await record(2, world).joins == purchaseID(1))
        _ = try await world.realm.customers.changeCustomer(
            try await record(1, world).customerId,
            ChangeCustomerRequest(interruptsPurchases: false))

        let bought = try await buy(3, world)
        #expect(bought.state == "sold" && bought.isRepeat == nil)
        _ = try await answer(1, "approved", world)

        let all = [try await buy(1, world), try await buy(2, world), bought]
        #expect(try Set(all.map { try number($0, world) }).count == 1)
        #expect(try await sales(world) == 1)
    }

    // MARK: A charge in flight

    @Test func `a charge in flight is not made twice`() async throws {
        let processor = ScriptedProcessor([.loseRequest, .approve, .approve])
        let world = try await TestWorld.open(processor: processor)
        let first = try await world.buy("credits.5", purchaseID(1), isIndependent: false)
        let second = try await world.buy("credits.5", purchaseID(2), isIndependent: false)
        #expect(first.state == "authorising" && second.state == "authorising")
        #expect(processor.calls == ["authorise"])

        let sold = try await world.buy("credits.5", purchaseID(1), isIndependent: false)
        let again = try await world.buy("credits.5", purchaseID(2), isIndependent: false)

        #expect(try number(sold, world) == number(again, world))
        #expect(again.isRepeat == true)
        #expect(processor.charged.count == 1)
        #expect(try await sales(world) == 1)
    }

    @Test func `a payment that comes in the middle of a charge joins it`() async throws {
        let processor = ScriptedProcessor([.decline, .approve])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()
        processor.whenAuthorising {
            let second = try await world.buy(
                "credits.5", purchaseID(2), session: session, isIndependent: false)
            #expect(second.state == "authorising")
        }

        let first = try await world.buy(
            "credits.5", purchaseID(1), session: session, isIndependent: false)
        processor.whenAuthorising {}

        let second = try await world.buy(
            "credits.5", purchaseID(2), session: session, isIndependent: false)
        #expect(first.refusal?.code == "declined" && second.refusal == first.refusal)
        #expect(
            try await world.buy("credits.5", purchaseID(3), session: session, isIndependent: false)
                .state == "sold")
        #expect(processor.charged.count == 1)
    }

    // MARK: What has rules of its own

    @Test func `subscriptions join nothing`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: true))

        #expect(try await buy(1, world, "news").state == "waiting")
        #expect(try await buy(2, world, "news").state == "waiting")
        #expect(try await record(2, world).state == "waiting")
        _ = try await answer(1, "approved", world)
        _ = try await answer(2, "approved", world)

        let both = [try await buy(1, world, "news"), try await buy(2, world, "news")]
        #expect(try Set(both.map { try number($0, world) }).count == 1)
        #expect(both.allSatisfy { $0.isRepeat == nil })
    }

    @Test func `a history that is made in the past repeats nothing`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.session()
        let customer = try #require(
            try await world.realm.customers.listCustomers().first?.customerId)
        for day in [3, 2] as [Int64] {
            var request = PastPurchaseRequest(
                bundleId: TestWorld.bundleID.value, productId: "credits.5",
                date: TestWall.start.adding(milliseconds: -day * 86_400_000))
            request.customer = customer
            request.isUnfinished = true
            let bought = try await world.realm.purchases.buyInPast(request, TestWorld.context)
            #expect(bought.state == "sold")
        }
        #expect(try await sales(world) == 2)
    }
}
