// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import PurchaseKitTesting
import StoreKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// A product that is bought again: what apps report most often.
@Suite(.timeLimit(.minutes(5))) struct BuyingAgainScenarioTests {
    private func finish(
        _ transaction: SKPaymentTransaction, on device: TestDevice, count: Int
    ) async throws {
        device.queue.finishTransaction(transaction)
        try await device.heard.removed(count: count)
    }

    @Test func `what is owned costs nothing, and the sheet says so`() async throws {
        let processor = TestProcessor()
        let shop = try await TestShop.monkeys { $0.processor = processor }
        let device = try await shop.device()
        try await device.buy("pro")
        let first = try await device.heard.first(.purchased)
        try await finish(first, on: device, count: 1)

        try await device.buy("pro")
        let again = try await device.heard.all(.purchased, count: 2)[1]

        #expect(again.transactionIdentifier == first.transactionIdentifier)
        #expect(again.transactionState == .purchased && again.original == nil)
        #expect(device.sheet.shown.map(\.isOwned) == [false, true])
        #expect(device.sheet.shown[1].total.amount == Amount(milliunits: 0))
        #expect(
            device.sheet.shown[1].lines.last == "You own this already. You are not charged again.")
        await until("the money") { !processor.captured.isEmpty }
        #expect(processor.captured.count == 1)
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    @Test func `another device of the customer buys it for nothing too`() async throws {
        let shop = try await TestShop.monkeys()
        let (first, second) = (try await shop.device(), try await shop.device())
        try await first.buy("pro")
        let sold = try await first.heard.first(.purchased)
        try await finish(sold, on: first, count: 1)

        try await second.buy("pro")
        let again = try await second.heard.first(.purchased)

        #expect(again.transactionIdentifier == sold.transactionIdentifier)
        #expect(second.sheet.shown.map(\.isOwned) == [true])
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    @Test func `one finish is enough for all payments with one transaction`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5")
        _ = try await device.heard.first(.purchased)
        try await device.buy("credits.5")
        let again = try await device.heard.all(.purchased, count: 2)[1]

        try await finish(again, on: device, count: 2)

        #expect(device.queue.transactions.isEmpty)
        try await device.buy("credits.5")
        _ = try await device.heard.all(.purchased, count: 3)
        #expect(device.sheet.shown.map(\.earlier) == [nil, .unfinished, nil])
        #expect(try await shop.records().count == 2)
        await shop.close()
    }

    @Test func `what was given back is bought and charged anew`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("pro")
        let first = try await device.heard.first(.purchased)
        try await finish(first, on: device, count: 1)
        try await shop.refund(try #require(first.transactionIdentifier))
        _ = try await device.heard.revoked()

        try await device.buy("pro")
        let again = try await device.heard.all(.purchased, count: 2)[1]

        #expect(again.transactionIdentifier != first.transactionIdentifier)
        #expect(device.sheet.shown.map(\.isOwned) == [false, false])
        await shop.close()
    }

    @Test func `an unfinished purchase of what can be owned is not charged twice`() async throws {
        let processor = TestProcessor()
        let shop = try await TestShop.monkeys { $0.processor = processor }
        let device = try await shop.device()
        try await device.buy("pro")
        let first = try await device.heard.first(.purchased)

        try await device.buy("pro")
        let both = try await device.heard.all(.purchased, count: 2)

        #expect(device.sheet.shown.map(\.isOwned) == [false, true])
        #expect(both.allSatisfy { $0.transactionIdentifier == first.transactionIdentifier })
        await until("the money") { !processor.captured.isEmpty }
        #expect(processor.captured.count == 1)
        try await finish(both[0], on: device, count: 2)
        #expect(device.queue.transactions.isEmpty)
        await device.restart()
        #expect(device.heard.entries.isEmpty)
        await shop.close()
    }

    @Test func `an answer that was lost and a customer who tries again cost once`() async throws {
        let processor = TestProcessor()
        let shop = try await TestShop.monkeys { $0.processor = processor }
        let device = try await shop.device()
        shop.wire.fail(.purchase, .answerLost, times: 2)
        try await device.buy("pro")
        try await device.buy("pro")
        let both = try await device.heard.all(.purchased, count: 2)

        #expect(Set(both.map(\.transactionIdentifier)).count == 1)
        await until("the money") { !processor.captured.isEmpty }
        #expect(processor.captured.count == 1)
        await shop.close()
    }

    @Test func `consumables are independent of each other once finished`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5")
        let first = try await device.heard.first(.purchased)
        try await finish(first, on: device, count: 1)

        try await device.buy("credits.5")
        let second = try await device.heard.all(.purchased, count: 2)[1]

        #expect(second.transactionIdentifier != first.transactionIdentifier)
        #expect(device.sheet.shown.map(\.earlier) == [nil, nil])
        #expect(device.sheet.notices.isEmpty)
        #expect(try await shop.records().count == 2)
        await shop.close()
    }

    /// The store hears of the finish before it is asked for the next payment, which waits
    /// for it. Both the finish and the payment meet some of the faults.
    @Test func `a finish on its way comes before the next payment`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5")
        let first = try await device.heard.first(.purchased)
        for _ in 0..<4 {
            shop.wire.fail(.finish, .unavailable)
            shop.wire.fail(.finish, .requestLost)
        }
        device.queue.finishTransaction(first)

        for count in 2...4 {
            try await device.buy("credits.5")
            let next = try await device.heard.all(.purchased, count: count)[count - 1]
            device.queue.finishTransaction(next)
        }

        #expect(try await shop.records().count == 4)
        #expect(device.heard.transactions(.failed).isEmpty)
        #expect(device.sheet.notices.isEmpty)
        await shop.close()
    }

    // MARK: Consumables that are not finished

    @Test func `an unfinished consumable is delivered again, with a notice and no charge`()
        async throws
    {
        let processor = TestProcessor()
        let shop = try await TestShop.monkeys { $0.processor = processor }
        let device = try await shop.device()
        try await device.buy("credits.5", quantity: 2, applicationUsername: "ann")
        let first = try await device.heard.first(.purchased)

        try await device.buy("credits.5", quantity: 3, applicationUsername: "bob")
        let again = try await device.heard.all(.purchased, count: 2)[1]

        #expect(again !== first && again.transactionIdentifier == first.transactionIdentifier)
        #expect(again.payment.quantity == 2 && again.payment.applicationUsername == "ann")
        #expect(device.sheet.shown.map(\.earlier) == [nil, .unfinished])
        #expect(device.sheet.shown[1].total.amount == Amount(milliunits: 0))
        #expect(
            device.sheet.shown[1].lines.last
                == "You have bought this already. You are not charged again.")
        await until("the money") { !processor.captured.isEmpty }
        #expect(processor.charges.count == 1 && processor.voided.isEmpty)
        #expect(try await shop.records().map(\.payload.quantity) == [2])

        // One finish is enough for the store, and the next payment is independent.
        for transaction in device.queue.transactions { device.queue.finishTransaction(transaction) }
        try await device.heard.removed(count: 2)
        try await device.buy("credits.5")
        let next = try await device.heard.all(.purchased, count: 3)[2]
        #expect(next.transactionIdentifier != first.transactionIdentifier)
        #expect(try await shop.records().count == 2)
        await shop.close()
    }

    @Test func `it is delivered again after a launch, and then once more by a payment`()
        async throws
    {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5", quantity: 2)
        let first = try await device.heard.first(.purchased)
        await device.restart()
        let launched = try await device.heard.first(.purchased)

        try await device.buy("credits.5")
        let again = try await device.heard.all(.purchased, count: 2)[1]
        await device.restart()
        let both = try await device.heard.all(.purchased, count: 2)

        #expect(
            Set(([first, launched, again] + both).map(\.transactionIdentifier)).count == 1)
        #expect((both + [again]).allSatisfy { $0.payment.quantity == 2 })
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    @Test func `another device of the customer is not charged either, and is told so`()
        async throws
    {
        let shop = try await TestShop.monkeys()
        let (first, second) = (try await shop.device(), try await shop.device())
        try await first.buy("credits.5")
        let sold = try await first.heard.first(.purchased)
        let elsewhere = try await second.heard.first(.purchased)

        try await second.buy("credits.5")
        let again = try await second.heard.all(.purchased, count: 2)[1]

        #expect(
            Set([sold, elsewhere, again].map(\.transactionIdentifier)).count == 1)
        #expect(second.sheet.shown.map(\.earlier) == [.unfinished])
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    /// The device cannot know yet, so its sheet shows the price.
    @Test func `a device that does not know yet gives the notice afterwards`() async throws {
        let shop = try await TestShop.monkeys()
        let (first, second) = (try await shop.device(), try await shop.device())
        try await first.buy("credits.5")
        let sold = try await first.heard.first(.purchased)
        shop.wire.fail(.transactions, .notSent, times: 1000)

        try await second.buy("credits.5")
        let again = try await second.heard.first(.purchased)

        #expect(again.transactionIdentifier == sold.transactionIdentifier)
        #expect(second.sheet.shown.map(\.earlier) == [nil])
        #expect(
            second.sheet.notices == ["You have bought this already. You are not charged again."])
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    @Test func `a finish while the sheet is open lets the sheet ask again with the price`()
        async throws
    {
        let shop = try await TestShop.monkeys()
        let sheet = MeddlingSheet()
        let device = try await shop.device { $0.sheet = sheet }
        try await device.buy("credits.5")
        let first = try await device.heard.first(.purchased)
        sheet.whenShown {
            device.queue.finishTransaction(first)
            try? await device.heard.removed()
        }

        try await device.buy("credits.5")
        let second = try await device.heard.all(.purchased, count: 2)[1]

        #expect(second.transactionIdentifier != first.transactionIdentifier)
        #expect(sheet.shown.map(\.earlier) == [nil, .unfinished, nil])
        #expect(sheet.shown.map(\.isPriceChanged) == [false, false, true])
        #expect(try await shop.records().count == 2)
        await shop.close()
    }

    @Test(arguments: [true, false])
    func `two payments at once, before the first is answered, cost once`(
        isFinished: Bool
    ) async throws {
        let processor = TestProcessor([.loseAnswer])
        let shop = try await TestShop.monkeys { $0.processor = processor }
        let device = try await shop.device()
        shop.wire.fail(.purchase, .answerLost, times: 2)
        let product = try #require(await device.products("credits.5").first)
        _ = device.heard
        for _ in 1...2 { device.queue.add(SKPayment(product: product)) }
        let first = try await device.heard.first(.purchased)
        if isFinished { device.queue.finishTransaction(first) }
        let ends = {
            device.heard.transactions(.purchased) + device.heard.transactions(.failed)
        }
        await until("an end of both", seen: "\(device.heard.entries.count)") {
            ends().count == 2
        }

        #expect(device.queue.transactions.allSatisfy { $0.transactionState != .purchasing })
        #expect(
            Set(device.heard.transactions(.purchased).map(\.transactionIdentifier)).count == 1)
        await until("the money") { !processor.captured.isEmpty }
        #expect(processor.charges.count == 1)
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    // MARK: What waits for approval

    @Test(arguments: ["credits.5", "pro"])
    func `what waits for approval is asked for once, and sold once`(
        product: String
    ) async throws {
        let shop = try await TestShop.monkeys()
        try await shop.addCustomer("kid", asksToBuy: true)
        let device = try await shop.device(customer: "kid")
        try await device.buy(product)
        let first = try await device.heard.first(.deferred)

        try await device.buy(product)
        let both = try await device.heard.all(.deferred, count: 2)
        #expect(both[0] === first && both[1] !== first)
        #expect(device.sheet.shown.map(\.earlier) == [nil, .waiting])
        #expect(
            device.sheet.shown[1].lines.last
                == "You have asked for this already, and wait for the answer. "
                + "You are not charged again.")

        let waiting = try await shop.waitingPurchases()
        try await shop.approve(try #require(waiting.first))
        let sold = try await device.heard.all(.purchased, count: 2)

        #expect(waiting.count == 1)
        #expect(Set(sold.map(\.transactionIdentifier)).count == 1)
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    @Test func `both fail when the answer is no, and the next one asks anew`() async throws {
        let shop = try await TestShop.monkeys()
        try await shop.addCustomer("kid", asksToBuy: true)
        let device = try await shop.device(customer: "kid")
        try await device.buy("credits.5")
        _ = try await device.heard.first(.deferred)
        try await device.buy("credits.5")
        _ = try await device.heard.all(.deferred, count: 2)

        try await shop.decline(try #require(try await shop.waitingPurchases().first))
        _ = try await device.heard.all(.failed, count: 2)
        try await device.buy("credits.5")
        _ = try await device.heard.all(.deferred, count: 3)

        #expect(device.sheet.shown.map(\.earlier) == [nil, .waiting, nil])
        #expect(try await shop.records().isEmpty)
        await shop.close()
    }
}

/// A sheet that confirms, and does something while it is shown.
private final class MeddlingSheet: PaymentSheet {
    private struct State {
        var shown: [SheetContents] = []
        var deed: (@Sendable () async -> Void)?
    }

    private let state = Mutex(State())

    var shown: [SheetContents] { state.withLock { $0.shown } }

    /// Sets what happens at the next sheet.
    func whenShown(_ deed: @escaping @Sendable () async -> Void) {
        state.withLock { $0.deed = deed }
    }

    func present(_ contents: SheetContents) async -> SheetAnswer {
        let deed = state.withLock { state in
            state.shown.append(contents)
            return state.deed.take()
        }
        await deed?()
        return .confirm
    }

    func notify(_ sentence: String) async {}
}
