// SPDX-License-Identifier: Apache-2.0

import PurchaseKit
import PurchaseKitTesting
import Testing

/// A sandbox that forgets, under devices that remember.
@Suite(.timeLimit(.minutes(5))) struct ResetScenarioTests {
    @Test func `a waiting device receives what another buys after a reset`() async throws {
        let shop = try await TestShop.monkeys()
        let (buyer, waiting) = (try await shop.device(), try await shop.device())
        for product in ["credits.5", "credits.10"] { try await buyer.buy(product) }
        _ = try await buyer.heard.all(.purchased, count: 2)
        _ = try await waiting.heard.all(.purchased, count: 2)

        try await shop.reset()
        try await buyer.buy("pro")

        let heard = try await waiting.heard.all(.purchased, count: 3)
        #expect(heard.map(\.payment.productIdentifier).contains("pro"))
        #expect(try await shop.records().count == 1)
    }

    @Test func `what was owned is bought again, under another number`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("pro")
        let first = try await device.heard.first(.purchased)
        device.queue.finishTransaction(first)
        try await device.heard.removed()

        try await shop.reset()
        try await device.buy("pro")

        let second = try await device.heard.all(.purchased, count: 2).last
        #expect(second?.transactionIdentifier != first.transactionIdentifier)
        #expect(try await shop.records().count == 1)
    }
}
