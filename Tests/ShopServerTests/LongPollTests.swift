// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Logging
import Shop
import ShopServer
import StoreWire
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct LongPollTests {
    @Test func `a purchase answers a wait on another connection`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            let start = try await server.transactions(bearer: token).revision
            async let waiting = server.transactions(since: start, wait: 50, bearer: token)
            try await server.time.waits.first { $0 == .seconds(50) }

            _ = try await server.buy(purchaseID(1), bearer: token)

            let news = try await waiting
            #expect(news.transactions.map(\.purchaseId) == [purchaseID(1)])
            #expect(news.revision > start)
        }
    }

    /// The wait is measured by a clock that nobody sets.
    @Test(arguments: [-3, 3])
    func `a poll ends in its time, and hears of news, though the clock is set meanwhile`(
        days: Int64
    ) async throws {
        let ahead = Mutex<Int64>(0)
        let wall = WallClock { Live.wallClock.now.adding(seconds: ahead.withLock { $0 }) }
        let time = TestTime(held: .seconds(7))
        try await TestServer.with(time: time, wall: wall) { server in
            let token = try await server.token()
            let start = try await server.transactions(bearer: token).revision
            async let waiting = server.transactions(since: start, wait: 7, bearer: token)
            async let longer = server.transactions(since: start, wait: 50, bearer: token)
            try await server.time.waits.first { $0 == .seconds(7) }
            try await server.time.waits.first { $0 == .seconds(50) }

            ahead.withLock { $0 = days * 86_400 }
            time.end()

            #expect(try await waiting.transactions.isEmpty)
            _ = try await server.buy(purchaseID(1), bearer: token)
            #expect(try await longer.transactions.map(\.purchaseId) == [purchaseID(1)])
        }
    }

    @Test func `what has changed already is answered at once`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            _ = try await server.buy(purchaseID(1), bearer: token)

            let news = try await server.transactions(since: 0, wait: 50, bearer: token)

            #expect(news.transactions.count == 1)
            #expect(!server.time.waits.elements.contains(.seconds(50)))
        }
    }

    @Test func `nothing new is an empty answer when the time is over`() async throws {
        try await TestServer.with(time: TestTime(over: [.seconds(7)])) { server in
            let token = try await server.token()
            let start = try await server.transactions(bearer: token).revision

            let news = try await server.transactions(since: start, wait: 7, bearer: token)

            #expect(news.transactions.isEmpty)
            #expect(news.revision == start)
        }
    }

    @Test func `no wait is longer than 50 seconds`() async throws {
        try await TestServer.with(time: TestTime(over: [.seconds(50)])) { server in
            let token = try await server.token()
            let start = try await server.transactions(bearer: token).revision

            let reply = try await server.send(
                "GET", "/device/v1/transactions?since=\(start)&wait=86400", bearer: token)

            #expect(reply.status == 200)
        }
    }

    @Test func `a client that goes away is waited for no more`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            let start = try await server.transactions(bearer: token).revision
            do {
                let connection = try RawConnection(port: server.port)
                try connection.send(Self.poll(since: start, wait: 41, token))
                try await server.time.waits.first { $0 == .seconds(41) }
            }

            let line = try await server.lines.first { $0.metadata["code"] == "clientGone" }

            #expect(line.level == .info)
            try await server.expectItSells()
        }
    }

    @Test func `a client that closes its side only is waited for no more`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            let start = try await server.transactions(bearer: token).revision
            let connection = try RawConnection(port: server.port)
            try connection.send(Self.poll(since: start, wait: 41, token))
            try await server.time.waits.first { $0 == .seconds(41) }

            connection.finish()

            let line = try await server.lines.first { $0.metadata["code"] == "clientGone" }
            #expect(line.level == .info)
        }
    }

    @Test func `a connection that has waited carries the next request`() async throws {
        let time = TestTime(over: [.seconds(7), .seconds(8)])
        try await TestServer.with(time: time) { server in
            let token = try await server.token()
            let start = try await server.transactions(bearer: token).revision
            let connection = try RawConnection(port: server.port)
            for wait in [7, 8, 0] {
                try connection.send(Self.poll(since: start, wait: wait, token))

                let answer = await connection.receive { $0.contains("\"transactions\":[]") }

                #expect(answer.hasPrefix("HTTP/1.1 200 "))
                #expect(!answer.lowercased().contains("connection: close"))
            }
        }
    }

    private static func poll(since revision: Int64, wait: Int, _ token: String) -> String {
        "GET /device/v1/transactions?since=\(revision)&wait=\(wait) HTTP/1.1\r\n"
            + "Host: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n"
    }

    @Test func `ending a session answers its waiting request at once`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            let start = try await server.transactions(bearer: token).revision
            let path = DeviceRoute.transactions(since: start, waitSeconds: 50).path
            async let waiting = server.send("GET", path, bearer: token)
            try await server.time.waits.first { $0 == .seconds(50) }
            let key = try await server.store.doorKey(.operator)
            let list = try await server.send("GET", "/operator/v1/sessions", bearer: key)
            let id = try #require(try list.decoded(SessionList.self).sessions.first?.sessionId)

            let ended = try await server.send(
                "DELETE", "/operator/v1/sessions/\(id)", bearer: key)

            let reply = try await waiting
            #expect(try ended.decoded(SessionsEnded.self).ended == 1)
            #expect(reply.status == 401)
            #expect(reply.error?.code == "sessionEnded")
            #expect(reply.header("WWW-Authenticate") == "Bearer")
        }
    }

    @Test func `a page may begin amid a revision`() async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            _ = try await server.buy(purchaseID(1), bearer: token)
            let first = try await server.transactions(bearer: token).revision
            _ = try await server.buy(purchaseID(2), "pro", bearer: token)
            let path = DeviceRoute.transactions(since: first, after: 0, waitSeconds: 0).path

            let behind = try await server.transactions(since: first, bearer: token)
            let amid = try await server.send("GET", path, bearer: token)
                .decoded(TransactionsResponse.self)

            #expect(behind.transactions.map(\.purchaseId) == [purchaseID(2)])
            #expect(amid.transactions.map(\.purchaseId) == [purchaseID(1), purchaseID(2)])
        }
    }

    @Test func `one customer's devices leave places to others, and need none to ask`()
        async throws
    {
        try await TestServer.with(configure: {
            $0.waitingMax = 2
            $0.waitingPerCustomerMax = 1
        }) { server in
            let token = try await server.token()
            let other = try await server.token(
                customer: TestServer.customer, password: TestServer.password)
            let start = try await server.transactions(bearer: token).revision
            let path = DeviceRoute.transactions(since: start, waitSeconds: 50).path
            async let waiting = server.send("GET", path, bearer: token)
            try await server.time.waits.first { $0 == .seconds(50) }

            let refused = try await server.send("GET", path, bearer: token)
            let asked = try await server.transactions(since: start, wait: 0, bearer: token)
            let far = DeviceRoute.transactions(since: 99, waitSeconds: 40).path
            async let others = server.send("GET", far, bearer: other)
            try await server.time.waits.first { $0 == .seconds(40) }
            _ = try await server.buy(purchaseID(1), bearer: token)
            _ = try await waiting
            // Its place is free again, and can be taken.
            let later = DeviceRoute.transactions(since: 99, waitSeconds: 30).path
            async let again = server.send("GET", later, bearer: token)
            try await server.time.waits.first { $0 == .seconds(30) }
            server.running.cancel()

            #expect(try await again.status == 200)
            #expect(refused.status == 429)
            #expect(refused.error?.code == "tooManyWaitingHere")
            #expect(refused.header("Retry-After") == "30")
            #expect(asked.transactions.isEmpty)
            #expect(try await others.status == 200)
        }
    }

    @Test func `behind a proxy an address has a share, whatever its customers`() async throws {
        let proxied = try ShopServerConfiguration(port: 0, proxies: TrustedProxies(["127.0.0.1"]))
        try await TestServer.with(configure: {
            $0 = proxied
            $0.stopsOnSignals = false
            $0.waitingMax = 8
        }) { server in
            func wait(_ token: String, _ address: String, _ seconds: Int) async throws -> Reply {
                try await server.send(
                    "GET", DeviceRoute.transactions(since: 99, waitSeconds: seconds).path,
                    bearer: token,
                    headers: ["X-Forwarded-For": address, "X-Forwarded-Proto": "https"])
            }
            let token = try await server.token()
            let other = try await server.token(
                customer: TestServer.customer, password: TestServer.password)
            async let first = wait(token, "192.0.2.7", 50)
            try await server.time.waits.first { $0 == .seconds(50) }

            let refused = try await wait(other, "192.0.2.7", 49)
            async let elsewhere = wait(other, "192.0.2.8", 48)
            try await server.time.waits.first { $0 == .seconds(48) }
            server.running.cancel()

            #expect(refused.error?.code == "tooManyWaitingHere")
            let statuses = [try await first.status, try await elsewhere.status]
            #expect(statuses == [200, 200])
        }
    }

    @Test func `a stopping server answers waiting requests`() async throws {
        let server = try await TestServer.start()
        let token = try await server.token()
        let start = try await server.transactions(bearer: token).revision
        async let waiting = server.transactions(since: start, wait: 50, bearer: token)
        try await server.time.waits.first { $0 == .seconds(50) }

        server.running.cancel()

        #expect(try await waiting.transactions.isEmpty)
        try await server.running.value
    }
}
