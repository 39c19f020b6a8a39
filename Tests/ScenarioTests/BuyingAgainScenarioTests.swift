// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import PurchaseKitTesting
import StoreKit
import StoreWire
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
        await until("the second sheet") { device.sheet.shown.count == 2 }
        await until("an answer to it", seen: "\(device.heard.entries.count)") {
            device.queue.transactions.allSatisfy { $0.transactionState == .purchased }
        }

        #expect(device.sheet.shown[1].isOwned)
        #expect(
            Set(device.queue.transactions.map(\.transactionIdentifier)) == [
                first.transactionIdentifier
            ])
        await until("the money") { !processor.captured.isEmpty }
        #expect(processor.captured.count == 1)
        for transaction in device.queue.transactions { device.queue.finishTransaction(transaction) }
        await until("an empty queue") { device.queue.transactions.isEmpty }
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

    @Test func `consumables are independent of each other`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5")
        let first = try await device.heard.first(.purchased)
        try await finish(first, on: device, count: 1)

        try await device.buy("credits.5")
        let second = try await device.heard.all(.purchased, count: 2)[1]

        #expect(second.transactionIdentifier != first.transactionIdentifier)
        #expect(device.sheet.shown.map(\.isOwned) == [false, false])
        #expect(try await shop.records().count == 2)
        await shop.close()
    }
}
