// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
import Logging
import Shop
import ShopServer
import StoreWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ServerLifeTests {
    @Test func `health is the process, ready is the storage`() async throws {
        try await TestServer.with { server in
            #expect(try await server.send("GET", "/health").text == "{\"status\":\"ok\"}")
            #expect(try await server.send("GET", "/ready").text == "{\"status\":\"ready\"}")

            await server.store.close()

            let health = try await server.send("GET", "/health")
            let ready = try await server.send("GET", "/ready")
            #expect(health.status == 200)
            #expect(ready.status == 503)
            #expect(ready.error?.code == "notReady")
        }
    }

    @Test func `a fault of the storage reveals nothing internal`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            await server.store.close()

            let reply = try await server.buy(purchaseID(1), bearer: token)

            #expect(reply.status == 500 || reply.status == 503)
            #expect(!reply.text.lowercased().contains("sql"))
            let line = try await server.lines.first { $0.metadata["fault"] != nil }
            #expect(line.level == .error)
        }
    }

    @Test func `a server that was stopped has closed its store`() async throws {
        let server = try await TestServer.start()
        try await server.expectItSells()

        try await server.stop()

        await #expect(throws: (any Error).self) { try await server.store.realms() }
    }

    @Test func `a request under way is answered before the server ends`() async throws {
        let server = try await TestServer.start(configure: { $0.shutdownTimeout = .seconds(200) })
        let body = "{\"deviceUUID\":\"0f0f0f0f-1111-4222-8333-444444444444\"}"
        let connection = try RawConnection(port: server.port)
        try connection.send(
            "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n{")
        let bodyTimeout = try ShopServerConfiguration().bodyTimeout
        try await server.time.waits.first { $0 == bodyTimeout / 8 }

        server.running.cancel()
        await until("a server that takes no connection") {
            (try? RawConnection(port: server.port)) == nil
        }
        try connection.send(body.utf8.dropFirst())

        #expect(await connection.receive().contains("\"token\""))
        try await server.running.value
    }

    @Test func `a request that never ends holds no server up`() async throws {
        let server = try await TestServer.start(configure: { $0.shutdownTimeout = .zero })
        let connection = try RawConnection(port: server.port)
        try connection.send(
            "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
        let bodyTimeout = try ShopServerConfiguration().bodyTimeout
        try await server.time.waits.first { $0 == bodyTimeout / 8 }

        try await server.stop()

        await #expect(throws: (any Error).self) { try await server.store.realms() }
    }

    @Test func `a port in use is reported as such`() async throws {
        try await TestServer.with { first in
            await #expect(throws: WireError.self) {
                let second = try await TestServer.start(configure: {
                    if let same = try? ShopServerConfiguration(port: first.port) { $0 = same }
                    $0.stopsOnSignals = false
                })
                try await second.stop()
            }
            try await first.expectItSells()
        }
    }

    @Test(arguments: ["127.0.0.1", "127.255.0.9", "::1", "localhost"])
    func `loopback is listened on`(host: String) throws {
        #expect(try ShopServerConfiguration(host: host, port: 0).host == host)
    }

    @Test(arguments: [
        "0.0.0.0", "::", "192.168.1.1", "example.com", "", "127.0.0", "127.0.0.256",
        "127.0.0.1.example.com", "localhost.example.com", "127.0.0.1 ", "[::1]",
    ])
    func `any other host is refused with a sentence`(host: String) {
        let refused = #expect(throws: WireError.self) {
            try ShopServerConfiguration(host: host, port: 0)
        }
        #expect(refused?.code == "hostNotLoopback")
        #expect(refused?.field == "host")
        #expect(refused?.message.hasSuffix(".") == true)
    }

    @Test(arguments: [-1, 65_536])
    func `an invalid port is refused`(port: Int) {
        let refused = #expect(throws: WireError.self) { try ShopServerConfiguration(port: port) }
        #expect(refused?.code == "portInvalid")
    }
}

@Suite(.timeLimit(.minutes(5))) struct LogTests {
    @Test func `a request id goes through every line and comes back`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            let request = PurchaseRequest(
                productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD")
            let reply = try await server.send(
                "PUT", "/device/v1/purchases/\(purchaseID(1))",
                [UInt8](try JSONEncoder().encode(request)), bearer: token,
                headers: ["X-Request-Id": "from-the-device.1"])

            let lines = server.lines.elements.filter {
                $0.metadata["requestId"] == "from-the-device.1"
            }
            #expect(reply.header("X-Request-Id") == "from-the-device.1")
            #expect(lines.count >= 2)
            #expect(lines.contains { $0.metadata["route"] == "/device/v1/purchases/{}" })
        }
    }

    @Test(arguments: ["", "two words", "ünïcode", String(repeating: "a", count: 129), "a\tb"])
    func `an invalid request id is replaced`(id: String) async throws {
        try await TestServer.with { server in
            let reply = try await server.send(
                "GET", "/health", headers: ["X-Request-Id": id])

            let made = try #require(reply.header("X-Request-Id"))
            #expect(made != id)
            #expect(UUID(uuidString: made) != nil)
        }
    }

    @Test func `no secret and no name reaches the log`() async throws {
        try await TestServer.with { server in
            let token = try await server.token(
                customer: TestServer.customer, password: TestServer.password)
            _ = try await server.send(
                .purchase(id: purchaseID(1)),
                PurchaseRequest(
                    productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD",
                    applicationUsername: "blob-at-the-app"), bearer: token)
            _ = try await server.send("GET", "/\(token)?token=\(token)", bearer: token)
            _ = try await server.send("GET", "/realms/\(token)/device/v1/receipt", bearer: token)
            let wrong = SignInRequest(
                deviceUUID: "x", customer: TestServer.customer, password: TestServer.password)
            _ = try await server.send(.signIn, wrong, bearer: nil)
            let keys = try await server.keys()
            for key in keys.values {
                _ = try await server.send("GET", "/operator/v1/realms", bearer: key)
            }

            let log = server.lines.elements.map { "\($0)" }.joined(separator: "\n")
            let secrets =
                [token, TestServer.password, TestServer.customer, "blob-at-the-app"]
                + keys.values
            for secret in secrets { #expect(!log.contains(secret)) }
            #expect(log.contains("/device/v1/purchases/{}"))
        }
    }
}
