// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import ForwardProxy

@Suite(.timeLimit(.minutes(5))) struct ForwardProxyTests {
    /// Runs `body` beside a proxy, and stops it. Every host is at `port`, but for
    /// those whose name begins with `no`.
    private func with(
        port: Int = 1, limits: ForwardProxy.Limits = .init(),
        _ body: (ForwardProxy) async throws -> Void
    ) async throws {
        let proxy = try await ForwardProxy.start(limits: limits) { target in
            target.host.hasPrefix("no")
                ? .refuse("\(target.host) is refused.") : .connect(host: "127.0.0.1", port: port)
        }
        do { try await body(proxy) } catch {
            await proxy.stop()
            throw error
        }
        await proxy.stop()
        await until("all connections are closed") { proxy.count == 0 }
    }

    private func withEcho(
        limits: ForwardProxy.Limits = .init(), _ body: (ForwardProxy) async throws -> Void
    ) async throws {
        let echo = try await Peer.echo()
        try await with(port: echo.localAddress?.port ?? 0, limits: limits, body)
        try await echo.close()
    }

    private static let established = "HTTP/1.1 200 Connection established\r\n\r\n"

    @Test func `a tunnel carries every byte, also those behind its head`() async throws {
        try await withEcho { proxy in
            let peer = try await Peer.connect(
                proxy.port, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\nearly ")
            await until("the early bytes are back") { peer.text == Self.established + "early " }

            try await peer.send("\u{0}\u{1}GET / late")
            await until("the late bytes are back") {
                peer.text == Self.established + "early \u{0}\u{1}GET / late"
            }
            try await peer.finish()
            await until("the end has come back") { peer.hasEnded }
        }
    }

    @Test func `a tunnel carries megabytes both ways at once`() async throws {
        try await withEcho { proxy in
            let peer = try await Peer.connect(proxy.port, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
            await until("the tunnel is there") { peer.text == Self.established }
            let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

            try await peer.send(bytes)

            let count = Self.established.utf8.count + bytes.count
            await until("all is back", seen: "\(peer.bytes.count)") { peer.bytes.count == count }
            #expect(Array(peer.bytes.dropFirst(Self.established.utf8.count)) == bytes)
        }
    }

    @Test func `a plain request is passed on without what is about the connection`() async throws {
        let upstream = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK", "hello")))
        try await with(port: Int(upstream.port)) { proxy in
            let peer = try await Peer.connect(
                proxy.port,
                "POST http://A.example:80/x?y=1 HTTP/1.1\r\nHost: other\r\nX-One: 1\r\n"
                    + "Connection: keep-alive, X-Two\r\nX-Two: 2\r\nProxy-Authorization: secret\r\n"
                    + "Proxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\nbodyGET / HTTP/1.1\r\n\r\n"
            )
            await until("the answer is there") { peer.hasEnded }

            #expect(peer.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(peer.text.hasSuffix("hello"))
            #expect(
                upstream.requests == [
                    "POST /x?y=1 HTTP/1.1\r\nX-One: 1\r\nContent-Length: 4\r\n"
                        + "Host: A.example:80\r\nConnection: close\r\n\r\nbody"
                ])
        }
    }

    @Test(arguments: [
        "CONNECT no.example:443 HTTP/1.1\r\nHost: no.example\r\n\r\n",
        "CONNECT NO.example.:443 HTTP/1.1\r\nHost: no.example\r\n\r\n",
        "GET http://no.example/ HTTP/1.1\r\nHost: yes.example\r\n\r\n",
        "POST http://no.example HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\npart",
    ])
    func `a refused host gets 403 with a sentence`(request: String) async throws {
        try await with { proxy in
            let peer = try await Peer.connect(proxy.port, request)
            await until("it is refused") { peer.hasEnded }

            #expect(peer.text.hasPrefix("HTTP/1.1 403 Forbidden\r\n"), "\(peer.text)")
            #expect(peer.text.hasSuffix("\r\n\r\nno.example is refused.\n"))
        }
    }

    private static let long = String(repeating: "x", count: 20_000)
    private static let many = String(repeating: "X: y\r\n", count: 200)

    private static let wrong: [(String, Int)] = [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT a:0 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT a:70000 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT :443 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT u:p@a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}garbage\r\n\r\n", 400), ("nonsense\r\n\r\n", 400),
        ("CONNECT a:443 HTTP/1.1\r\nX: \(long)\r\n\r\n", 431),
        ("GET http://a/\(long) HTTP/1.1\r\n\r\n", 431),
        (
            "CONNECT a:443 HTTP/1.1\r\n\(many)\r\n", 431
        ),
    ]

    @Test(arguments: wrong)
    func `what is no request to a proxy is refused`(request: String, status: Int) async throws {
        try await with { proxy in
            let peer = try await Peer.connect(proxy.port, request)
            await until("it is refused") { peer.hasEnded }

            #expect(peer.text.hasPrefix("HTTP/1.1 \(status) "), "\(peer.text)")
            peer.close()
            await until("it is forgotten") { proxy.count == 0 }
        }
    }

    @Test(arguments: ["", "CONNECT a.example:443 HTT", "GET http://a/ HTTP/1.1\r\nX: "])
    func `a client that does not end its head is closed`(start: String) async throws {
        var limits = ForwardProxy.Limits()
        limits.headMilliseconds = 50
        try await with(limits: limits) { proxy in
            let peer = try await Peer.connect(proxy.port, start)

            await until("it is closed") { peer.hasEnded && proxy.count == 0 }
        }
    }

    @Test func `a silent tunnel is closed on both sides`() async throws {
        var limits = ForwardProxy.Limits()
        limits.idleMilliseconds = 2_000
        try await withEcho(limits: limits) { proxy in
            let peer = try await Peer.connect(proxy.port, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")

            await until("it is closed") { peer.hasEnded && proxy.count == 0 }
            #expect(peer.text == Self.established)
        }
    }

    @Test func `a host that does not accept is 502`() async throws {
        try await with(port: Int(try Loopback.closedPort())) { proxy in
            let peer = try await Peer.connect(proxy.port, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
            await until("it is refused") { peer.hasEnded }

            #expect(peer.text.hasPrefix("HTTP/1.1 502 "), "\(peer.text)")
        }
    }

    @Test func `no more connections than allowed are served, and none is kept`() async throws {
        var limits = ForwardProxy.Limits()
        limits.connectionsMax = 8
        limits.headMilliseconds = 300_000
        try await withEcho(limits: limits) { proxy in
            var peers: [Peer] = []
            for _ in 0..<200 { peers.append(try await Peer.connect(proxy.port)) }
            let crowd = peers
            await until("the rest is refused") { crowd.count(where: \.hasEnded) == 192 }
            // A client sees the end before the proxy forgets the connection.
            await until("the closed are forgotten") { proxy.count <= 16 }
            let told = crowd.filter { !$0.text.isEmpty }
            #expect(told.count >= 8)
            #expect(told.allSatisfy { $0.text.hasPrefix("HTTP/1.1 503 ") })

            for peer in crowd { peer.close() }
            await until("all are forgotten") { proxy.count == 0 }
            let next = try await Peer.connect(proxy.port, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
            await until("the next is served") { next.text == Self.established }
        }
    }

    @Test func `stopping closes tunnels`() async throws {
        let echo = try await Peer.echo()
        let port = echo.localAddress?.port ?? 0
        let proxy = try await ForwardProxy.start { _ in .connect(host: "127.0.0.1", port: port) }
        let peer = try await Peer.connect(proxy.port, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
        await until("the tunnel is there") { peer.text == Self.established }

        await proxy.stop()

        await until("it is closed") { peer.hasEnded && proxy.count == 0 }
        try await echo.close()
    }
}
