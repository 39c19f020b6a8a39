// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreKit
import StoreWire
import TestSupport
import Testing

/// What a test can do to its store, its wire and its processor.
@Suite(.timeLimit(.minutes(5))) struct TestShopTests {
    @Test(arguments: [TestWire.Fault.requestLost, .answerLost, .unavailable])
    func `a call that goes wrong is made again, and paid once`(
        fault: TestWire.Fault
    ) async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        shop.wire.fail(.purchase, fault, times: 2)
        shop.wire.fail(.receipt, fault)

        try await device.buy("credits.5")
        let bought = try await device.heard.first(.purchased)

        // What was sold and not answered may come with the transactions first.
        #expect(shop.wire.count(.purchase) >= (fault == .answerLost ? 1 : 3))
        let sold = try await shop.transactions()
        #expect(sold.map(\.payload.transactionId) == [bought.transactionIdentifier])
        await shop.close()
    }

    @Test(arguments: [TestWire.Fault.requestLost, .unavailable])
    func `a payment is sent once more for each time that it did not arrive`(
        fault: TestWire.Fault
    ) async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        shop.wire.fail(.purchase, fault, times: 2)

        try await device.buy("credits.5")
        _ = try await device.heard.first(.purchased)

        #expect(shop.wire.count(.purchase) == 3)
        await shop.close()
    }

    /// The outcome is told with its receipt: without one the payment is asked
    /// for again, under its id. Where the news of the sale asked for the
    /// receipt first, they are asked for again instead.
    @Test func `a receipt that is lost costs one more question about the same payment`()
        async throws
    {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        shop.wire.fail(.receipt, .requestLost)

        try await device.buy("credits.5")
        _ = try await device.heard.first(.purchased)

        #expect((1...2).contains(shop.wire.count(.purchase)))
        #expect(try await shop.transactions().count == 1)
        await shop.close()
    }

    @Test func `a fault that was mended does not happen`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        for call in TestWire.Call.allCases { shop.wire.fail(call, .notSent, times: 9) }
        shop.wire.mend()

        try await device.buy("credits.5")

        _ = try await device.heard.first(.purchased)
        #expect(shop.wire.count(.purchase) == 1)
        await shop.close()
    }

    @Test func `a processor declines, loses its answer, and charges once`() async throws {
        let processor = TestProcessor([.decline, .loseAnswer, .loseRequest])
        let shop = try await TestShop.monkeys { $0.processor = processor }
        let device = try await shop.device()

        try await device.buy("credits.5")
        let failed = try await device.heard.first(.failed)
        device.queue.finishTransaction(failed)
        #expect(processor.charges.isEmpty)
        try await device.buy("credits.5")
        try await device.buy("credits.10")
        _ = try await device.heard.all(.purchased, count: 2)

        #expect(processor.charges.count == 2 && processor.voided.isEmpty)
        #expect(try await shop.transactions().count == 2)
        await shop.close()
    }

    @Test func `a customer's switches are turned while the store runs`() async throws {
        let shop = try await TestShop.monkeys()
        try await shop.addCustomer("kid")
        let device = try await shop.device(customer: "kid")

        let changed = try await shop.changeCustomer("kid", asksToBuy: true)
        #expect(changed.asksToBuy && changed.canMakePayments)
        try await device.buy("credits.5")
        _ = try await device.heard.first(.deferred)
        try await shop.approve(try #require(try await shop.waitingPurchases().first))
        _ = try await device.heard.first(.purchased)

        #expect(try await shop.transactions(of: "kid").count == 1)
        #expect(try await shop.transactions(of: Realm.defaultCustomer).isEmpty)
        await #expect(throws: Refusal.self) {
            try await shop.changeCustomer("nobody", asksToBuy: true)
        }
        await shop.close()
    }
}
