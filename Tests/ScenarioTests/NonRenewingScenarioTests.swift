// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import PurchaseKitTesting
import Shop
import SignedData
import StoreKit
import StoreWire
import TestSupport
import Testing

/// A non-renewing subscription from app to store and back: its length is the
/// app's affair, so it is bought again whenever the app offers it.
@Suite(.timeLimit(.minutes(5))) struct NonRenewingScenarioTests {
    private func shop() async throws -> TestShop {
        let season = Product(
            id: "season", kind: ProductKind(.nonRenewing), referenceName: "Season",
            price: Amount(milliunits: 2990),
            localizations: [
                Localization(locale: "en_US", displayName: "Season", details: "One season")
            ])
        var options = TestShop.Options()
        let engine = TestEngine()
        options.places = engine.places
        options.dialect = engine.dialect
        return try await TestShop(
            Catalogue(products: [season], storefront: "USA", locale: "en_US", appID: 1234),
            bundleID: Goods.bundleID, options: options)
    }

    @Test func `it is bought again, and every purchase stays in the receipt`() async throws {
        let shop = try await shop()
        let device = try await shop.device()

        try await device.buy("season")
        let first = try await device.heard.first(.purchased)
        device.queue.finishTransaction(first)
        try await device.heard.removed()
        try await device.buy("season", quantity: 2)
        let both = try await device.heard.all(.purchased, count: 2)
        device.queue.finishTransaction(both[1])
        try await device.heard.removed(count: 2)

        let ids = both.compactMap(\.transactionIdentifier)
        #expect(Set(ids).count == 2)
        let receipt = try await shop.receipt(of: device)
        #expect(receipt.purchases.map(\.transactionID).sorted() == ids.sorted())
        #expect(receipt.purchases.map(\.type) == [.nonRenewing, .nonRenewing])
        let records = try await shop.records()
        #expect(
            records.map(\.payload.type) == Array(repeating: "Non-Renewing Subscription", count: 2))
        #expect(records.map(\.payload.quantity) == [1, 2])
        #expect(records.map(\.payload.originalTransactionId) == ids)
        #expect(records.allSatisfy { $0.payload.expiresDate == nil })
        let told = try await shop.notifications.all("ONE_TIME_CHARGE", count: 2)
        #expect(
            told.map { $0.transaction?.type }
                == Array(repeating: "Non-Renewing Subscription", count: 2))
        await shop.close()
    }
}
