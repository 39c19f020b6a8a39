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

/// Refunds as a device hears of them: at once while its app runs, and else at its
/// launch.
@Suite(.timeLimit(.minutes(5))) struct RefundScenarioTests {
    private func shop(_ processor: TestProcessor? = nil) async throws -> TestShop {
        func product(_ id: String, _ kind: ProductKind) -> Product {
            Product(
                id: ProductID(id), kind: kind, referenceName: id,
                price: Amount(milliunits: 4990),
                localizations: [Localization(locale: "en_US", displayName: id, details: "")])
        }
        var options = TestShop.Options()
        let engine = TestEngine()
        options.places = engine.places
        options.dialect = engine.dialect
        options.processor = processor
        return try await TestShop(
            Catalogue(
                products: [
                    product("pro", .nonConsumable), product("credits", .consumable),
                    product("paper", .autoRenewable(groupID: "press", period: "P1M")),
                ], storefront: "USA", locale: "en_US", appID: 1234),
            bundleID: Goods.bundleID, options: options)
    }

    private func buy(_ product: String, on device: TestDevice, count: Int = 1) async throws
        -> String
    {
        try await device.buy(product)
        let sold = try await device.heard.all(.purchased, count: count)[count - 1]
        device.queue.finishTransaction(sold)
        try await device.heard.removed(count: count)
        return try #require(sold.transactionIdentifier)
    }

    @Test(arguments: ["pro", "paper"])
    func `a running app hears of a refund at once, with the receipt`(
        product: String
    ) async throws {
        let shop = try await shop()
        let device = try await shop.device()
        let id = try await buy(product, on: device)

        try await shop.requestRefund(id, reason: "UNINTENDED_PURCHASE")
        let granted = try await shop.refund(id)

        #expect(try await device.heard.revoked() == [product])
        let purchase = try #require(await shop.receipt(of: device).purchases.first)
        #expect(purchase.transactionID == id && purchase.cancellationDate == granted.now)
        let told = try await shop.notifications.first("REFUND").notification
        #expect(told.data?.signedTransactionInfo != nil)
        #expect(
            try await shop.notifications.first("CONSUMPTION_REQUEST").notification.data?
                .consumptionRequestReason == "UNINTENDED_PURCHASE")

        try await shop.reverseRefund(id)
        await until("the receipt is valid again") {
            (try? await shop.receipt(of: device).purchases.first?.cancellationDate) == .some(nil)
        }
        await shop.close()
    }

    @Test(arguments: ["pro", "paper"])
    func `a stopped app hears of a refund at its launch`(product: String) async throws {
        let shop = try await shop()
        let device = try await shop.device()
        let id = try await buy(product, on: device)
        await device.close()
        try await shop.refund(id)

        await device.restart()

        #expect(try await device.heard.revoked() == [product])
        #expect(
            try await shop.receipt(of: device).purchases.first?.cancellationDate != nil)
        await shop.close()
    }

    @Test func `every device of the customer hears of it`() async throws {
        let shop = try await shop()
        let (first, second) = (try await shop.device(), try await shop.device())
        let id = try await buy("pro", on: first)
        _ = second.heard

        try await shop.revoke(id)

        #expect(try await first.heard.revoked() == ["pro"])
        #expect(try await second.heard.revoked() == ["pro"])
        await shop.close()
    }

    @Test func `what the app has not finished leaves the queue, and comes back with the reversal`()
        async throws
    {
        let shop = try await shop()
        let device = try await shop.device()
        try await device.buy("credits")
        let sold = try await device.heard.first(.purchased)
        let id = try #require(sold.transactionIdentifier)

        try await shop.refund(id)
        try await device.heard.removed()
        #expect(device.queue.transactions.isEmpty)
        await device.restart()
        _ = try await buy("pro", on: device)
        #expect(device.heard.transactions(.purchased).count == 1)

        try await shop.reverseRefund(id)
        let again = try await device.heard.all(.purchased, count: 2)
        #expect(again[1].transactionIdentifier == id)
        await shop.close()
    }

    @Test func `what is owned by another purchase is not reported as lost`() async throws {
        let shop = try await shop()
        let device = try await shop.device()
        let first = try await buy("paper", on: device)
        try await shop.clock.advance(months: 1)
        let renewed = try await device.heard.all(.purchased, count: 2)[1]
        device.queue.finishTransaction(renewed)
        try await device.heard.removed(count: 2)
        let pro = try await buy("pro", on: device, count: 3)

        try await shop.refund(first)
        try await shop.refund(pro)

        // The earlier refund is read before the later one, and reports nothing.
        #expect(try await device.heard.revoked() == ["pro"])
        #expect(try await shop.subscription().status == "active")
        await shop.close()
    }

    @Test func `a refund goes back through the processor`() async throws {
        let processor = TestProcessor()
        let shop = try await shop(processor)
        let device = try await shop.device()
        let id = try await buy("credits", on: device)

        try await shop.refund(id)

        await until("the money is back") { processor.refunds.count == 1 }
        #expect(processor.refunds.first?.total == processor.captured.first?.total)
        try await shop.reverseRefund(id)
        await until("the money is taken again") { processor.refunds.isEmpty }
        await shop.close()
    }
}
