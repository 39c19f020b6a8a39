// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import PurchaseKitTesting
import SignedData
import StorageSQLite
import StoreKit
import StoreWire
import Testing

/// Device, store and the merchant's ledger, in one process.
@Suite(.timeLimit(.minutes(5))) struct LedgerScenarioTests {
    private static func ledger(of shop: TestShop) async throws -> Ledger {
        let configuration = try LedgerConfiguration(
            roots: [TrustedRoot(certificate: try await shop.root(), environments: [.sandbox])],
            apps: [LedgerApp(bundleID: Goods.bundleID, environments: [.sandbox])])
        return try await Ledger.open(
            storage: try await SQLiteStorage.open(file: nil, migrations: Ledger.migrations),
            configuration: configuration,
            ports: LedgerPorts(wall: shop.wall.clock, randomness: .seeded(1)) { _, _ in })
    }

    @Test func `what a device buys a ledger books, and spends unit by unit`() async throws {
        let shop = try await TestShop.monkeys()
        let ledger = try await Self.ledger(of: shop)
        let device = try await shop.device()
        let user = "0f0f0f0f-1111-4222-8333-444444444444"

        try await device.buy("credits.5", quantity: 3, applicationUsername: user)
        let bought = try await device.heard.first(.purchased)
        let told = try await shop.notifications.first("ONE_TIME_CHARGE")
        let signed = try #require(told.notification.data?.signedTransactionInfo)

        let heard = try await ledger.take(ResponseBodyV2(signedPayload: told.signedPayload))
        let taken = try await ledger.take(TakePurchaseRequest(signedTransaction: signed))
        let again = try await ledger.take(TakePurchaseRequest(signedTransaction: signed))
        #expect(heard.purchase == taken)
        #expect(taken == again)
        #expect(taken.transactionId == bought.transactionIdentifier)
        #expect(taken.account == user)

        for unit in 1...3 {
            let wish = RedeemRequest(
                idempotencyKey: "order-\(unit)", productId: "credits.5", purpose: "feed")
            let spent = try await ledger.redeem(wish, account: user)
            #expect(spent.unit == unit)
            #expect(try await ledger.redeem(wish, account: user) == spent)
        }
        await #expect(throws: LedgerRefusal.self) {
            try await ledger.redeem(
                RedeemRequest(
                    idempotencyKey: "order-4", productId: "credits.5", purpose: "feed"),
                account: user)
        }
        #expect(try await ledger.unspent(account: user).purchases.isEmpty)
    }
}
