// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Shop
import ShopServer
import SignedData
import StoreWire
import Testing

/// Which realm a request means: by prefix, host, port or key.
@Suite(.timeLimit(.minutes(5))) struct RealmRouteTests {
    @Test(
        arguments: [
            // prefix, host, listener, realm
            (nil, nil, nil, nil), (nil, "test.store", nil, "test"), (nil, "other", nil, nil),
            (nil, nil, "port", "port"), (nil, "other", "port", "port"),
            (nil, "test.store", "port", "test"), (nil, "TEST.Store.", nil, "test"),
            ("named", nil, nil, "named"), ("named", "test.store", nil, "named"),
            ("named", "test.store", "port", "named"), ("named", nil, "port", "named"),
            (nil, "sub.test.store", nil, nil), (nil, "store", nil, nil), (nil, "", nil, nil),
            (nil, "::1", nil, "six"),
        ] as [(String?, String?, String?, String?)])
    func `prefix wins over host, host over port`(
        prefix: String?, host: String?, listener: String?, realm: String?
    ) throws {
        let route = try RealmRoute(hosts: ["test.store": "test", "::1": "six"])

        #expect(route.realm(prefix: prefix, host: host, listener: listener) == realm)
    }

    @Test(arguments: ["", "a b", "store:80/", "Store", "store.", "a/b", "ü"])
    func `what is no host is refused`(host: String) {
        let error = #expect(throws: WireError.self) { try RealmRoute(hosts: [host: "test"]) }

        #expect(error?.code == "realmHostInvalid")
        #expect(error?.field == "host" && error?.rule != nil && error?.remedy != nil)
    }

    /// The customers of the realm that an operator's request meets.
    private static func names(_ reply: Reply) throws -> [String] {
        try reply.decoded(CustomerList.self).customers.map(\.name)
    }

    @Test func `host and port find a realm at every door`() async throws {
        let route = try RealmRoute(hosts: ["test.store": "test-1", "gone.store": "gone"])
        try await TestServer.with(
            route: route,
            configure: {
                $0.listeners = [try .init(name: "test-1", port: 0)]
                $0.names.add("other.store")
            }
        ) { server in
            let realm = try await server.store.realm(named: "test-1")
            _ = try await realm.customers.createCustomer(CreateCustomerRequest(name: "only here"))
            let key = try await server.store.doorKey(.operator)
            let control = try await server.store.doorKey(.control)
            let port = try #require(server.realmPorts["test-1"])
            let host = ["Host": "test.store:443"]
            func customers(
                _ path: String = "", _ headers: [String: String] = [:], port: Int? = nil
            ) async throws -> Bool {
                let reply = try await server.send(
                    "GET", path + "/operator/v1/customers", bearer: key, headers: headers,
                    port: port)
                return try Self.names(reply).contains("only here")
            }

            #expect(port != server.port)
            #expect(try await !customers())
            #expect(try await customers("", host))
            #expect(try await customers("", [:], port: port))
            #expect(try await !customers("/realms/live", host, port: port))
            #expect(try await !customers("", ["Host": "other.store"]))
            // Forwarded by nobody who is trusted.
            #expect(
                try await !customers(
                    "", ["X-Forwarded-Host": "test.store", "X-Forwarded-For": "192.0.2.1"]))

            let jump = Array(#"{"standAt":2000000000000}"#.utf8)
            let moved = try await server.send(
                "POST", "/control/v1/clock", jump, bearer: control, port: port)
            let clock = try await realm.clock()
            let untouched = try await server.store.realm(named: Store.defaultRealm).clock()
            #expect(moved.status == 200, "\(moved.text)")
            #expect([clock.isStanding, untouched.isStanding] == [true, false])

            let signIn = Array(#"{"deviceUUID":"\#(purchaseID(1))","customer":"only here"}"#.utf8)
            let device = try await server.send(
                "POST", "/device/v1/sessions", signIn, headers: host)
            let elsewhere = try await server.send("POST", "/device/v1/sessions", signIn)
            #expect(device.status == 200)
            #expect(try device.decoded(SignInResponse.self).realm.name == "test-1")
            #expect(elsewhere.status == 401)

            let gone = try await server.send(
                "GET", "/operator/v1/customers", bearer: key, headers: ["Host": "gone.store"])
            #expect(gone.error?.code == "realmNotFound")
        }
    }

    @Test func `behind a proxy only its word for the host counts`() async throws {
        let proxied = try ShopServerConfiguration(
            port: 0, proxies: TrustedProxies(["127.0.0.1"]))
        let route = try RealmRoute(hosts: ["test.store": "test-1"])
        try await TestServer.with(
            route: route,
            configure: {
                $0 = proxied
                $0.stopsOnSignals = false
            }
        ) { server in
            let key = try await server.store.doorKey(.operator)
            _ = try await server.store.realm(named: "test-1").customers.createCustomer(
                CreateCustomerRequest(name: "only here"))
            let reply = try await server.send(
                "GET", "/operator/v1/customers", bearer: key,
                headers: [
                    "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https",
                    "X-Forwarded-Host": "test.store",
                ])

            #expect(try Self.names(reply).contains("only here"))
        }
    }

    @Test func `a server's key is enough to find its realm`() async throws {
        let route = try RealmRoute(hosts: ["live.store": "live"])
        try await TestServer.with(route: route) { server in
            let realm = try await server.store.realm(named: "test-1")
            let key = try await realm.merchant.createServerKey(bundleID: TestServer.bundleID.value)
            let token = try BearerTokenSigner(
                privateKeyPEM: key.privateKey, keyID: key.keyId, issuerID: key.issuerId,
                bundleID: TestServer.bundleID
            ).token(now: Live.wallClock.now)
            let device = try await server.token(realm: "/realms/test-1")
            _ = try await server.buy(purchaseID(1), bearer: device, realm: "/realms/test-1")
            let id = try await realm.purchases.listTransactions().transactions.first?.payload
                .transactionId
            let path = "/inApps/v1/transactions/\(try #require(id))"

            let found = try await server.send("GET", path, bearer: token)
            let named = try await server.send("GET", "/realms/test-1" + path, bearer: token)
            // Another realm is named: the key is none of its own.
            let other = try await server.send("GET", "/realms/live" + path, bearer: token)
            let host = try await server.send(
                "GET", path, bearer: token, headers: ["Host": "live.store"])
            let nobody = try await server.send("GET", path, bearer: "a.b.c")
            try await realm.merchant.revokeServerKey(key.keyId, RequestContext(requestID: "test"))
            let revoked = try await server.send("GET", path, bearer: token)

            let statuses = [found, named, other, host, nobody, revoked].map(\.status)
            #expect(statuses == [200, 200, 401, 401, 401, 401])
        }
    }
}
