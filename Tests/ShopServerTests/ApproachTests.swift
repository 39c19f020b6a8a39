// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import HTTPShell

/// Who asks, and over what, as a server behind a proxy reads it.
@Suite struct ApproachTests {
    private func approach(
        from peer: String, _ headers: [String: String] = [:], host: String? = "store:4780",
        proxies: [String]? = ["10.0.0.0/8", "127.0.0.1"]
    ) -> Approach {
        Approach(
            peer: ClientAddress(peer), port: 4780, authority: host,
            proxies: proxies.flatMap(TrustedProxies.init)
        ) { headers[$0.rawValue] }
    }

    private static let https = ["X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"]

    @Test func `a trusted proxy's word is taken for client, host and HTTPS`() {
        var headers = Self.https
        headers["X-Forwarded-Host"] = "Store.Example:443"
        let found = approach(from: "10.1.2.3", headers)

        #expect(found.client?.description == "192.0.2.7")
        #expect(found.host == "store.example")
        #expect(!found.isExposed)
    }

    @Test func `nobody else's is`() {
        let found = approach(from: "192.0.2.99", Self.https)

        #expect(found.client?.description == "192.0.2.99")
        #expect(found.host == "store")
        #expect(found.isExposed)
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("1.1.1.1, 192.0.2.7", "192.0.2.7"),
        ("192.0.2.7, 10.0.0.9", "192.0.2.7"), ("192.0.2.7,10.0.0.9 ,  10.2.2.2", "192.0.2.7"),
        ("evil, 192.0.2.7", "192.0.2.7"), ("10.0.0.4", "10.0.0.4"),
        ("2001:db8::1", "2001:db8:0:0::/64"),
        ("2001:db8::1, ::ffff:10.0.0.4", "2001:db8:0:0::/64"),
    ])
    func `the client is the last that no proxy of ours is`(forwarded: String, client: String) {
        let found = approach(
            from: "10.1.2.3", ["X-Forwarded-Proto": "https", "X-Forwarded-For": forwarded])

        #expect(found.client?.description == client)
    }

    @Test func `plain HTTP to the proxy is recognised`() {
        var headers = Self.https
        headers["X-Forwarded-Proto"] = "http"
        #expect(approach(from: "10.1.2.3", headers).isExposed)
        headers["X-Forwarded-Proto"] = "https, http"
        #expect(approach(from: "10.1.2.3", headers).isExposed)
        headers["X-Forwarded-Proto"] = nil
        #expect(approach(from: "10.1.2.3", headers).isExposed)
    }

    @Test(arguments: ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    func `this machine's own commands need no proxy`(peer: String) {
        #expect(!approach(from: peer).isExposed)
        #expect(!approach(from: peer, proxies: nil).isExposed)
    }

    @Test(arguments: [
        "127.0.0.1", "192.0.2.7", "255.255.255.255", "::1", "2001:db8::7", "fe80::1",
        "::ffff:192.0.2.7",
    ])
    func `a connection's address is that of its text`(text: String) throws {
        let address = try SocketAddress(ipAddress: text, port: 80)

        #expect(ClientAddress(address) == ClientAddress(text))
        #expect(ClientAddress(address)?.description.isEmpty == false)
    }

    @Test func `a connection without an address has no client's`() throws {
        #expect(ClientAddress(try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
        #expect(ClientAddress(nil as SocketAddress?) == nil)
    }

    @Test func `networks hold what begins like them`() throws {
        let networks = try #require(TrustedProxies(["10.128.0.0/9", "fd00::/8", "192.0.2.1"]))
        func holds(_ text: String) -> Bool? { ClientAddress(text).map(networks.contains) }

        #expect(
            ["10.128.0.1", "10.255.0.1", "fdff::1", "192.0.2.1"].map(holds)
                == [true, true, true, true])
        #expect(
            ["10.127.0.1", "11.128.0.1", "fe00::1", "192.0.2.2", "::1"].map(holds)
                == [false, false, false, false, false])
    }

    @Test(arguments: [
        [], ["proxy"], ["10.0.0.0/33"], ["10.0.0.0/-1"], ["10.0.0.0/8/8"], ["10.0.0"],
        ["10.0.0.0/"], ["::/129"], ["10.0.0.1", ""],
    ])
    func `what names no network is refused`(texts: [String]) {
        #expect(TrustedProxies(texts) == nil)
    }

    @Test(arguments: [
        ("store.example", "store.example"), ("STORE.example:80", "store.example"),
        ("[::1]:4780", "::1"), ("[::1", nil), ("", nil), (":80", nil),
    ])
    func `a host is read without its port`(authority: String, host: String?) {
        #expect(Approach.host(authority) == host)
    }
}
