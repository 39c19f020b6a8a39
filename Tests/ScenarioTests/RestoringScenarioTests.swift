// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import SignedData
import StoreKit
import StoreWire
import TestSupport
import Testing

/// A customer's second device gets what lasts, from app to store and back.
@Suite(.timeLimit(.minutes(5))) struct RestoringScenarioTests {
    private let account = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"

    private func shop() async throws -> TestShop {
        try await .selling([
            .named("credits", ProductKind(.consumable), price: 990),
            .named("pro", ProductKind(.nonConsumable), price: 990),
            .named("season", ProductKind(.nonRenewing), price: 990),
            .subscription("paper", price: 990),
        ])
    }

    private func buyAndFinish(
        _ product: String, on device: TestDevice, username: String? = nil
    ) async throws -> String? {
        let before = device.heard.transactions(.purchased).count
        try await device.buy(product, applicationUsername: username)
        let bought = try await device.heard.all(.purchased, count: before + 1)[before]
        device.queue.finishTransaction(bought)
        try await device.heard.removed(count: before + 1)
        return bought.transactionIdentifier
    }

    /// Waits until the store has each finish.
    private func finished(_ shop: TestShop) async throws {
        try await until("every sale is finished") {
            try await shop.records().allSatisfy(\.isFinished)
        }
    }

    @Test func `a second device restores what lasts, each period of a subscription too`()
        async throws
    {
        let shop = try await shop()
        let first = try await shop.device()
        for product in ["credits", "pro", "season"] {
            _ = try await buyAndFinish(product, on: first)
        }
        let paper = try await buyAndFinish("paper", on: first, username: account)
        try await shop.clock.advance(months: 1)
        let renewal = try await first.heard.all(.purchased, count: 5)[4]
        first.queue.finishTransaction(renewal)
        try await finished(shop)

        let second = try await shop.device()
        let restored = try await second.restore()

        #expect(restored.map(\.payment.productIdentifier).sorted() == ["paper", "paper", "pro"])
        let periods = restored.filter { $0.payment.productIdentifier == "paper" }
        #expect(periods.map { $0.original?.transactionIdentifier } == [paper, paper])
        #expect(second.heard.transactions(.purchased).isEmpty)
        #expect(second.sheet.questions.count == 1)
        let receipt = try await shop.receipt(of: second)
        #expect(receipt.purchases.map(\.productID.value).contains("pro"))
        let sold = try await shop.records().count
        #expect(sold == 5)

        #expect(try await second.restore(applicationUsername: account).count == 2)
        for transaction in second.heard.transactions(.restored) {
            second.queue.finishTransaction(transaction)
        }
        try await second.heard.removed(count: 5)
        #expect(second.queue.transactions.isEmpty)
        await shop.close()
    }

    @Test func `what was given back is not restored, and a launch restores nothing`()
        async throws
    {
        let shop = try await shop()
        let first = try await shop.device()
        let pro = try #require(try await buyAndFinish("pro", on: first))
        try await finished(shop)
        let second = try await shop.device()
        #expect(try await second.restore().count == 1)

        await second.restart()
        let again = try await second.heard.first(.restored)
        #expect(again.original?.transactionIdentifier == pro)
        _ = try await shop.refund(pro)
        // It leaves the queue without being finished.
        try await second.heard.removed()
        #expect(try await second.restore().isEmpty)
        await second.restart()
        #expect(try await second.restore().isEmpty)
        #expect(second.heard.entries.isEmpty)
        await shop.close()
    }

    @Test func `a store that is away fails it, and every lost answer on the way`() async throws {
        let shop = try await shop()
        let first = try await shop.device()
        _ = try await buyAndFinish("pro", on: first)
        try await finished(shop)
        let second = try await shop.device()
        _ = second.heard
        shop.wire.fail(.receipt, .answerLost)

        await #expect(throws: URLError.self) { try await second.restore() }
        second.sheet.answer(next: .cancel)
        do {
            _ = try await second.restore()
            Issue.record("a cancelled restore did not fail")
        } catch SKError.paymentCancelled {
        }
        #expect(try await second.restore().count == 1)
        await shop.close()
    }
}
