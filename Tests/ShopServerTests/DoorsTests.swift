// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Shop
import SignedData
import StoreWire
import Testing

@testable import ShopServer

@Suite(.timeLimit(.minutes(5))) struct DoorsTests {
    enum Key: String, CaseIterable { case none, wrong, device, `operator`, control, metrics, apple }

    /// Each route with the only key that opens it; nil: anybody. A link to a package has
    /// its key in the address (`ContentTests`).
    static let routes =
        Routes.table.all.filter { !$0.pattern.hasPrefix("/content/") }
        .map { ($0.method, address($0), key($0.access)) } + device

    /// Those of the device protocol: signing in is anybody's.
    private static let device: [(String, String, Key?)] = [
        ("POST", "/device/v1/sessions", nil), ("POST", "/device/v1/products", .device),
        ("PUT", "/device/v1/purchases/00000000-0000-4000-8000-00000000000a", .device),
        ("GET", "/device/v1/transactions", .device),
        ("POST", "/device/v1/transactions/1/finish", .device),
        ("POST", "/device/v1/transactions/1/refund-request", .device),
        ("POST", "/device/v1/transactions/1/content", .device),
        ("POST", "/device/v1/offers", .device),
        ("GET", "/device/v1/receipt", .device),
        ("GET", "/device/v1/price-increases", .device),
        ("GET", "/device/v1/promotion-overrides", .device),
        ("PUT", "/device/v1/promotion-order", .device),
        ("PUT", "/device/v1/promotion-visibility", .device),
        ("POST", "/device/v1/purchase-intents", .device),
        ("PUT", "/device/v1/purchase-intents/00000000-0000-4000-8000-00000000000a", .device),
        ("POST", "/device/v1/reviews/requests", .device),
        ("PUT", "/device/v1/review", .device),
        ("PUT", "/device/v1/subscriptions/1/price-consent", .device),
    ]

    /// An address of a route, about things that there are not.
    private static func address(_ route: Route) -> String {
        let part = route.access == .everyone ? "MAA=" : "1"
        return route.pattern.replacing("{}", with: part)
    }

    private static func key(_ access: Access) -> Key? {
        switch access {
        case .probe, .everyone, .receipts: nil
        case .store(let door), .realm(let door): Key(rawValue: door.rawValue)
        case .merchant: .apple
        }
    }

    @Test func `each route of the device protocol is tried`() {
        let patterns = Set(
            Self.device.map { "\($0.0) \($0.1)" }.map { route in
                route.replacing(#/[0-9a-f-]{36}|/1/#) { $0.output.hasPrefix("/") ? "/{}" : "{}" }
            })
        #expect(patterns == Set(DeviceRoute.samples.map { "\($0.method) \($0.pattern)" }))
    }

    @Test func `the key of one door opens no other`() async throws {
        try await TestServer.with { server in
            let keys = try await server.keys()
            for (method, path, own) in Self.routes {
                for key in Key.allCases {
                    let body: [UInt8]? = method == "GET" || method == "DELETE" ? nil : [0x7B, 0x7D]
                    let reply = try await server.send(method, path, body, bearer: keys[key])
                    let isShut = reply.status == 401 || reply.status == 403
                    #expect(
                        isShut == (own != nil && own != key),
                        "\(method) \(path) with \(key): \(reply.status) \(reply.text)")
                }
            }
        }
    }

    @Test(arguments: ["a%20b", "A", "%2e%2e"])
    func `what is no realm's name is not found`(name: String) async throws {
        try await TestServer.with { server in
            let key = try await server.keys()[.operator]
            for (method, path) in [("DELETE", "/\(name)"), ("POST", "/\(name)/resets")] {
                let reply = try await server.send(
                    method, "/operator/v1/realms" + path, bearer: key)
                #expect(reply.status == 404, "\(method) \(path)")
                #expect(reply.error?.code == "realmNotFound", "\(method) \(path)")
            }
        }
    }

    @Test func `a closed door names the key that it requires`() async throws {
        try await TestServer.with { server in
            let keys = try await server.keys()
            func ask(_ path: String, _ key: Key) async throws -> [String] {
                let reply = try await server.send("GET", path, bearer: keys[key])
                return ["\(reply.status)", reply.error?.code ?? "", reply.error?.field ?? ""]
            }

            let realms = "/operator/v1/realms"
            #expect(try await ask(realms, .none) == ["401", "keyMissing", "Authorization"])
            #expect(try await ask(realms, .wrong) == ["401", "keyWrong", "Authorization"])
            #expect(
                try await ask(realms, .control) == ["403", "keyOfAnotherDoor", "Authorization"])
            #expect(
                try await ask("/control/v1/clock", .operator)
                    == ["403", "keyOfAnotherDoor", "Authorization"])
            #expect(
                try await ask("/device/v1/receipt", .none)
                    == ["401", "tokenMissing", "Authorization"])
            #expect(
                try await ask("/device/v1/receipt", .operator)
                    == ["401", "sessionUnknown", "Authorization"])
            let challenged = try await server.send("GET", realms)
            #expect(challenged.header("WWW-Authenticate") == "Bearer")
        }
    }

    @Test func `the control door is shut in a production realm`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.control)
            let reply = try await server.send(
                "GET", "/realms/live/control/v1/clock", bearer: key)

            #expect(reply.status == 403)
            #expect(reply.error?.code == "sandboxOnly")
        }
    }

    @Test func `an operator makes, lists and deletes realms, customers and keys`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> Reply
            {
                try await server.send(method, path, body.map { Array($0.utf8) }, bearer: key)
            }

            let made = try await ask("POST", "/operator/v1/realms", "{\"name\":\"mine\"}")
            let twice = try await ask("POST", "/operator/v1/realms", "{\"name\":\"mine\"}")
            let realms = try await ask("GET", "/operator/v1/realms").decoded(RealmList.self)
            #expect(made.status == 201)
            #expect([twice.status == 409, twice.error?.code == "realmExists"] == [true, true])
            #expect(realms.realms.map(\.name) == ["default", "live", "mine", "test-1"])

            let blob = try await ask(
                "POST", "/realms/mine/operator/v1/customers", "{\"name\":\"Blob Jr.\"}")
            let customers = try await ask("GET", "/realms/mine/operator/v1/customers")
                .decoded(CustomerList.self).customers
            #expect(blob.status == 201)
            #expect(customers.map(\.name) == ["customer", "Blob Jr."])

            let limit = try await ask("GET", "/operator/v1/customers?limit=0")
            #expect([limit.status == 400, limit.error?.field == "limit"] == [true, true])

            #expect(try await ask("DELETE", "/operator/v1/realms/mine").status == 204)
            #expect(try await ask("DELETE", "/operator/v1/realms/mine").status == 404)
            #expect(try await ask("DELETE", "/operator/v1/realms/default").status == 409)
        }
    }

    @Test func `an operator reads transactions page by page`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            let token = try await server.token()
            for n in 1...3 {
                _ = try await server.buy(purchaseID(n), bearer: token)
                try await server.finishAll(bearer: token)
            }

            var seen: [String?] = []
            var after = ""
            while true {
                let page = try await server.send(
                    "GET", "/operator/v1/transactions?bundleId=com.example.monkeys&limit=2\(after)",
                    bearer: key
                ).decoded(TransactionRecords.self)
                seen += page.transactions.map(\.purchaseId)
                guard let next = page.next else { break }
                after = "&after=\(next)"
            }

            #expect(seen == [purchaseID(1), purchaseID(2), purchaseID(3)])
        }
    }

    @Test func `a jump of the clock breaks no token`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.control)
            let token = try await server.token()
            let before = try await server.send("GET", "/control/v1/clock", bearer: key)
                .decoded(ClockDescription.self)

            let jumped = try await server.send(
                "POST", "/control/v1/clock", Array("{\"advanceMilliseconds\":31536000000}".utf8),
                bearer: key)
            let bought = try await server.buy(purchaseID(1), bearer: token)

            let after = try jumped.decoded(ClockDescription.self)
            #expect(after.now.milliseconds - before.now.milliseconds >= 31_536_000_000)
            #expect(try bought.decoded(PurchaseResponse.self).state == "sold")
        }
    }
}

extension TestServer {
    /// One key of each kind.
    func keys() async throws -> [DoorsTests.Key: String] {
        [
            .wrong: String(repeating: "0", count: 64), .device: try await token(),
            .operator: try await store.doorKey(.operator),
            .control: try await store.doorKey(.control),
            .metrics: try await store.doorKey(.metrics), .apple: try await bearerToken(),
        ]
    }

    /// As a merchant's server makes one.
    func bearerToken() async throws -> String {
        let key = try await store.realm(named: Store.defaultRealm)
            .merchant.createServerKey(bundleID: Self.bundleID.value)
        return try BearerTokenSigner(
            privateKeyPEM: key.privateKey, keyID: key.keyId, issuerID: key.issuerId,
            bundleID: Self.bundleID
        ).token(now: Live.wallClock.now)
    }
}
