// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Shop
import ShopServer
import SignedData
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

    @Test func `a refused token learns why, in a header that Apple's clients ignore`() async throws
    {
        try await TestServer.with { server in
            let key = try await server.store.realm(named: Store.defaultRealm)
                .merchant.createServerKey(bundleID: TestServer.bundleID.value)
            func challenge(_ keyID: String, lifetime: Int64 = 300) async throws -> String {
                let token = try BearerTokenSigner(
                    privateKeyPEM: key.privateKey, keyID: keyID, issuerID: key.issuerId,
                    bundleID: TestServer.bundleID
                ).token(now: Live.wallClock.now, lifetimeSeconds: lifetime)
                let reply = try await server.send(
                    "GET", "/inApps/v1/transactions/1", bearer: token)
                #expect(reply.status == 401 && reply.body.isEmpty)
                return reply.header("WWW-Authenticate") ?? ""
            }

            let unknown = try await challenge("shopAAAAAA")
            let official = try await challenge("2X9R4HXF34")
            let late = try await challenge(key.keyId, lifetime: -1)
            let none = try await server.send("GET", "/inApps/v1/transactions/1")

            #expect(unknown.contains("kid is not the id of a server key in use"))
            #expect(official.contains("kid looks like the id of a key of the App Store"))
            #expect(late.contains("the token has expired"))
            for one in [unknown, official, late] {
                #expect(one.hasPrefix("Bearer error=\"invalid_token\", error_description=\""))
            }
            #expect(none.header("WWW-Authenticate") == "Bearer")
            let logged = server.lines.elements.filter { $0.message == "token refused" }
                .compactMap { $0.metadata["reason"] }
            #expect(logged.count == 3 && logged.allSatisfy { !$0.contains("eyJ") })
        }
    }

    @Test func `under a host of Apple's the environment is the one there`() async throws {
        try await TestServer.with(configure: { configuration in
            for host in OfficialHosts.all { configuration.names.add(host) }
        }) { server in
            let token = try await server.token()
            let sold = try await server.buy(purchaseID(1), bearer: token)
                .decoded(PurchaseResponse.self)
            let parts = try #require(sold.signedTransaction).split(separator: ".")
            let id = try #require(Base64URL.transactionID(String(parts[1])))
            let bearer = try await server.bearerToken()

            for host in OfficialHosts.all {
                let reply = try await server.send(
                    "GET", "/inApps/v1/transactions/\(id)", bearer: bearer,
                    headers: ["Host": host])
                let isHere = OfficialHosts.environment(of: host) == .sandbox
                #expect(reply.status == (isHere ? 200 : 404), "\(host) \(reply.text)")
                let code = try? reply.decoded(AppleErrorResponse.self).errorCode
                #expect(code == (isHere ? nil : 4_040_010))
            }
            let stranger = try await server.send(
                "GET", "/inApps/v1/transactions/\(id)", bearer: "x",
                headers: ["Host": "api.storekit.apple.com"])
            #expect(stranger.status == 401)
        }
    }

    /// Both have the app, and each its own keys.
    @Test func `a key of production is answered at production's hosts alone`() async throws {
        try await TestServer.with(configure: { configuration in
            for host in OfficialHosts.all { configuration.names.add(host) }
        }) { server in
            let live = try await server.store.realm(named: "live")
            let key = try await live.merchant.createServerKey(
                bundleID: TestServer.bundleID.value)
            let token = try BearerTokenSigner(
                privateKeyPEM: key.privateKey, keyID: key.keyId, issuerID: key.issuerId,
                bundleID: TestServer.bundleID
            ).token(now: Live.wallClock.now)
            // Nothing was sold, so what is about no transaction tells them apart.
            try await live.catalogue.setNotificationURL(
                "https://example.com/", bundleID: TestServer.bundleID.value,
                Shop.RequestContext(requestID: "test"))
            let now = Live.wallClock.now.milliseconds
            let body = Array(
                #"{"startDate":\#(now - 1000),"endDate":\#(now + 1000)}"#.utf8)

            for host in OfficialHosts.all {
                let isHere = OfficialHosts.environment(of: host) == .production
                let test = try await server.send(
                    "POST", "/inApps/v1/notifications/test", nil, bearer: token,
                    headers: ["Host": host])
                let history = try await server.send(
                    "POST", "/inApps/v1/notifications/history", body, bearer: token,
                    headers: ["Host": host])

                #expect(test.status == (isHere ? 200 : 404), "\(host) \(test.text)")
                #expect(history.status == 200, "\(host) \(history.text)")
            }
        }
    }

    @Test func `under Apple's hosts a sandbox's receipt belongs to the sandbox's`() async throws {
        try await TestServer.with(configure: { configuration in
            for host in OfficialHosts.all { configuration.names.add(host) }
        }) { server in
            let token = try await server.token()
            let receipt = try await server.send("GET", "/device/v1/receipt", bearer: token)
            let body = Array(
                #"{"receipt-data":"\#(Data(receipt.body).base64EncodedString())"}"#.utf8)

            for (host, status) in [
                ("buy.itunes.apple.com", 21007), ("sandbox.itunes.apple.com", 0),
            ] {
                let reply = try await server.send(
                    "POST", "/verifyReceipt", body, headers: ["Host": host])
                #expect(reply.text.contains("\"status\":\(status)"), "\(host) \(reply.text)")
            }
        }
    }

    private static let uuid = "11111111-0000-4000-8000-000000000000"
    private static let oneDay =
        #""extendByDays":1,"extendReasonCode":1,"requestIdentifier":"\#(uuid)""#

    /// Bodies that would be right in the sandbox, with the number of the refusal.
    private static let elsewhere: [(String, String, String, Int)] = [
        ("GET", "transactions/1", "", 4_040_010),
        ("POST", "transactions/1/finish", "", 4_040_010),
        (
            "PUT", "transactions/1/appAccountToken", #"{"appAccountToken":"\#(uuid)"}"#, 4_040_010
        ),
        ("GET", "history/1", "", 4_040_010),
        ("GET", "refund/lookup/1", "", 4_040_005),
        ("GET", "subscriptions/1", "", 4_040_010),
        ("PUT", "subscriptions/extend/1", "{\(oneDay)}", 4_040_005),
        (
            "POST", "subscriptions/extend/mass", #"{\#(oneDay),"productId":"monthly"}"#, 4_000_023
        ),
        ("GET", "subscriptions/extend/mass/monthly/\(uuid)", "", 4_040_009),
        ("POST", "notifications/test", "", 4_040_007),
        ("GET", "notifications/test/\(uuid)_1", "", 4_040_008),
    ]

    @Test(arguments: elsewhere)
    func `a sandbox's key finds nothing at a production host`(
        method: String, path: String, body: String, code: Int
    ) async throws {
        try await TestServer.with(configure: { $0.names.add("api.storekit.apple.com") }) { server in
            let reply = try await server.send(
                method, "/inApps/v1/\(path)", body.isEmpty ? nil : Array(body.utf8),
                bearer: try await server.bearerToken(),
                headers: ["Host": "api.storekit.apple.com"])

            #expect(try reply.decoded(AppleErrorResponse.self).errorCode == code, "\(reply.text)")
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

    @Test func `what is not written is Apple's error that may be repeated`() async throws {
        try await TestServer.with { server in
            try await server.store.realm(named: Store.defaultRealm).catalogue.setNotificationURL(
                "http://127.0.0.1:9/", bundleID: TestServer.bundleID.value,
                Shop.RequestContext(requestID: "test"))
            let bearer = try await server.bearerToken()
            func test() async throws -> Reply {
                try await server.send("POST", "/inApps/v1/notifications/test", bearer: bearer)
            }
            try await server.storages.pragma("query_only = 1")
            let refused = try await test()
            try await server.storages.pragma("query_only = 0")

            #expect(refused.status == 503 && refused.header("Retry-After") == "5")
            #expect(try refused.decoded(AppleErrorResponse.self) == .generalInternalRetryable)
            #expect(try await test().status == 200)
        }
    }

    @Test(
        arguments: [
            ("GET", "/inApps/v1/nothing", nil, 404), ("GET", "/inApps/", nil, 404),
            ("GET", "/inApps", nil, 404), ("POST", "/realms/test-1/advancedCommerce", nil, 404),
            ("GET", "/realms/nowhere/inApps/v1/transactions/1", nil, 404),
            ("PUT", "/realms/nowhere/inApps/v1/messaging/image/1", nil, 404),
            ("DELETE", "/inApps/v1/transactions/1", nil, 405),
            (
                "POST", "/inApps/v1/notifications/history", [UInt8](repeating: 32, count: 600_000),
                413
            ),
        ] as [(String, String, [UInt8]?, Int)])
    func `what HTTP refuses has Apple's form`(
        method: String, path: String, body: [UInt8]?, status: Int
    ) async throws {
        try await TestServer.with { server in
            let reply = try await server.send(
                method, path, body, bearer: try await server.bearerToken())

            #expect(reply.status == status, "\(reply.text)")
            #expect(reply.header("Content-Type") == "application/json")
            #expect(try reply.decoded(AppleErrorResponse.self) == .generalBadRequest)
            #expect((reply.header("Allow") != nil) == (status == 405))
        }
    }

    @Test(arguments: [
        ("DELETE", "/verifyReceipt", 405, 21_000), ("POST", "/verifyReceipt?x=1&x=2", 400, 21_002),
        ("POST", "/verifyReceipt/", 404, 21_002),
    ])
    func `what HTTP refuses at verifyReceipt has a status`(
        method: String, path: String, status: Int, number: Int
    ) async throws {
        try await TestServer.with { server in
            let reply = try await server.send(method, path)
            #expect(reply.status == status)
            #expect(reply.header("Content-Type") == "application/json")
            #expect(try reply.decoded([String: Int].self) == ["status": number])
        }
    }

    /// The last path is no address of Apple's, and the last host none of the store's.
    @Test(arguments: [
        ("FOO /inApps/v1/transactions/1", "localhost", #""errorCode":4000000"#),
        ("FOO /inApps", "localhost", #""errorCode":4000000"#),
        ("FOO /realms/test-1/advancedCommerce/v1/a?x=1", "localhost", #""errorCode":4000000"#),
        ("FOO http://localhost/inApps/v1/a", "localhost", #""errorCode":4000000"#),
        ("FOO /verifyReceipt", "localhost", #"{"status":21002}"#),
        ("FOO /inAppsToo", "localhost", #""code":"methodUnknown""#),
        ("FOO /inApps/v1/transactions/1", "evil.example", #""code":"hostUnknown""#),
    ])
    func `an unknown method at Apple's addresses has Apple's form`(
        start: String, host: String, part: String
    ) async throws {
        try await TestServer.with { server in
            let reply = try await RawReply.get(start, host: host, server)
            let status = host == "localhost" ? 501 : 421
            #expect(reply.hasPrefix("HTTP/1.1 \(status)"), "\(reply)")
            #expect(reply.contains(part), "\(reply)")
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
        try await get("GET \(path)", host: "localhost", server)
    }

    static func get(_ start: String, host: String, _ server: TestServer) async throws -> String {
        let connection = try RawConnection(port: server.port)
        try connection.send(
            "\(start) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        return await connection.receive()
    }
}
