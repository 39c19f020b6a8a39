// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import LedgerClient
import Logging
import StorageSQLite
import StoreWire
import Synchronization
import Testing

@testable import LedgerServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Who may do what at the ledger's door.
@Suite(.timeLimit(.minutes(5))) struct AccessRouteTests {
    private static let accounts = "/ledger/v1/accounts"

    private static func code(_ body: Data) -> String? {
        try? JSONDecoder().decode(WireError.self, from: body).code
    }

    private func key(_ served: Served, _ scope: String) async throws -> CreatedLedgerKey {
        try await served.ledger.createKey(CreateLedgerKeyRequest(name: "test", scope: scope))
    }

    private func take(_ served: Served, _ id: Int, _ account: String) async throws {
        _ = try await served.ledger.take(
            TakePurchaseRequest(signedTransaction: try Served.signed(id), account: account))
    }

    /// The addresses that an app may use, with an account in the path.
    private static let reads = [
        "entitlements", "entitlements?wait=0", "entitlements/pro", "signed-entitlements",
        "balances", "history", "unspent", "proofs",
    ]

    @Test func `an app reads its own account, and every other is unknown to it`() async throws {
        try await Served.with { served in
            let app = try await key(served, "app").key
            let token = try served.ledger.issueToken(
                AccountTokenRequest(), account: "blob"
            ).token
            try await take(served, 1, "ann")
            for path in Self.reads {
                func ask(_ account: String, _ token: String?) async throws -> (Int, String?) {
                    let (response, body) = try await served.ask(
                        "GET", "\(Self.accounts)/\(account)/\(path)", key: app, token: token)
                    return (response.statusCode, Self.code(body))
                }
                let alone = try await ask("blob", nil)
                let own = try await ask("blob", token)
                let existing = try await ask("ann", token)
                let unknown = try await ask("nobody", token)
                let forged = try await ask("blob", token + "x")

                #expect(alone == (401, "accountTokenMissing"), "\(path)")
                #expect(own.0 == 200, "\(path)")
                #expect(existing == (404, "accountUnknown"), "\(path)")
                #expect(unknown == existing, "\(path)")
                #expect(forged == (401, "tokenInvalid"), "\(path)")
            }
        }
    }

    /// Entitlements are looked up with the key.
    @Test func `the key counts before what is asked, at each address alike`() async throws {
        try await Served.with { served in
            let server = try await key(served, "server")
            let revoked = try await key(served, "server")
            _ = try await served.ledger.revokeKey(revoked.keyId)
            let keys = [
                "own": served.ledger.accessKey, "server": server.key, "revoked": revoked.key,
                "wrong": "ledger-server-wrong", "metrics": served.ledger.metricsKey,
                "app": try await key(served, "app").key,
            ]
            try await take(served, 1, "blob")
            let questions = [
                "good": ("blob", ""), "environment": ("blob", "environment=nowhere"),
                "account": (String(repeating: "a", count: 256), ""),
            ]
            var answers: [String: Set<String>] = [:]
            for (name, key) in keys {
                for (question, (account, query)) in questions {
                    for path in ["entitlements?", "entitlements?wait=0&", "entitlements/pro?"] {
                        let (response, body) = try await served.ask(
                            "GET", "\(Self.accounts)/\(account)/\(path)\(query)", key: key)
                        answers["\(name) \(question)", default: []].insert(
                            "\(response.statusCode) \(Self.code(body) ?? "-")")
                    }
                }
            }
            for key in ["own", "server"] {
                #expect(answers["\(key) good"] == ["200 -"])
                #expect(answers["\(key) account"] == ["400 textInvalid"])
                #expect(answers["\(key) environment"]?.count == 1)
                #expect(answers["\(key) environment"]?.first?.hasPrefix("4") == true)
            }
            for question in questions.keys {
                #expect(answers["revoked \(question)"] == ["401 keyWrong"])
                #expect(answers["wrong \(question)"] == ["401 keyWrong"])
                #expect(answers["app \(question)"] == ["401 accountTokenMissing"])
                #expect(answers["metrics \(question)"]?.count == 1)
                #expect(answers["metrics \(question)"]?.first?.hasPrefix("40") == true)
            }
        }
    }

    @Test func `an app presents proofs for its own account only`() async throws {
        try await Served.with { served in
            let app = try await key(served, "app").key
            let token = try served.ledger.issueToken(
                AccountTokenRequest(), account: "blob"
            ).token
            let signed = try Served.signed()
            func take(_ account: String?) async throws -> (Int, Data) {
                let name = account.map { ",\"account\":\"\($0)\"" } ?? ""
                let (response, body) = try await served.ask(
                    "POST", "/ledger/v1/purchases",
                    "{\"signedTransaction\":\"\(signed)\"\(name)}", key: app, token: token)
                return (response.statusCode, body)
            }
            let foreign = try await take("ann")
            let own = try await take(nil)
            let receipt = try await served.ask(
                "POST", "/ledger/v1/receipts",
                "{\"receipt\":\"\(try Served.receipt(2))\"}", key: app, token: token)
            let ann = try served.ledger.issueToken(AccountTokenRequest(), account: "ann").token
            let replayed = try await served.ask(
                "POST", "/ledger/v1/purchases", "{\"signedTransaction\":\"\(signed)\"}",
                key: app, token: ann)

            #expect(foreign.0 == 404 && Self.code(foreign.1) == "accountUnknown")
            #expect(own.0 == 200)
            let purchase = try JSONDecoder().decode(LedgerPurchase.self, from: own.1)
            #expect(purchase.account == "blob")
            let taken = try JSONDecoder().decode(ReceiptTaken.self, from: receipt.1)
            #expect(taken.purchases.map(\.account) == ["blob"])
            #expect(replayed.0.statusCode == 409)
            #expect(Self.code(replayed.1) == "purchaseClaimed")
        }
    }

    @Test func `no address for servers opens to an app`() async throws {
        try await Served.with { served in
            let app = try await key(served, "app").key
            let token = try served.ledger.issueToken(
                AccountTokenRequest(), account: "blob"
            ).token
            for route in LedgerRoutes.table.all where route.access == .merchant {
                let path = route.pattern.replacingOccurrences(of: "{}", with: "blob")
                let (response, body) = try await served.ask(
                    route.method, path, route.method == "POST" ? "{}" : nil, key: app,
                    token: token)

                #expect(response.statusCode == 403, "\(route.method) \(path)")
                #expect(Self.code(body) == "keyOfAnotherDoor", "\(route.method) \(path)")
            }
        }
    }

    @Test func `a key works until it is revoked, and its changes are in the audit`()
        async throws
    {
        try await Served.with { served in
            let door = { (method: String, path: String, body: String?, key: String?) in
                try await served.send(method, "/ledger/v1" + path, body, key: key)
            }
            let answer = try await door(
                "POST", "/api-keys", "{\"name\":\"shop\",\"scope\":\"server\"}", nil)
            let created = try JSONDecoder().decode(CreatedLedgerKey.self, from: answer.body)
            try await take(served, 1, "blob")
            let wish = "{\"idempotencyKey\":\"k\",\"transactionId\":\"1\",\"purpose\":\"p\"}"
            for _ in 0..<2 {
                let spent = try await door(
                    "POST", "/accounts/blob/redemptions", wish, created.key)
                #expect(spent.status == 200)
            }
            let revoked = try await door("POST", "/api-keys/\(created.keyId)/revoke", "{}", nil)
            let late = try await door("GET", "/accounts/blob/unspent", nil, created.key)
            let listed = try await door("GET", "/api-keys", nil, nil)
            let audit = try await door("GET", "/audit", nil, nil)

            #expect(revoked.status == 200)
            #expect(late.status == 401 && Self.code(late.body) == "keyWrong")
            let record = try JSONDecoder().decode(LedgerKeys.self, from: listed.body).keys
            #expect(record.map(\.revokedDate).allSatisfy { $0 != nil })
            #expect(!String(decoding: listed.body, as: UTF8.self).contains(created.key))
            let entries = try JSONDecoder().decode(LedgerAudit.self, from: audit.body).entries
            let actor = "key \(created.keyId) shop"
            #expect(
                entries.map { [$0.actor, $0.action, $0.account, $0.subject] } == [
                    ["command", "keyRevoked", nil, created.keyId],
                    [actor, "redeemed", "blob", "k"],
                    ["command", "keyCreated", nil, "\(created.keyId) shop, server"],
                ])
        }
    }

    @Test func `a key and an account have a pace`() async throws {
        let limits = CallLimits(perKey: 4, perAccount: 2)
        try await Served.with(limits: limits, monotonic: { .zero }) { served in
            let (app, server) = (try await key(served, "app").key, try await key(served, "server"))
            let token = try served.ledger.issueToken(
                AccountTokenRequest(), account: "blob"
            ).token
            let path = "\(Self.accounts)/blob/unspent"
            var statuses: [Int] = []
            for _ in 0..<5 {
                statuses.append(
                    try await served.ask("GET", path, key: app, token: token).0.statusCode)
            }
            let (last, body) = try await served.ask("GET", path, key: app, token: token)
            var others: [Int] = []
            for _ in 0..<9 {
                others.append(try await served.send("GET", path, key: server.key).status)
            }

            #expect(statuses == [200, 200, 200, 200, 429])
            #expect(last.value(forHTTPHeaderField: "Retry-After") == "1")
            #expect(Self.code(body) == "callsTooMany")
            #expect(others == Array(repeating: 200, count: 8) + [429])
            // The key of the commands has no limit.
            #expect(try await served.send("GET", path).status == 200)
        }
    }

    @Test func `two spellings of a name have a pace each`() throws {
        let pace = CallPace(perSecond: 1)
        for _ in 0..<2 { try pace.take("jos\u{E9}", at: Timestamp(milliseconds: 0)) }
        #expect(throws: TooManyCalls.self) {
            try pace.take("jos\u{E9}", at: Timestamp(milliseconds: 0))
        }
        try pace.take("jose\u{301}", at: Timestamp(milliseconds: 0))
    }

    @Test func `a bucket fills at its pace, and not above its size`() {
        let start = Timestamp(milliseconds: 1_000_000)
        var bucket = TokenBucket(perSecond: 2, at: start)
        let first = (0..<5).map { _ in bucket.take(at: start) }
        let half = bucket.take(at: start.adding(milliseconds: 500))
        let next = bucket.take(at: start.adding(milliseconds: 999))
        let later = (0..<5).map { _ in bucket.take(at: start.adding(seconds: 3600)) }

        #expect(first == [nil, nil, nil, nil, 1])
        #expect([half, next] == [nil, 1])
        #expect(later == [nil, nil, nil, nil, 1])
    }

    /// Everything that a server logs. A class, because handlers are copied.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])

        func add(_ line: String) { all.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.add("\(event.message) \(metadata) \(event.metadata ?? [:])")
        }
    }

    @Test func `no secret and no account is in a log, and no key in the database`() async throws {
        let lines = Lines()
        let file = NSTemporaryDirectory() + "access-\(UUID().uuidString).sqlite"
        defer { for end in ["", "-wal", "-shm"] { unlink(file + end) } }
        let storage = try await SQLiteStorage.open(file: file, migrations: Ledger.migrations)
        try await Served.with(storage, log: Handler(lines: lines)) { served in
            let (app, server) = (try await key(served, "app"), try await key(served, "server"))
            let token = try served.ledger.issueToken(
                AccountTokenRequest(), account: "blob-the-customer"
            ).token
            let path = "\(Self.accounts)/blob-the-customer/unspent"
            for (key, token) in [
                (app.key, token), (app.key, token + "x"), (server.key, nil),
                (served.ledger.accessKey, nil), ("a-wrong-secret-key", nil),
            ] { _ = try await served.ask("GET", path, key: key, token: token) }
            _ = try await served.send("POST", "/ledger/v1/api-keys/\(app.keyId)/revoke", "{}")

            let log = lines.all.withLock { $0 }.joined(separator: "\n")
            #expect(log.contains("revoked a key"))
            let stored = try [file, file + "-wal"].map {
                try Data(contentsOf: URL(fileURLWithPath: $0))
            }
            for secret in [app.key, server.key, served.ledger.accessKey, token] {
                #expect(!log.contains(secret))
                #expect(stored.allSatisfy { $0.range(of: Data(secret.utf8)) == nil })
            }
            #expect(!log.contains("a-wrong-secret-key"))
            #expect(!log.contains("blob-the-customer"))
        }
    }

    @Test func `the client proves an account by a token`() async throws {
        try await Served.with { served in
            let url = try #require(URL(string: "http://127.0.0.1:\(served.port)"))
            let server = LedgerClient(url: url, key: try await key(served, "server").key)
            let issued = try await server.issueToken(account: "blob", seconds: 60)
            let app = LedgerClient(
                url: url, key: try await key(served, "app").key, accountToken: issued.token)
            let purchase = try await app.take(
                TakePurchaseRequest(signedTransaction: try Served.signed()))
            let refused = await #expect(throws: LedgerClientError.self) {
                try await app.balances(account: "ann")
            }

            #expect(purchase.account == "blob")
            #expect(refused?.error.code == "accountUnknown")
        }
    }
}
