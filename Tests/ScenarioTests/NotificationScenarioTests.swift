// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreWire
import TestSupport
import Testing

/// From the app's tap to the merchant's server, without a socket.
@Suite(.timeLimit(.minutes(5))) struct NotificationScenarioTests {
    @Test func `the merchant is notified of a purchase`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()

        try await device.buy("credits.5")
        let bought = try await device.heard.first(.purchased)
        let told = try await shop.notifications.first("ONE_TIME_CHARGE")

        #expect(told.transaction?.transactionId == bought.transactionIdentifier)
        #expect(told.transaction?.productId == "credits.5")
        #expect(told.notification.data?.environment == "Sandbox")
        #expect(told.status == 200)
    }

    @Test func `a sandbox tries to notify an unreachable merchant once`() async throws {
        let shop = try await TestShop.monkeys()
        shop.notifications.answer { _ in 503 }
        let device = try await shop.device()

        try await device.buy("credits.5")
        let told = try await shop.notifications.first("ONE_TIME_CHARGE")
        // A store that is stopped before it has recorded the attempt makes it again.
        #expect(
            try await until("the attempt is recorded") {
                try await !shop.realm.merchant.notifications(ofApp: shop.bundleID.value)
                    .notifications.isEmpty
            })
        try await shop.restart()
        shop.notifications.answer { _ in 200 }
        try await device.buy("credits.10")
        let later = try await shop.notifications.all("ONE_TIME_CHARGE", count: 2)

        #expect(told.status == 503)
        #expect(later[1].status == 200)
        #expect(later[0].notification.notificationUUID != later[1].notification.notificationUUID)
    }

    @Test func `without a merchant's server nothing is sent`() async throws {
        let shop = try await TestShop.monkeys { $0.notifies = false }
        let device = try await shop.device()

        try await device.buy("credits.5")
        _ = try await device.heard.first(.purchased)
        await shop.close()

        #expect(shop.notifications.entries.isEmpty)
    }
}
