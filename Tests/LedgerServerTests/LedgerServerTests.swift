// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import LedgerServer
import Live
import Logging
import SignedData
import Storage
import StorageSQLite
import StoreWire
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A ledger's server on a free port, over a book in memory.
struct Served: Sendable {
    let ledger: Ledger
    let storage: any Storage
    let port: Int
    let running: Task<Void, any Error>

    private static let authority = Result { try CertificateAuthority.make(.sandbox) }

    static func with(
        _ given: (any Storage)? = nil, grants: GrantRules = .none,
        limits: CallLimits = CallLimits(), webhooks: [WebhookEndpoint] = [],
        log: any LogHandler = SwiftLogNoOpLogHandler(),
        monotonic: @escaping @Sendable () -> Duration = { Live.monotonic() },
        _ body: (Served) async throws -> Void
    ) async throws {
        var opened = given
        if opened == nil {
            opened = try await SQLiteStorage.open(file: nil, migrations: Ledger.migrations)
        }
        let storage = try #require(opened)
        var configuration = try LedgerConfiguration(
            roots: [
                TrustedRoot(certificate: try authority.get().root, environments: [.sandbox])
            ], apps: [LedgerApp(bundleID: "com.example.monkeys", environments: [.sandbox])],
            grants: grants)
        configuration.limits = limits
        configuration.webhooks = webhooks
        let logger = Logger(label: "test") { _ in log }
        let ledger = try await Ledger.open(
            storage: storage, configuration: configuration,
            ports: LedgerPorts(wall: Live.wallClock, randomness: Live.randomness) {
                message, facts in
                logger.info("\(message)", metadata: facts.mapValues { .string($0) })
            })
        var listening = try LedgerServerConfiguration()
        listening.stopsOnSignals = false
        let server = LedgerServer(
            ledger: ledger, configuration: listening,
            ports: LedgerServerPorts(
                sleep: { try await Live.sleep($0) }, monotonic: monotonic,
                randomness: Live.randomness),
            logger: logger)
        let (ready, told) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            defer { told.finish() }
            try await server.run { told.yield($0) }
        }
        for await port in ready {
            let served = Served(
                ledger: ledger, storage: storage, port: port, running: running)
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(served)) } catch { outcome = .failure(error) }
            running.cancel()
            try await running.value
            return try outcome.get()
        }
        try await running.value
    }

    /// Runs a pragma, which answers rows and writes nothing.
    func pragma(_ text: String) async throws {
        _ = try await storage.read {
            try $0.query(Statement("test.pragma", "PRAGMA \(text)"), [])
        }
    }

    /// Status and body. `key` nil: the ledger's own; empty: none.
    func send(
        _ method: String, _ path: String, _ body: String? = nil, key: String? = nil
    ) async throws -> (status: Int, body: Data) {
        let (response, told) = try await ask(method, path, body, key: key)
        return (response.statusCode, told)
    }

    func ask(
        _ method: String, _ path: String, _ body: String? = nil, key: String? = nil,
        type: String = "application/json", host: String? = nil, knownTag: String? = nil,
        token: String? = nil
    ) async throws -> (HTTPURLResponse, Data) {
        var request = URLRequest(
            url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        if body != nil { request.setValue(type, forHTTPHeaderField: "Content-Type") }
        if let knownTag { request.setValue(knownTag, forHTTPHeaderField: "If-None-Match") }
        if let host { request.setValue(host, forHTTPHeaderField: "Host") }
        if let token { request.setValue(token, forHTTPHeaderField: "Account-Token") }
        let key = key ?? ledger.accessKey
        if !key.isEmpty { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return (try #require(response as? HTTPURLResponse), data)
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

    /// A receipt of one purchase, in Base64.
    static func receipt(_ id: Int = 1) throws -> String {
        let purchasedAt = Timestamp(milliseconds: 1_760_000_000_000)
        let header = ReceiptHeader(
            environment: "ProductionSandbox", bundleID: "com.example.monkeys", appVersion: "1",
            device: Array(repeating: 7, count: 16), opaque: Array(repeating: 9, count: 16),
            creationDate: purchasedAt)
        let record = ReceiptPurchase(
            quantity: 1, productID: "credits.5", transactionID: "\(id)",
            purchaseDate: purchasedAt, type: .consumable)
        return Data(
            try authority.get().receipts.sign(header, records: [record.encoded()])
        ).base64EncodedString()
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

    @Test func `a foreign name and a body not declared as JSON are refused`() async throws {
        try await Served.with { served in
            let named = try await served.ask(
                "GET", "\(Self.accounts)/blob/unspent", host: "evil.example")
            let typed = try await served.ask(
                "POST", "/ledger/v1/notifications", "{}", type: "text/plain")

            #expect(named.0.statusCode == 421)
            #expect(typed.0.statusCode == 415)
            #expect(Self.code(named.1) == "hostUnknown")
            #expect(Self.code(typed.1) == "contentTypeWrong")
        }
    }

    @Test func `a parameter comes once`() async throws {
        try await Served.with { served in
            for path in [
                "/health?a=1&a=2", "/ready?a&b&a",
                "/ledger/v1/accounts/ann/unspent?limit=1&limit=2",
            ] {
                let (status, body) = try await served.send("GET", path)
                #expect(status == 400 && Self.code(body) == "queryInvalid", "\(path)")
            }
        }
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

    @Test func `a unit of a receipt is reserved, confirmed once, and another released`()
        async throws
    {
        try await Served.with { served in
            for id in 1...2 {
                let taken = try await served.send(
                    "POST", "/ledger/v1/receipts",
                    "{\"receipt\":\"\(try Served.receipt(id))\",\"account\":\"blob\"}")
                #expect(taken.status == 200)
                let told = try JSONDecoder().decode(ReceiptTaken.self, from: taken.body)
                #expect(told.purchases.map(\.transactionId) == ["\(id)"])
                let held = try await served.send(
                    "POST", "\(Self.accounts)/blob/reservations",
                    "{\"idempotencyKey\":\"order \(id)\",\"transactionId\":\"\(id)\","
                        + "\"purpose\":\"ship\"}")
                let reservation = try JSONDecoder().decode(LedgerReservation.self, from: held.body)
                #expect(reservation.state == "held")
            }
            let path = "\(Self.accounts)/blob/reservations/order%20"
            let confirmed = try await served.send("POST", path + "1/confirm")
            let again = try await served.send("POST", path + "1/confirm")
            let released = try await served.send("POST", path + "2/release")
            let late = try await served.send("POST", path + "2/confirm")
            let none = try await served.send("POST", path + "3/confirm")
            let keyless = try await served.send("POST", path + "1/confirm", key: "")
            let left = try await served.send("GET", "\(Self.accounts)/blob/unspent")

            let redemption = try JSONDecoder().decode(
                LedgerRedemption.self, from: confirmed.body)
            #expect(redemption.unit == 1)
            #expect(confirmed.body == again.body)
            #expect(released.status == 200)
            #expect(late.status == 409 && Self.code(late.body) == "reservationReleased")
            #expect(none.status == 404 && Self.code(none.body) == "reservationUnknown")
            #expect(keyless.status == 401)
            let unspent = try JSONDecoder().decode(UnspentPurchases.self, from: left.body)
            #expect(unspent.purchases.map(\.transactionId) == ["2"])
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

    @Test func `a notification of version 1 is booked by its receipt`() async throws {
        try await Served.with { served in
            let body =
                "{\"notification_type\":\"DID_RENEW\",\"password\":\"p\","
                + "\"latest_receipt\":\"\(try Served.receipt())\"}"
            let heard = try await served.send("POST", "/ledger/v1/notifications", body, key: "")
            let forged = try await served.send(
                "POST", "/ledger/v1/notifications",
                "{\"notification_type\":\"REFUND\",\"latest_receipt\":\"AAAA\"}", key: "")
            let claimed = try await served.send(
                "POST", "/ledger/v1/purchases",
                "{\"signedTransaction\":\"\(try Served.signed())\",\"account\":\"blob\"}")

            #expect(heard.status == 200)
            let told = try JSONDecoder().decode(NotificationTaken.self, from: heard.body)
            #expect(told.notificationType == "DID_RENEW")
            #expect(forged.status == 400 && Self.code(forged.body) == "proofInvalid")
            #expect(claimed.status == 200)
            let kept = Statement("test.kept", "SELECT payload FROM notifications_in")
            let payloads = try await served.storage.read { try $0.query(kept, []) }
            #expect(try payloads.map { try $0.text("payload").contains("\"p\"") } == [false])
        }
    }

    @Test func `wrong keys have to wait in the end, and the right one never does`() async throws {
        try await Served.with { served in
            let path = "\(Self.accounts)/blob/unspent"
            var statuses: [Int] = []
            for _ in 0..<AttemptRule.key.freeMistakes {
                statuses.append(try await served.send("GET", path, key: "wrong").status)
            }
            let (waiting, body) = try await served.ask("GET", path, key: "wrong")
            let metrics = try await served.send("GET", "/metrics", key: "wrong")
            let right = try await served.send("GET", path)
            let figures = try await served.send("GET", "/metrics", key: served.ledger.metricsKey)

            #expect(Set(statuses) == [401])
            #expect(waiting.statusCode == 429)
            #expect(waiting.value(forHTTPHeaderField: "Retry-After") == "1")
            #expect(Self.code(body) == "tooManyAttempts")
            #expect(metrics.status == 429)
            #expect(right.status == 200)
            #expect(figures.status == 200)
        }
    }

    @Test(
        arguments: [
            ("GET", "/", nil, 404, "unknownPath"),
            ("GET", "/ledger/v1/purchases", nil, 405, "wrongMethod"),
            ("POST", "/ledger/v1/accounts/a/unspent", "{}", 405, "wrongMethod"),
            ("GET", "/ledger/v1/accounts//unspent", nil, 404, "unknownPath"),
            ("GET", "/ledger/v1/accounts/%ff/unspent", nil, 400, "addressInvalid"),
            ("GET", "/ledger/v1/accounts/%00/unspent", nil, 400, "addressInvalid"),
            ("GET", "/ledger/v1/accounts/a/unspent?after=%ff", nil, 400, "addressInvalid"),
            ("GET", "/ledger/v1/accounts/a/unspent?after=x", nil, 400, "cursorInvalid"),
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

    @Test(arguments: [
        ("query_only = 1", "query_only = 0", "storageReadOnly"),
        ("max_page_count = 1", "max_page_count = 1000000", "storageFull"),
    ])
    func `what cannot be written is 503, and is done once when it can`(
        broken: String, mended: String, code: String
    ) async throws {
        try await Served.with { served in
            let most = 500
            _ = try await served.send(
                "POST", "/ledger/v1/purchases",
                "{\"signedTransaction\":\"\(try Served.signed(quantity: most))\",\"account\":\"a\"}"
            )
            func redeem(_ number: Int) async throws -> (HTTPURLResponse, Data) {
                try await served.ask(
                    "POST", "\(Self.accounts)/a/redemptions",
                    "{\"idempotencyKey\":\"\(number)\",\"transactionId\":\"1\",\"purpose\":\"p\"}")
            }
            try await served.pragma(broken)

            // A full database has room on pages that it has.
            var number = 0
            var refused: (HTTPURLResponse, Data)?
            while refused == nil, number < most {
                number += 1
                let reply = try await redeem(number)
                if reply.0.statusCode != 200 { refused = reply }
            }
            let unready = try await served.send("GET", "/ready", key: "")
            let healthy = try await served.send("GET", "/health", key: "")
            let listed = try await served.send("GET", "\(Self.accounts)/a/unspent")
            try await served.pragma(mended)
            let ready = try await served.send("GET", "/ready", key: "")
            let again = try await redeem(number)
            let twice = try await redeem(number)

            let (response, body) = try #require(refused)
            #expect(response.statusCode == 503)
            #expect(response.value(forHTTPHeaderField: "Retry-After") == "5")
            let error = try JSONDecoder().decode(WireError.self, from: body)
            #expect([error.code, error.field] == [code, "storage"])
            #expect(error.rule != nil && error.remedy != nil)
            let statuses = [unready.status, healthy.status, listed.status, ready.status]
            #expect(statuses == [503, 200, 200, 200])
            #expect(again.0.statusCode == 200)
            #expect(again.1 == twice.1)
            let told = try JSONDecoder().decode(LedgerRedemption.self, from: again.1)
            #expect(told.unit == number)
        }
    }

    @Test func `the figures have a key of their own`() async throws {
        try await Served.with { served in
            let own = served.ledger.metricsKey
            let signed = try Served.signed(quantity: 2)
            let taking = "{\"signedTransaction\":\"\(signed)\",\"account\":\"secret\"}"
            for _ in 1...2 { _ = try await served.send("POST", "/ledger/v1/purchases", taking) }
            let wish = "{\"idempotencyKey\":\"k\",\"transactionId\":\"1\",\"purpose\":\"p\"}"
            for _ in 1...3 {
                _ = try await served.send("POST", "\(Self.accounts)/secret/redemptions", wish)
            }

            let figures = try await served.send("GET", "/metrics", key: own)
            let refused = [
                try await served.send("GET", "/metrics", key: ""),
                try await served.send("GET", "/metrics", key: "x"),
                try await served.send("GET", "/metrics"),
                try await served.send("GET", "\(Self.accounts)/secret/unspent", key: own),
            ]

            let text = String(decoding: figures.body, as: UTF8.self)
            #expect(figures.status == 200)
            #expect(text.contains("shopkeeper_ledger_taken_total 1\n"))
            #expect(text.contains("shopkeeper_ledger_redeemed_total 1\n"))
            let route = "route=\"/ledger/v1/accounts/{}/redemptions\""
            let line = "shopkeeper_requests_total{\(route),method=\"POST\",status=\"200\"} 3\n"
            #expect(text.contains(line))
            #expect(!text.contains("secret"))
            #expect(refused.map(\.status) == [401, 401, 403, 403])
            #expect(
                refused.map { Self.code($0.body) }
                    == ["keyMissing", "keyWrong", "keyOfAnotherDoor", "keyOfAnotherDoor"])
            // The remedy makes a key for the door that was knocked at.
            let remedies = refused.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(
                remedies.map { $0.contains("--metrics-key") } == [true, true, true, false])
            #expect(remedies.map { $0.contains("key create") } == [false, false, false, true])
        }
    }
}
