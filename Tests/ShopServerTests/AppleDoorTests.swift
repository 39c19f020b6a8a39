// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import Testing

/// The App Store Server API as Apple's libraries read it.
@Suite(.timeLimit(.minutes(5))) struct AppleDoorTests {
    @Test(arguments: ["", "?", "?revoked=False"])
    func `a transaction is returned, whatever follows the path`(tail: String) async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            let sold = try await server.buy(purchaseID(1), bearer: token)
                .decoded(PurchaseResponse.self)
            let parts = try #require(sold.signedTransaction).split(separator: ".")
            let id = try #require(Base64URL.transactionID(String(parts[1])))

            let reply = try await server.send(
                "GET", "/inApps/v1/transactions/\(id)\(tail)",
                bearer: try await server.bearerToken())

            let info = try reply.decoded(TransactionInfoResponse.self)
            let told = info.signedTransactionInfo.split(separator: ".")
            #expect(reply.status == 200)
            #expect(reply.header("Content-Type") == "application/json")
            #expect(Base64URL.transactionID(String(told[1])) == id)
            #expect(!reply.text.contains("null"))
        }
    }

    @Test(arguments: [
        ("abc", 400, 4_000_006), ("-1", 400, 4_000_006),
        ("4000000000000000", 400, 4_000_048), ("2000000000999000", 404, 4_040_010),
        ("99999999999999999999999", 404, 4_040_010),
    ])
    func `a refusal has Apple's number and words`(
        id: String, status: Int, code: Int
    ) async throws {
        try await TestServer.with { server in
            let reply = try await server.send(
                "GET", "/inApps/v1/transactions/\(id)", bearer: try await server.bearerToken())

            let error = try reply.decoded(AppleErrorResponse.self)
            #expect(reply.status == status)
            #expect(reply.header("Content-Type") == "application/json")
            #expect(error.errorCode == code)
            #expect(!error.errorMessage.isEmpty)
        }
    }

    @Test func `without a right token there is 401 and no body`() async throws {
        try await TestServer.with { server in
            let good = try await server.bearerToken()
            var tampered = Array(good.utf8)
            tampered[tampered.count - 10] ^= 1
            let bad = [nil, "", "x.y.z", String(decoding: tampered, as: UTF8.self)]
            for bearer in bad {
                let reply = try await server.send(
                    "GET", "/inApps/v1/transactions/1", bearer: bearer)
                #expect(reply.status == 401)
                #expect(reply.body.isEmpty)
            }
        }
    }
}
