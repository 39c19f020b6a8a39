// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import LedgerServer
import Live
import Logging
import SignedData
import StorageSQLite
import StoreWire
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A ledger's server on a free port, over a book in memory.
private struct Served: Sendable {
    let ledger: Ledger
    let port: Int
    let running: Task<Void, any Error>

    private static let authority = Result { try CertificateAuthority.make(.sandbox) }

    static func with(_ body: (Served) async throws -> Void) async throws {
        let storage = try await SQLiteStorage.open(file: nil, migrations: Ledger.migrations)
        let configuration = try LedgerConfiguration(
            roots: [
                TrustedRoot(certificate: try authority.get().root, environments: [.sandbox])
            ], apps: [LedgerApp(bundleID: "com.example.monkeys", environments: [.sandbox])])
        let ledger = try await Ledger.open(
            storage: storage, configuration: configuration,
            ports: LedgerPorts(wall: Live.wallClock, randomness: Live.randomness) { _, _ in })
        var listening = try LedgerServerConfiguration()
        listening.stopsOnSignals = false
        let server = LedgerServer(
            ledger: ledger, configuration: listening,
            ports: LedgerServerPorts(
                sleep: { try await Live.sleep($0) }, monotonic: { Live.monotonic() },
                randomness: Live.randomness),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (ready, told) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            defer { told.finish() }
            try await server.run { told.yield($0) }
        }
        for await port in ready {
            let served = Served(ledger: ledger, port: port, running: running)
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(served)) } catch { outcome = .failure(error) }
            running.cancel()
            try await running.value
            return try outcome.get()
        }
        try await running.value
    }

    /// Status and body. `key` nil: the ledger's own; empty: none.
    func send(
        _ method: String, _ path: String, _ body: String? = nil, key: String? = nil
    ) async throws -> (status: Int, body: Data) {
        var request = URLRequest(
            url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        let key = key ?? ledger.accessKey
        if !key.isEmpty { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return (try #require(response as? HTTPURLResponse).statusCode, data)
    }

    static func signed(_ id: Int = 1, quantity: Int = 1) throws -> String {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = "\(id)"
        payload.bundleId = "com.example.monkeys"
        payload.productId = "credits.5"
        payload.type = "Consumable"
        payload.quantity = quantity
        payload.purchaseDate = Timestamp(milliseconds: 1_760_000_000_000)
        payload.signedDate = payload.purchaseDate
        payload.environment = "Sandbox"
        return try authority.get().transactions.sign(payload)
    }

    static func notification(_ transaction: String) throws -> String {
        var data = NotificationData()
        data.bundleId = "com.example.monkeys"
        data.environment = "Sandbox"
        data.signedTransactionInfo = transaction
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = "ONE_TIME_CHARGE"
        payload.signedDate = Timestamp(milliseconds: 1_760_000_000_000)
        payload.data = data
        return try authority.get().transactions.sign(payload)
    }
}

@Suite(.timeLimit(.minutes(5))) struct LedgerServerTests {
    private static let accounts = "/ledger/v1/accounts"

    private static func code(_ body: Data) -> String? {
        try? JSONDecoder().decode(WireError.self, from: body).code
    }

    @Test func `a purchase is taken, listed and spent once`() async throws {
        try await Served.with { served in
            let taken = try await served.send(
                "POST", "/ledger/v1/purchases",
                "{\"signedTransaction\":\"\(try Served.signed())\",\"account\":\"blob jr\"}")
            let listed = try await served.send("GET", "\(Self.accounts)/blob%20jr/unspent")
            let wish = "{\"idempotencyKey\":\"k\",\"transactionId\":\"1\",\"purpose\":\"p\"}"
            let spent = try await served.send(
                "POST", "\(Self.accounts)/blob%20jr/redemptions", wish)
            let again = try await served.send(
                "POST", "\(Self.accounts)/blob%20jr/redemptions", wish)
            let more = try await served.send(
                "POST", "\(Self.accounts)/blob%20jr/redemptions",
                wish.replacingOccurrences(of: "\"k\"", with: "\"l\""))
            let left = try await served.send("GET", "\(Self.accounts)/blob%20jr/unspent")

            #expect(taken.status == 200)
            let purchases = try JSONDecoder().decode(UnspentPurchases.self, from: listed.body)
            #expect(purchases.purchases.map(\.transactionId) == ["1"])
            #expect(spent.status == 200)
            #expect(spent.body == again.body)
            #expect(more.status == 409)
            #expect(Self.code(more.body) == "purchaseSpent")
            #expect(
                try JSONDecoder().decode(UnspentPurchases.self, from: left.body).purchases == [])
        }
    }

    @Test func `a notification needs no key, all else does`() async throws {
        try await Served.with { served in
            let body = "{\"signedPayload\":\"\(try Served.notification(try Served.signed()))\"}"
            let heard = try await served.send("POST", "/ledger/v1/notifications", body, key: "")
            #expect(heard.status == 200)
            let told = try JSONDecoder().decode(NotificationTaken.self, from: heard.body)
            #expect(told.purchase?.transactionId == "1")

            for (method, path) in [
                ("POST", "/ledger/v1/purchases"), ("GET", "\(Self.accounts)/blob/unspent"),
                ("POST", "\(Self.accounts)/blob/redemptions"),
            ] {
                let none = try await served.send(
                    method, path, method == "POST" ? "{}" : nil, key: "")
                let wrong = try await served.send(
                    method, path, method == "POST" ? "{}" : nil, key: "wrong")
                #expect(none.status == 401)
                #expect(Self.code(none.body) == "keyMissing")
                #expect(wrong.status == 401)
                #expect(Self.code(wrong.body) == "keyWrong")
            }
        }
    }

    @Test(
        arguments: [
            ("GET", "/", nil, 404, "unknownPath"),
            ("GET", "/ledger/v1/purchases", nil, 405, "wrongMethod"),
            ("POST", "/ledger/v1/accounts/a/unspent", "{}", 405, "wrongMethod"),
            ("GET", "/ledger/v1/accounts//unspent", nil, 404, "unknownPath"),
            ("GET", "/ledger/v1/accounts/%ff/unspent", nil, 404, "unknownPath"),
            ("GET", "/ledger/v1/accounts/a/unspent?after=x", nil, 400, "queryInvalid"),
            ("GET", "/ledger/v1/accounts/a/unspent?limit=0", nil, 400, "limitInvalid"),
            (
                "GET", "/ledger/v1/accounts/a/unspent?environment=Production", nil, 400,
                "environmentRefused"
            ),
            ("POST", "/ledger/v1/purchases", "{", 400, "notJSON"),
            ("POST", "/ledger/v1/purchases", "{}", 400, "fieldMissing"),
            ("POST", "/ledger/v1/purchases", "{\"signedTransaction\":\"a\"}", 400, "proofInvalid"),
            (
                "POST", "/ledger/v1/notifications", "{\"signedPayload\":\"a.b.c\"}", 400,
                "proofInvalid"
            ),
            (
                "POST", "/ledger/v1/accounts/a/redemptions",
                "{\"idempotencyKey\":\"k\",\"purpose\":\"p\"}", 400, "purchaseUnnamed"
            ),
            (
                "POST", "/ledger/v1/accounts/a/redemptions",
                "{\"idempotencyKey\":\"k\",\"purpose\":\"p\",\"productId\":\"x\"}", 404,
                "purchaseUnknown"
            ),
        ] as [(String, String, String?, Int, String)])
    func `bad input gets a status and a code`(
        method: String, path: String, body: String?, status: Int, code: String
    ) async throws {
        try await Served.with { served in
            let reply = try await served.send(method, path, body)
            #expect(reply.status == status)
            #expect(Self.code(reply.body) == code)
        }
    }

    @Test func `health is the process, ready is the storage`() async throws {
        try await Served.with { served in
            #expect(try await served.send("GET", "/health", key: "").status == 200)
            #expect(try await served.send("GET", "/ready", key: "").status == 200)

            await served.ledger.close()

            let ready = try await served.send("GET", "/ready", key: "")
            let list = try await served.send("GET", "\(Self.accounts)/blob/unspent")
            #expect(ready.status == 503)
            #expect(list.status == 503)
            #expect(Self.code(list.body) == "storageUnavailable")
        }
    }
}
