// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// Purchases that begin on the store's page, against a whole store.
@Suite(.timeLimit(.minutes(5))) struct StorePaymentTests {
    /// Answers as a test says, and keeps the payments.
    final class Clerk: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
        private let state: Mutex<(isAdded: Bool, asked: [String])>
        /// Only touched on the main queue.
        private(set) var kept: SKPayment?

        init(adds isAdded: Bool) { state = Mutex((isAdded, [])) }

        var asked: [String] { state.withLock { $0.asked } }

        func paymentQueue(
            _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
        ) {}

        func paymentQueue(
            _ queue: SKPaymentQueue, shouldAddStorePayment payment: SKPayment,
            for product: SKProduct
        ) -> Bool {
            kept = payment
            return state.withLock { state in
                state.asked.append("\(payment.productIdentifier) \(product.localizedTitle)")
                return state.isAdded
            }
        }
    }

    private func settled(_ id: String, _ shop: TestShop) async throws -> String {
        var state = ""
        try await until("the choice is decided") {
            state = try await shop.choice(id).state
            return !["waiting", "asked"].contains(state)
        }
        return state
    }

    @Test func `a choice that the app lets go on is bought once, under its own id`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        let clerk = Clerk(adds: true)
        device.queue.add(clerk)
        let chosen = try await shop.choose("credits.5")
        let bought = try await device.heard.first(.purchased)

        #expect(clerk.asked == ["credits.5 credits.5"])
        #expect(try await settled(chosen.intentId, shop) == "continued")
        device.queue.finishTransaction(bought)
        try await device.heard.removed()
        await device.restart()
        device.queue.add(clerk)
        _ = device.heard
        #expect(try await shop.transactions().map(\.purchaseId) == [chosen.intentId])
        await shop.close()
    }

    @Test func `a choice made before the app runs waits for it`() async throws {
        let shop = try await TestShop.monkeys()
        let chosen = try await shop.choose("pro")
        #expect(chosen.state == "waiting")
        let device = try await shop.device()
        let clerk = Clerk(adds: true)
        device.queue.add(clerk)

        #expect(try await device.heard.first(.purchased).payment.productIdentifier == "pro")
        #expect(try await settled(chosen.intentId, shop) == "continued")
        await shop.close()
    }

    @Test func `a deferred payment is added later, and once`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        let clerk = Clerk(adds: false)
        device.queue.add(clerk)
        _ = device.heard
        let chosen = try await shop.choose("pro")
        #expect(try await settled(chosen.intentId, shop) == "deferred")
        #expect(try await shop.transactions().isEmpty)

        await MainActor.run { if let kept = clerk.kept { device.queue.add(kept) } }
        _ = try await device.heard.first(.purchased)

        #expect(try await shop.transactions().map(\.purchaseId) == [chosen.intentId])
        #expect(clerk.asked.count == 1)
        #expect(try await shop.choice(chosen.intentId).state == "continued")
        await shop.close()
    }

    @Test func `an app without the method is not asked, and the customer is told`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        _ = device.heard
        let chosen = try await shop.choose("pro")

        #expect(try await settled(chosen.intentId, shop) == "noHandler")
        #expect(
            try await shop.choice(chosen.intentId).message.contains("Buy the product in the app"))
        #expect(try await shop.transactions().isEmpty)
        await shop.close()
    }

    @Test func `a decision whose report is lost is reported again, and bought once`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        shop.wire.fail(.decideIntent, .requestLost, times: 2)
        shop.wire.fail(.claimIntents, .answerLost)
        let clerk = Clerk(adds: true)
        device.queue.add(clerk)
        let chosen = try await shop.choose("credits.10")
        _ = try await device.heard.first(.purchased)

        #expect(try await settled(chosen.intentId, shop) == "continued")
        #expect(clerk.asked.count == 1)
        #expect(try await shop.transactions().map(\.purchaseId) == [chosen.intentId])
        await shop.close()
    }
}
