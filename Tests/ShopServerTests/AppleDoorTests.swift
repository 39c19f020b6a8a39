// SPDX-License-Identifier: Apache-2.0

import Foundation
import Shop
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

    /// Under a realm's prefix too, and where there is no route.
    @Test(arguments: [
        "/inApps/v1/transactions/%ff", "/inApps/v2/history/1?revision=%zz",
        "/realms/test-1/inApps/v1/subscriptions/%00", "/inApps/v1/nothing/%C3",
    ])
    func `an address that is no text has Apple's general error`(path: String) async throws {
        try await TestServer.with { server in
            let reply = try await RawReply.get(path, server)

            #expect(reply.hasPrefix("HTTP/1.1 400"), "\(reply)")
            #expect(reply.contains(#"{"errorCode":4000000,"errorMessage":"Bad request."}"#))
        }
    }

    @Test func `a fault of the store is Apple's general one`() async throws {
        try await TestServer.with { server in
            let bearer = try await server.bearerToken()
            await server.storages.change("DROP TABLE app_accounts")
            let reply = try await server.send(
                "GET", "/inApps/v1/subscriptions/4000000000000000", bearer: bearer)

            #expect(reply.status == 500)
            #expect(try reply.decoded(AppleErrorResponse.self) == .generalInternal)
        }
    }

    @Test(arguments: [
        ("PUT", "/inApps/v1/messaging/message/00000000-0000-4000-8000-0000000000cc"),
        ("GET", "/inApps/v1/messaging/image/list"),
        ("POST", "/advancedCommerce/v1/subscription/cancel/1"),
    ])
    func `what the store lacks is refused with a sentence`(
        method: String, path: String
    ) async throws {
        try await TestServer.with { server in
            let stranger = try await server.send(method, path)
            let reply = try await server.send(
                method, path, bearer: try await server.bearerToken())

            let error = try reply.decoded(AppleErrorResponse.self)
            #expect(stranger.status == 401 && reply.status == 501)
            #expect(error.errorMessage.contains("docs/COMPATIBILITY.md"))
        }
    }

    @Test func `over the limit there is a date in milliseconds`() async throws {
        try await TestServer.with { server in
            let bearer = try await server.bearerToken()
            let set = try await server.send(
                "PUT", "/control/v1/faults/rate-limits", Array(#"{"value":"1"}"#.utf8),
                bearer: try await server.store.doorKey(.control))
            let path = "/inApps/v1/transactions/2000000000999000"
            let first = try await server.send("GET", path, bearer: bearer)
            let second = try await server.send("GET", path, bearer: bearer)
            let stranger = try await server.send("GET", path)

            #expect(set.status == 200 && first.status == 404 && second.status == 429)
            #expect(try second.decoded(AppleErrorResponse.self).errorCode == 4_290_000)
            let date = try #require(Double(second.header("Retry-After") ?? ""))
            let pause = date / 1000 - Date().timeIntervalSince1970
            #expect(pause > 0 && pause <= 3600)
            #expect(stranger.status == 401, "who asks comes before how often")
        }
    }
}

/// An answer to an address that no URL can have.
private enum RawReply {
    static func get(_ path: String, _ server: TestServer) async throws -> String {
        let connection = try RawConnection(port: server.port)
        try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return await connection.receive()
    }
}
