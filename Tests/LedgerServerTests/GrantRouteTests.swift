// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import LedgerClient
import StoreWire
import Testing

@testable import LedgerServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What products grant, over HTTP and by the client.
@Suite(.timeLimit(.minutes(5))) struct GrantRouteTests {
    private static func rules() throws -> GrantRules {
        try GrantRules([
            "credits.5": [
                Grant(name: "coins", kind: .credits(perUnit: 5)),
                Grant(name: "pro", kind: .entitlement(.forever)),
            ]
        ])
    }

    private func client(_ served: Served) throws -> LedgerClient {
        LedgerClient(
            url: try #require(URL(string: "http://127.0.0.1:\(served.port)")),
            key: served.ledger.accessKey)
    }

    /// An account with characters that an address must encode.
    private static let blob = "blob/ä ?&%2F-"

    @Test func `the client reads and spends what a purchase has granted`() async throws {
        try await Served.with(grants: Self.rules()) { served in
            let client = try client(served)
            let spending = SpendRequest(
                idempotencyKey: "hat", currency: "coins", amount: 7, purpose: "a hat")

            let before = try await client.isEntitled(Self.blob, to: "pro")
            _ = try await client.take(
                TakePurchaseRequest(
                    signedTransaction: try Served.signed(quantity: 2), account: Self.blob))
            let after = try await client.isEntitled(Self.blob, to: "pro")
            let first = try await client.spend(spending, account: Self.blob)
            let again = try await client.spend(spending, account: Self.blob)
            let balances = try await client.balances(account: Self.blob).balances
            let reason = try await client.reason(account: Self.blob, entitlement: "pro")
            let events = try await client.history(account: Self.blob).events.map(\.kind)
            let signed = try await client.signedEntitlements(account: Self.blob, seconds: 60)
            let keys = try await client.publicKeys()

            #expect([before, after] == [false, true])
            #expect(first == again)
            #expect(balances.map(\.balance) == [3])
            #expect(reason.isActive)
            #expect(reason.grantedBy == ["credits.5"])
            #expect(events == ["spending", "grant", "grant", "purchase"])
            #expect(signed.signedEntitlements.split(separator: ".").count == 3)
            #expect(keys == served.ledger.publicKeys)
        }
    }

    @Test func `the client creates, lists and revokes keys, and reads what was done`()
        async throws
    {
        try await Served.with { served in
            let client = try client(served)
            let created = try await client.createKey(
                CreateLedgerKeyRequest(name: "shop", scope: "server"))
            let shop = LedgerClient(
                url: try #require(URL(string: "http://127.0.0.1:\(served.port)")),
                key: created.key)
            _ = try await shop.take(
                TakePurchaseRequest(signedTransaction: try Served.signed(), account: Self.blob))
            let listed = try await client.keys().keys
            let revoked = try await client.revokeKey(created.keyId)
            let again = try await client.revokeKey(created.keyId)
            let refused = await #expect(throws: LedgerClientError.self) {
                try await shop.keys()
            }
            let newest = try await client.audit(limit: 1)
            let rest = try await client.audit(after: newest.next)
            let ofAccount = try await client.audit(account: Self.blob)

            #expect(listed.map(\.name) == ["shop"])
            #expect(listed.map(\.revokedDate) == [nil])
            #expect(revoked.revokedDate != nil)
            #expect(again == revoked)
            #expect(refused?.status == 401)
            #expect(
                (newest.entries + rest.entries).map(\.action)
                    == ["keyRevoked", "purchaseTaken", "keyCreated"])
            #expect(ofAccount.entries.map(\.actor) == ["key \(created.keyId) shop"])
        }
    }

    @Test func `the client parks messages that wait, and replays them`() async throws {
        let url = "https://merchant.example/hooks"
        let endpoint = try WebhookEndpoint(
            url: url, secret: "whsec_" + Data(repeating: 7, count: 32).base64EncodedString())
        try await Served.with(webhooks: [endpoint]) { served in
            let client = try client(served)
            _ = try await client.take(
                TakePurchaseRequest(signedTransaction: try Served.signed(), account: Self.blob))
            let waiting = try await client.webhooks(state: "waiting").webhooks
            let request = WebhooksRequest(url: url, messageIds: waiting.map(\.messageId))
            let parked = try await client.parkWebhooks(request)
            let again = try await client.parkWebhooks(request)
            let shown = try await client.webhooks(url: url, state: "parked").webhooks
            let replayed = try await client.replayWebhooks(WebhooksRequest(url: url))

            #expect(waiting.map(\.type) == ["purchase.booked"])
            let changed = [parked, again, replayed].map(\.changed)
            #expect(changed == [1, 0, 1])
            #expect(shown.map(\.messageId) == waiting.map(\.messageId))
        }
    }

    @Test func `the client throws what the ledger refuses`() async throws {
        try await Served.with(grants: Self.rules()) { served in
            let client = try client(served)
            let error = await #expect(throws: LedgerClientError.self) {
                try await client.spend(
                    SpendRequest(
                        idempotencyKey: "k", currency: "coins", amount: 1, purpose: "p"),
                    account: "nobody")
            }
            let stranger = LedgerClient(
                url: try #require(URL(string: "http://127.0.0.1:\(served.port)/")), key: "wrong")
            let refused = await #expect(throws: LedgerClientError.self) {
                try await stranger.balances(account: "blob")
            }

            #expect(error?.status == 409)
            #expect(error?.error.code == "creditsMissing")
            #expect(refused?.error.code == "keyWrong")
        }
    }

    @Test func `an answer that the client has is not sent again`() async throws {
        try await Served.with(grants: Self.rules()) { served in
            let path = "/ledger/v1/accounts/blob/entitlements"
            let (first, body) = try await served.ask("GET", path)
            let tag = try #require(first.value(forHTTPHeaderField: "ETag"))
            let (same, nothing) = try await served.ask("GET", path, knownTag: tag)
            _ = try await served.ledger.take(
                TakePurchaseRequest(signedTransaction: try Served.signed(), account: "blob"))
            let (changed, news) = try await served.ask("GET", path, knownTag: tag)

            #expect([first, same, changed].map(\.statusCode) == [200, 304, 200])
            #expect(!body.isEmpty && nothing.isEmpty && news != body)
            #expect(changed.value(forHTTPHeaderField: "ETag") != tag)
        }
    }

    @Test func `a request waits until the purchase is booked`() async throws {
        try await Served.with(grants: Self.rules()) { served in
            let client = try client(served)
            async let isEntitled = client.isEntitled("blob", to: "pro", wait: 60)
            _ = try await served.ledger.take(
                TakePurchaseRequest(signedTransaction: try Served.signed(), account: "blob"))

            #expect(try await isEntitled)
        }
    }

    @Test(
        arguments: [
            ("GET", "/ledger/v1/accounts/a/entitlements?wait=61", nil, 400, "queryInvalid"),
            ("GET", "/ledger/v1/accounts/a/entitlements?wait=x", nil, 400, "queryInvalid"),
            ("GET", "/ledger/v1/accounts/a/history?limit=0", nil, 400, "limitInvalid"),
            ("GET", "/ledger/v1/accounts/a/history?after=x", nil, 400, "cursorInvalid"),
            (
                "GET", "/ledger/v1/accounts/a/signed-entitlements?seconds=0", nil, 400,
                "secondsInvalid"
            ),
            (
                "POST", "/ledger/v1/accounts/a/spendings",
                #"{"idempotencyKey":"k","currency":"coins","amount":0,"purpose":"p"}"#, 400,
                "amountInvalid"
            ),
            (
                "POST", "/ledger/v1/accounts/a/spendings",
                #"{"idempotencyKey":"k","currency":"coins","amount":1,"purpose":"p"}"#, 409,
                "creditsMissing"
            ),
        ] as [(String, String, String?, Int, String)])
    func `bad input gets a status and a code`(
        method: String, path: String, body: String?, status: Int, code: String
    ) async throws {
        try await Served.with(grants: Self.rules()) { served in
            let reply = try await served.send(method, path, body)
            let error = try JSONDecoder().decode(WireError.self, from: reply.body)
            #expect(reply.status == status)
            #expect(error.code == code)
        }
    }

    @Test func `only the public key needs no key`() async throws {
        try await Served.with(grants: Self.rules()) { served in
            let account = "/ledger/v1/accounts/blob"
            var statuses: [Int] = []
            for (method, path) in [
                ("GET", "/ledger/v1/keys"), ("GET", "\(account)/entitlements"),
                ("GET", "\(account)/entitlements?wait=1"), ("GET", "\(account)/entitlements/pro"),
                ("GET", "\(account)/signed-entitlements"), ("GET", "\(account)/balances"),
                ("POST", "\(account)/spendings"), ("GET", "\(account)/history"),
                ("GET", "/ledger/v1/products"), ("POST", "/ledger/v1/apply"),
            ] {
                let body = method == "POST" ? "{}" : nil
                statuses.append(try await served.send(method, path, body, key: "").status)
            }

            #expect(statuses == [200] + Array(repeating: 401, count: 9))
        }
    }

    @Test func `apply grants what was booked before, and products shows it`() async throws {
        try await Served.with { before in
            _ = try await before.ledger.take(
                TakePurchaseRequest(signedTransaction: try Served.signed(), account: "blob"))
            try await Served.with(before.storage, grants: Self.rules()) { served in
                let applied = try await served.send("POST", "/ledger/v1/apply", "{}")
                let products = try await served.send("GET", "/ledger/v1/products")

                #expect(
                    try JSONDecoder().decode(GrantsApplied.self, from: applied.body)
                        == GrantsApplied(granted: 2, left: 0))
                #expect(
                    try JSONDecoder().decode(LedgerProducts.self, from: products.body).products
                        == [
                            LedgerProduct(
                                productId: "credits.5", environment: "Sandbox", purchases: 1,
                                claimed: 1, granted: 1, isConfigured: true)
                        ])
            }
        }
    }
}
