// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import PurchaseKitTesting
import SignedData
import Testing

/// A sandbox that returns to what was saved, under devices that remember more.
@Suite(.timeLimit(.minutes(5))) struct SnapshotScenarioTests {
    @Test func `a running device drops what a load took back, and goes on`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("pro")
        let kept = try await device.heard.first(.purchased)
        device.queue.finishTransaction(kept)
        try await device.heard.removed()
        let saved = try await shop.snapshot.save("owned")
        try await device.buy("credits.5")
        let lost = try await device.heard.all(.purchased, count: 2)[1]
        device.queue.finishTransaction(lost)
        try await device.heard.removed(count: 2)

        try await shop.snapshot.load("owned")
        try await device.buy("credits.10")
        let next = try await device.heard.all(.purchased, count: 3)[2]
        device.queue.finishTransaction(next)
        try await device.heard.removed(count: 3)

        let numbers = [kept, lost, next].map(\.transactionIdentifier)
        #expect(Set(numbers).count == 3)
        #expect(try await shop.transactions().count == 2)
        #expect(try await shop.snapshot.list() == [saved])
        let receipt = try await shop.receipt(of: device)
        #expect(receipt.purchases.contains { $0.productID == "pro" })
        #expect(!receipt.purchases.contains { $0.productID == "credits.5" })
        await shop.close()
    }
}
