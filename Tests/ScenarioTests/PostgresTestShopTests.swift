// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreKit
import StoreWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct PostgresTestShopTests {
    @Test func `a test store stands on PostgreSQL as well`() async throws {
        let shop = try await TestShop.monkeys {
            $0.places = TestEngine(isOnPostgres: true).places
        }
        let device = try await shop.device()

        try await device.buy("credits.5", quantity: 2)
        let bought = try await device.heard.first(.purchased)
        try await shop.restart()
        device.queue.finishTransaction(bought)
        try await device.heard.removed()

        let told = try await shop.notifications.first("ONE_TIME_CHARGE")
        #expect(told.notification.data?.bundleId == Goods.bundleID.value)
        // The store hears of the finish a moment after the app.
        try await until("a store that knows of the finish") {
            try await shop.transactions().allSatisfy(\.isFinished)
        }
        #expect(try await shop.transactions().count == 1)
        await shop.close()
    }
}
