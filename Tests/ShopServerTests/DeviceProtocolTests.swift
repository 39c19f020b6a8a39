// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Shop
import SignedData
import StoreWire
import Testing

@Suite(.timeLimit(.minutes(5))) struct DeviceProtocolTests {
    @Test(arguments: ["", "/realms/test-1", "/realms/default"])
    func `a device signs in, lists, buys, finishes and fetches its receipt`(
        realm: String
    ) async throws {
        try await TestServer.with { server in
            let token = try await server.token(realm: realm)
            let products = try await server.send(
                .products, ProductsRequest(ids: ["pro", "nothing"]), bearer: token, realm: realm
            ).decoded(ProductsResponse.self)
            #expect(products.products.map(\.id) == ["pro"])
            #expect(products.invalid.map(\.id) == ["nothing"])

            let bought = try await server.buy(
                purchaseID(1), "credits.5", quantity: 3, bearer: token, realm: realm)
            let sold = try bought.decoded(PurchaseResponse.self)
            #expect(bought.status == 200)
            #expect(bought.header("Content-Type") == "application/json")
            #expect(sold.state == "sold")

            let path = realm + DeviceRoute.transactions(since: 0, waitSeconds: 0).path
            let page = try await server.send("GET", path, bearer: token)
                .decoded(TransactionsResponse.self)
            #expect(page.transactions.map(\.purchaseId) == [purchaseID(1)])

            let root = try await server.send("GET", "/certificates/root").body
            let payload = try TransactionVerifier(
                verifier: JWSVerifier(roots: [root]), bundleID: TestServer.bundleID,
                environment: .sandbox
            ).verify(try #require(page.transactions.first).signedTransaction, now: nil).payload
            #expect(payload.quantity == 3)

            let id = try #require(payload.transactionId)
            let finished = try await server.send(
                .finish(transactionID: id), nothing, bearer: token, realm: realm)
            #expect(finished.status == 200)
            #expect(try finished.decoded(FinishResponse.self).transactionId == id)
        }
    }

    @Test func `a receipt has an ETag, and is not sent twice`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            _ = try await server.buy(purchaseID(1), "pro", bearer: token)

            let first = try await server.send("GET", "/device/v1/receipt", bearer: token)
            let etag = try #require(first.header("ETag"))
            let second = try await server.send(
                "GET", "/device/v1/receipt", bearer: token, headers: ["If-None-Match": etag])
            _ = try await server.buy(purchaseID(2), "credits.5", bearer: token)
            let third = try await server.send(
                "GET", "/device/v1/receipt", bearer: token, headers: ["If-None-Match": etag])

            let root = try await server.send("GET", "/certificates/root").body
            let receipt = try ReceiptVerifier(roots: [root])
                .verify(first.body, bundleID: TestServer.bundleID)
            #expect(first.header("Content-Type") == "application/octet-stream")
            #expect(receipt.purchases.map(\.productID.value) == ["pro"])
            #expect(second.status == 304)
            #expect(second.body.isEmpty)
            #expect(second.header("ETag") == etag)
            #expect(third.status == 200)
            #expect(third.header("ETag") != etag)
        }
    }

    @Test func `64 payments under one purchase id are one transaction`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()

            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<64 {
                    group.addTask { try await server.buy(purchaseID(1), bearer: token) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }

            #expect(replies.map(\.status) == Array(repeating: 200, count: 64))
            let states = try replies.map { try $0.decoded(PurchaseResponse.self).state }
            #expect(Set(states) == ["sold"])
            #expect(try await server.transactions(bearer: token).transactions.count == 1)
        }
    }

    @Test func `realms do not see each other`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            let reply = try await server.send(
                "GET", "/realms/test-1/device/v1/transactions", bearer: token)

            #expect(reply.status == 401)
            #expect(reply.error?.code == "sessionUnknown")
        }
    }
}
