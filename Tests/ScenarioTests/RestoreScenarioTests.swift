// SPDX-License-Identifier: Apache-2.0

import PurchaseKit
import PurchaseKitTesting
import Testing

/// A store that went back to a copy, under devices that know more than it.
@Suite(.timeLimit(.minutes(5))) struct RestoreScenarioTests {
    @Test func `a waiting device receives what another buys after a restore`() async throws {
        let shop = try await TestShop.monkeys()
        let (buyer, waiting) = (try await shop.device(), try await shop.device())
        let backup = try await shop.backup()
        // Revisions that the copy does not have, and that both devices have read past.
        for product in ["credits.5", "credits.10"] {
            try await buyer.buy(product)
        }
        _ = try await buyer.heard.all(.purchased, count: 2)
        _ = try await waiting.heard.all(.purchased, count: 2)

        try await shop.restore(backup, into: TestEngine().places)
        try await buyer.buy("pro")

        let heard = try await waiting.heard.all(.purchased, count: 3)
        #expect(heard.map(\.payment.productIdentifier).contains("pro"))
    }

    @Test func `what was paid for and not finished stays on the device`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        let backup = try await shop.backup()
        try await device.buy("credits.5")
        let forgotten = try await device.heard.first(.purchased)

        try await shop.restore(backup, into: TestEngine().places)
        await device.restart()

        let again = try await device.heard.first(.purchased)
        #expect(again.transactionIdentifier == forgotten.transactionIdentifier)
        device.queue.finishTransaction(again)
        try await device.heard.removed()
        // The number is nobody else's, and buying goes on.
        try await device.buy("credits.5")
        let next = try await device.heard.all(.purchased, count: 2).last
        #expect(next?.transactionIdentifier != forgotten.transactionIdentifier)
        #expect(try await shop.records().count == 1)
    }
}
