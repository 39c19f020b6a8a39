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

/// Family Sharing from one member's app to the store and into another member's app.
@Suite(.timeLimit(.minutes(5))) struct FamilyScenarioTests {
    private func shop() async throws -> TestShop {
        func product(_ id: String, _ kind: ProductKind) -> Product {
            Product(
                id: ProductID(id), kind: kind, referenceName: id,
                price: Amount(milliunits: 4990), isFamilyShareable: true,
                localizations: [Localization(locale: "en_US", displayName: id, details: "")])
        }
        var options = TestShop.Options()
        let engine = TestEngine()
        options.places = engine.places
        options.dialect = engine.dialect
        let shop = try await TestShop(
            Catalogue(
                products: [
                    product("pro", .nonConsumable),
                    product("paper", .autoRenewable(groupID: "press", period: "P1M")),
                ], storefront: "USA", locale: "en_US", appID: 1234),
            bundleID: Goods.bundleID, options: options)
        for name in ["ann", "ben"] { _ = try await shop.addCustomer(name) }
        return shop
    }

    @Test(arguments: ["pro", "paper"])
    func `a member's running app has what another buys, and hears when it is lost`(
        product: String
    ) async throws {
        let shop = try await shop()
        let (ann, ben) = (
            try await shop.device(customer: "ann"), try await shop.device(customer: "ben")
        )
        _ = ben.heard
        try await shop.family(of: "ann", adds: "ben")

        try await ann.buy(product)
        let bought = try await ann.heard.first(.purchased)
        let given = try await ben.heard.first(.purchased)

        #expect(given.payment.productIdentifier == product)
        #expect(given.transactionIdentifier != bought.transactionIdentifier)
        ben.queue.finishTransaction(given)
        try await ben.heard.removed()
        let receipt = try await shop.receipt(of: ben)
        #expect(receipt.purchases.map(\.transactionID) == [given.transactionIdentifier])

        try await shop.familyRemoves("ben", from: "ann")

        #expect(try await ben.heard.revoked() == [product])
        let left = try await shop.receipt(of: ben).purchases
        #expect(left.map(\.transactionID) == [given.transactionIdentifier])
        #expect(left.allSatisfy { $0.cancellationDate != nil })
        let told = try await shop.notifications.first("REVOKE")
        #expect(told.transaction?.inAppOwnershipType == "FAMILY_SHARED")
        #expect(told.transaction?.revocationType == "FAMILY_REVOKE")
        #expect(try await shop.receipt(of: ann).purchases.first?.cancellationDate == .some(nil))
        await shop.close()
    }

    @Test func `an app that never ran has it at its first launch`() async throws {
        let shop = try await shop()
        let ann = try await shop.device(customer: "ann")
        try await ann.buy("pro")
        _ = try await ann.heard.first(.purchased)
        try await shop.family(of: "ann", adds: "ben")

        let ben = try await shop.device(customer: "ben")
        #expect(try await ben.heard.first(.purchased).payment.productIdentifier == "pro")
        await shop.close()
    }

    @Test func `a stopped app has it at its launch, and hears of a loss then`() async throws {
        let shop = try await shop()
        let (ann, ben) = (
            try await shop.device(customer: "ann"), try await shop.device(customer: "ben")
        )
        _ = ben.heard
        await ben.close()
        try await ann.buy("pro")
        let bought = try await ann.heard.first(.purchased)
        try await shop.family(of: "ann", adds: "ben")

        await ben.restart()
        let given = try await ben.heard.first(.purchased)
        ben.queue.finishTransaction(given)
        try await ben.heard.removed()
        await ben.close()
        try await shop.refund(try #require(bought.transactionIdentifier))
        _ = try await shop.notifications.first("REVOKE")
        await ben.restart()

        #expect(try await ben.heard.revoked() == ["pro"])
        await shop.close()
    }
}
