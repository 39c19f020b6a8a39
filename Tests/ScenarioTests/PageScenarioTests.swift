// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKitTesting
import Storage
import StoreKit
import StoreWire
import Testing

@testable import Shop

/// A commit that writes more transactions than one answer of the store holds.
@Suite(.timeLimit(.minutes(5))) struct PageScenarioTests {
    @Test func `a device receives all transactions of a commit larger than a page`() async throws {
        let shop = try await TestShop.monkeys()
        let count = TransactionsResponse.pageMax + 5
        try await sellInOneCommit(count, shop)

        let device = try await shop.device()

        let delivered = try await device.heard.all(.purchased, count: count)
        #expect(Set(delivered.map(\.transactionIdentifier)).count == count)
        try await device.buy("pro")
        let heard = try await device.heard.all(.purchased, count: count + 1)
        #expect(heard.last?.payment.productIdentifier == "pro")
    }

    private func sellInOneCommit(_ count: Int, _ shop: TestShop) async throws {
        let realm = shop.realm
        let context = RequestContext(requestID: "page")
        let token = try await realm.customers.signIn(
            SignInRequest(
                bundleId: Goods.bundleID.value,
                deviceUUID: "11111111-2222-4333-8444-555555555555"), context
        ).token
        let session = try await realm.customers.session(token: token)
        for number in 0..<count {
            let id = "22222222-2222-4333-8444-\(String(number + 100_000_000_000))"
            let request = PurchaseRequest(
                productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD")
            _ = try await realm.purchases.purchase(id, request, session, context)
            try await run(Self.finishAll, session, realm)
        }
        try await run(Self.together, session, realm)
    }

    private func run(
        _ statement: Statement, _ session: DeviceSession, _ realm: Realm
    ) async throws {
        let customer = session.customer
        try await realm.storage(of: customer).write {
            try $0.execute(statement, [.integer(customer.value)])
        }
    }

    /// What is not finished is not sold again.
    private static let finishAll = Statement(
        "test.finishAll", [.integer],
        "UPDATE transactions SET finished_at = purchased_at WHERE customer_id = $1")

    private static let together = Statement(
        "test.oneCommit", [.integer],
        """
        UPDATE transactions
        SET finished_at = NULL,
            revision = (SELECT revision FROM customers WHERE customer_id = $1)
        WHERE customer_id = $1
        """)
}
