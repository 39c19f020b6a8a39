// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Logging
import Shop
import ShopServer
import StoreWire
import Testing

/// A server behind a proxy on this machine, and its limits.
@Suite(.timeLimit(.minutes(5))) struct ProxyDoorTests {
    /// Its wall stands, so that nobody's waiting ends while others try.
    private func withProxiedServer(
        _ body: (TestServer) async throws -> Void
    ) async throws {
        let proxies = TrustedProxies(["127.0.0.1"])
        let configuration = try ShopServerConfiguration(port: 0, proxies: proxies)
        try await TestServer.with(
            wall: .standing(at: Live.wallClock.now),
            configure: {
                $0 = configuration
                $0.stopsOnSignals = false
            }
        ) { try await body($0) }
    }

    private func headers(_ scheme: String, client: String = "192.0.2.7") -> [String: String] {
        ["X-Forwarded-For": client, "X-Forwarded-Proto": scheme]
    }

    @Test func `what comes over HTTPS through the proxy is served, plain HTTP is not`() async throws
    {
        try await withProxiedServer { server in
            let path = "/certificates/root"
            let secure = try await server.send("GET", path, headers: headers("https"))
            let plain = try await server.send("GET", path, headers: headers("http"))
            let health = try await server.send("GET", "/health", headers: headers("http"))
            let here = try await server.send("GET", path)

            let statuses = [secure, plain, health, here].map(\.status)
            #expect(statuses == [200, 403, 200, 200])
            #expect(plain.error?.code == "notThroughProxy")
            #expect(plain.error?.rule != nil && plain.error?.remedy != nil)
        }
    }

    @Test func `wrong passwords of one account are answered 429, by address too`() async throws {
        try await withProxiedServer { server in
            func signIn(_ name: String, _ password: String, _ client: String) async throws -> Reply
            {
                let request = SignInRequest(
                    deviceUUID: purchaseID(1), customer: name, password: password)
                return try await server.send(
                    "POST", DeviceRoute.signIn.path, [UInt8](try JSONEncoder().encode(request)),
                    headers: headers("https", client: client))
            }
            for n in 1...5 {
                let wrong = try await signIn(TestServer.customer, "x", "192.0.2.\(n)")
                #expect(wrong.status == 401)
                // It was watched for the client's going, and can be used again.
                #expect(wrong.header("Connection") == nil)
            }

            let barred = try await signIn(TestServer.customer, TestServer.password, "192.0.2.9")

            #expect(barred.status == 429)
            #expect(barred.header("Retry-After") == "1")
            #expect(barred.error?.code == "tooManyAttempts")
            for n in 1...50 { _ = try await signIn("nobody \(n)", "x", "192.0.2.200") }
            let everywhere = try await signIn("somebody", "x", "192.0.2.200")
            let elsewhere = try await signIn("somebody", "x", "192.0.2.201")
            let told = [everywhere, elsewhere].map(\.status)
            #expect(told == [429, 401])
        }
    }

    @Test func `a request beyond the waiting places is told to retry`() async throws {
        try await TestServer.with(configure: {
            $0.waitingMax = 1
            $0.waitingPerCustomerMax = 2
        }) { server in
            let token = try await server.token()
            let start = try await server.transactions(bearer: token).revision
            let path = DeviceRoute.transactions(since: start, waitSeconds: 50).path
            async let waiting = server.send("GET", path, bearer: token)
            try await server.time.waits.first { $0 == .seconds(50) }

            let refused = try await server.send("GET", path, bearer: token)
            _ = try await server.buy(purchaseID(1), bearer: token)

            #expect(refused.status == 503)
            #expect(refused.error?.code == "tooManyWaiting")
            #expect(refused.header("Retry-After") == "30")
            #expect(try await waiting.status == 200)
            #expect(try await server.send("GET", path, bearer: token).status == 200)
        }
    }

    @Test func `the figures count what was answered`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.metrics)
            for _ in 1...3 { _ = try await server.send("GET", "/health") }
            _ = try await server.send("GET", "/secret-\(TestServer.password.count)")

            let reply = try await server.send("GET", "/metrics", bearer: key)

            #expect(reply.status == 200)
            #expect(
                reply.text.contains(
                    "shopkeeper_requests_total{route=\"/health\",method=\"GET\",status=\"200\"} 3\n"
                ))
            #expect(
                reply.text.contains(
                    "shopkeeper_requests_total{route=\"unknown\",method=\"GET\",status=\"404\"} 1\n"
                ))
            #expect(reply.text.contains("shopkeeper_waiting_requests 0\n"))
            #expect(!reply.text.contains("secret"))
        }
    }
}
