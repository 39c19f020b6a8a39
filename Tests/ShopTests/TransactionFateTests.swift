// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import Testing

@testable import Shop

/// What changes for a transaction after its sale is in everything that the store
/// signs from then on.
@Suite(.timeLimit(.minutes(5))) struct TransactionFateTests {
    private func revoke(
        _ id: String, of session: DeviceSession, in world: TestWorld
    ) async throws -> TransactionFacts? {
        let key: [SQLValue] = [
            .integer(session.customer.value), .integer(try #require(Int64(id))),
        ]
        return try await world.realm.line(of: session.customer) { line in
            guard let row = try line.writing.first(Statement.Transactions.one, key) else {
                return nil
            }
            return try TransactionFacts(row: row).revoke(for: .issueWithApp, line)
        }
    }

    @Test(arguments: ["credits.5", "pro"])
    func `a revoked transaction says so in pages, signed forms and receipts`(
        product: String
    ) async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let sold = try await world.buy(product, purchaseID(1), session: session)
        let id = try #require(try world.verified(sold.signedTransaction).transactionId)
        try await world.buy("credits.10", purchaseID(2), session: session)

        let revoked = try #require(try await revoke(id, of: session, in: world))

        let now = try await world.session()
        let page = try await world.realm.purchases.transactions(
            since: session.revision + 2, now, TestWorld.context)
        let news = try #require(page.transactions.first)
        #expect(page.transactions.count == 1 && news.revision == revoked.revision)
        let payload = try world.verified(news.signedTransaction)
        #expect(payload.transactionId == id)
        #expect(payload.revocationDate == TestWall.start && payload.revocationReason == 1)
        let receipt = try await world.receipt(now)
        let cancelled = try #require(receipt.purchases.first { $0.transactionID == id })
        #expect(cancelled.cancellationDate == TestWall.start)
        #expect(cancelled.cancellationReason == 1)
        let other = try #require(receipt.purchases.first { $0.transactionID != id })
        #expect(other.cancellationDate == nil && other.cancellationReason == nil)
    }

    @Test func `a transaction is revoked once, and its product can be bought again`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let sold = try await world.buy("pro", purchaseID(1), session: session)
        let id = try #require(try world.verified(sold.signedTransaction).transactionId)

        #expect(try await revoke(id, of: session, in: world) != nil)
        #expect(try await revoke(id, of: session, in: world) == nil)
        let again = try await world.buy("pro", purchaseID(2), session: session)

        #expect(try world.verified(again.signedTransaction).transactionId != id)
    }

    @Test func `a restored transaction stands beside its original, a second sale does not`()
        async throws
    {
        let world = try await TestWorld.open()
        let session = try await world.session()
        try await world.buy("pro", purchaseID(1), session: session)
        let all = Statement(
            "test.all", "SELECT \(RealmSchema.transactions.list()) FROM transactions")
        let sold = try TransactionFacts(row: try #require(try await world.realm.rows(all).first))

        func copy(
            _ number: Int64, original: TransactionID, _ ownership: Ownership = .familyShared
        ) -> [SQLValue] {
            TransactionFacts(
                customer: sold.customer, id: TransactionID(number), originalID: original,
                bundleID: sold.bundleID, productID: sold.productID, type: sold.type,
                quantity: 1, unitPrice: sold.unitPrice, total: sold.total,
                storefront: sold.storefront, reason: .purchase, ownership: ownership,
                appAccountToken: nil, appTransactionID: sold.appTransactionID, purchaseID: nil,
                purchasedAt: sold.purchasedAt, originalPurchasedAt: sold.purchasedAt,
                revision: sold.revision + 1, changedAt: sold.purchasedAt
            ).row
        }
        let storage = world.realm.storage
        let restored = copy(sold.id.value + 1000, original: sold.id)
        try await storage.write { try $0.execute(Statement.Transactions.insert, restored) }
        let second = copy(
            sold.id.value + 2000, original: TransactionID(sold.id.value + 2000), .purchased)

        await #expect(throws: StorageFault.self) {
            try await storage.write { try $0.execute(Statement.Transactions.insert, second) }
        }
        let page = try await world.realm.purchases.transactions(
            since: 0, session, TestWorld.context)
        let payloads = try page.transactions.map { try world.verified($0.signedTransaction) }
        #expect(payloads.map(\.inAppOwnershipType) == ["PURCHASED", "FAMILY_SHARED"])
        #expect(Set(payloads.map(\.originalTransactionId)) == [sold.id.description])
        let owned = try await world.buy("pro", purchaseID(2), session: session)
        #expect(try world.verified(owned.signedTransaction).transactionId == sold.id.description)
    }
}
