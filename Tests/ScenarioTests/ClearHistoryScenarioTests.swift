// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreWire
import Testing

/// A history that is cleared under devices that know it.
@Suite(.timeLimit(.minutes(5))) struct ClearHistoryScenarioTests {
    @Test func `unfinished transactions leave the device, and buying goes on`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5")
        _ = try await device.heard.first(.purchased)

        try await shop.clearHistory()

        try await device.heard.removed()
        #expect(device.queue.transactions.isEmpty)
        try await device.buy("pro")
        let next = try await device.heard.all(.purchased, count: 2).last
        #expect(next?.payment.productIdentifier == "pro")
        await device.restart()
        _ = try await device.heard.first(.purchased)
        #expect(device.queue.transactions.map(\.payment.productIdentifier) == ["pro"])
        await shop.close()
    }

    @Test func `a payment that waits fails`() async throws {
        let shop = try await TestShop.monkeys()
        try await shop.addCustomer("kid", asksToBuy: true)
        let device = try await shop.device(customer: "kid")
        try await device.buy("credits.5")
        _ = try await device.heard.first(.deferred)

        try await shop.clearHistory(of: "kid")

        // By the news, or because its carrier asked again before they came.
        _ = try await device.heard.first(.failed)
        let purchases = try await shop.realm.purchases.listPurchases().purchases
        #expect(purchases.map(\.state) == ["refused"])
        #expect(try await shop.records().isEmpty)
        await shop.close()
    }
}
