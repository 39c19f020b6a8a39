// SPDX-License-Identifier: Apache-2.0

import Foundation
import Shop
import StoreWire
import Testing

/// What a device hears while the store's databases take no writes, and after.
@Suite(.timeLimit(.minutes(5))) struct StorageFaultDoorTests {
    @Test(arguments: [
        ("query_only = 1", "query_only = 0", "storageReadOnly"),
        ("max_page_count = 1", "max_page_count = 1000000", "storageFull"),
    ])
    func `a purchase that cannot be written is 503, and is sold when it can`(
        broken: String, mended: String, code: String
    ) async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            try await server.storages.pragma(broken)

            // A full database has room on pages that it has.
            var number = 0
            var refused: Reply?
            while refused == nil, number < 500 {
                number += 1
                let reply = try await server.buy(purchaseID(number), bearer: token)
                if reply.status != 200 { refused = reply }
            }
            let unready = try await server.send("GET", "/ready")
            let healthy = try await server.send("GET", "/health")
            // What is only read goes on.
            let listed = try await server.transactions(bearer: token)
            try await server.storages.pragma(mended)
            let ready = try await server.send("GET", "/ready")
            let again = try await server.buy(purchaseID(number), bearer: token)
            let twice = try await server.buy(purchaseID(number), bearer: token)

            let reply = try #require(refused)
            #expect(reply.status == 503)
            #expect(reply.header("Retry-After") == "5")
            let error = try #require(reply.error)
            #expect(error.code == code)
            #expect(error.field == "storage")
            #expect(error.rule != nil && error.remedy != nil)
            let statuses = [unready, healthy, ready].map(\.status)
            #expect(statuses == [503, 200, 200])
            #expect(unready.header("Retry-After") == "1")
            #expect(unready.error?.code == "notReady")
            #expect(unready.error?.message == "The storage takes no writes.")
            #expect(listed.transactions.count <= number - 1)
            let states = [again, twice].map { try? $0.decoded(PurchaseResponse.self).state }
            #expect(states == ["sold", "sold"])
            // What is unfinished is not sold again: each is the first one's transaction.
            let purchases = try await server.store.realm(named: Store.defaultRealm).purchases
            #expect(try await purchases.listTransactions().transactions.count == 1)
            #expect(try await purchases.listPurchases().purchases.count == number)
        }
    }
}
