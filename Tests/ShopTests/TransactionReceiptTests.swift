// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import Testing

@testable import Shop

/// verifyReceipt about a single transaction, as servers asked before iOS 7.
@Suite(.timeLimit(.minutes(5))) struct TransactionReceiptTests {
    typealias Object = [String: Any]

    /// The `transactionReceipt` of a device, in Base64.
    private func sell(_ product: String, _ world: TestWorld) async throws -> String {
        let sold = try await world.buy(product, purchaseID(1))
        return Base64.encode(Array(try #require(sold.signedTransaction).utf8))
    }

    @Test func `a device's transaction is answered in the form of its time`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let receipt = try await sell("pro", world)

        let answer = try await world.verify(receipt)

        #expect(answer["status"] as? Int == 0 && Set(answer.keys) == ["status", "receipt"])
        let part = try #require(answer["receipt"] as? Object)
        #expect(part.values.allSatisfy { $0 is String })
        #expect(part["bid"] as? String == TestWorld.bundleID.value)
        #expect(part["product_id"] as? String == "pro" && part["quantity"] as? String == "1")
        #expect(part["bvrs"] as? String == "2.1")
        #expect(part["transaction_id"] as? String == part["original_transaction_id"] as? String)
        for end in ["", "_ms", "_pst"] { #expect(part["purchase_date" + end] is String) }
        #expect(part["expires_date"] == nil)
    }

    @Test func `a subscription has its last transaction beside it`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let receipt = try await sell("news", world)
        let secret = try await world.secret()
        try await world.jump(Period(1, .month))

        let none = try await world.verify(receipt)
        let answer = try await world.verify(receipt, password: secret)

        #expect(none["status"] as? Int == 21_004 && answer["status"] as? Int == 0)
        let first = try #require(answer["receipt"] as? Object)
        let latest = try #require(answer["latest_receipt_info"] as? Object)
        #expect(first["transaction_id"] as? String == latest["original_transaction_id"] as? String)
        #expect(first["transaction_id"] as? String != latest["transaction_id"] as? String)
        #expect((latest["expires_date"] as? String).flatMap { Int64($0) } != nil)
        #expect((latest["expires_date_formatted"] as? String)?.hasSuffix("Etc/GMT") == true)
        #expect(answer["auto_renew_status"] as? Int == 1)
        #expect(answer["auto_renew_product_id"] as? String == "news")
        // What it returns can be sent again.
        let next = try #require(answer["latest_receipt"] as? String)
        let again = try await world.verify(next, password: secret)
        #expect(again["receipt"] as? [String: String] == latest as? [String: String])
    }

    @Test func `an ended subscription is 21006, with the transaction beside it`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let receipt = try await sell("news", world)
        let secret = try await world.secret()
        try await world.realm.subscriptions.switchRenewal(
            of: try await world.subscription(), on: false, TestWorld.context)
        try await world.jump(Period(2, .month))

        let answer = try await world.verify(receipt, password: secret)

        #expect(answer["status"] as? Int == 21_006)
        #expect(answer["latest_expired_receipt_info"] is Object && answer["receipt"] is Object)
        #expect(answer["latest_receipt"] == nil && answer["latest_receipt_info"] == nil)
        #expect(answer["auto_renew_status"] as? Int == 0)
        #expect(answer["expiration_intent"] as? String == "1")
    }

    @Test func `what is wrong has the status of receipts`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        _ = try await world.store.createRealm(
            CreateRealmRequest(name: "live", environment: .production))
        let receipt = try await sell("pro", world)
        var bytes = try #require(Base64.decode(Array(receipt.utf8)))
        bytes[bytes.count - 3] = bytes[bytes.count - 3] == 65 ? 66 : 65
        let plist = Base64.encode(Array(#"{ "purchase-info" = "e30="; }"#.utf8))
        func status(_ receipt: String, realm: String? = nil) async throws -> Int? {
            try await world.verify(receipt, realm: realm)["status"] as? Int
        }

        #expect(try await status(Base64.encode(bytes)) == 21_003)
        #expect(try await status(Base64.encode(Array("eyJ.x".utf8))) == 21_002)
        #expect(try await status(plist) == 21_002)
        #expect(try await status(receipt, realm: "live") == 21_007)
        _ = try await world.realm.faults.set(
            "verify-receipt", SetFaultRequest(value: "21009"), TestWorld.context)
        #expect(try await status(receipt) == 21_009)
        try await world.realm.faults.clear("verify-receipt", TestWorld.context)
        #expect(try await status(receipt) == 0)
        _ = try await world.realm.customers.clearHistory(
            ofCustomer: try await world.session().customer.description, TestWorld.context)
        #expect(try await status(receipt) == 21_010)
    }

    @Test func `a revoked certificate counts here too`() async throws {
        let world = try await TestWorld.open(keys: MemoryKeyStore())
        let receipt = try await sell("pro", world)
        _ = try await world.store.rotateCertificates(RotateCertificatesRequest())
        let old = try #require(
            try await world.store.certificates().first {
                !$0.isInUse && $0.kind == "sandbox" && $0.role == "transactions"
            })
        let before = try await world.verify(receipt)["status"] as? Int
        _ = try await world.store.revokeCertificate(old.serialNumber)

        #expect(before == 0)
        #expect(try await world.verify(receipt)["status"] as? Int == 21_003)
    }
}
