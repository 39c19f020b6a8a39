// SPDX-License-Identifier: Apache-2.0

import Foundation
import Shop
import ShopServer
import StoreWire
import Testing

/// Under which names a server answers, to which pages, and to which bodies.
@Suite(.timeLimit(.minutes(5))) struct SiteTests {
    private static let signIn = #"{"deviceUUID":"0f0f0f0f-1111-4222-8333-444444444444"}"#

    /// The answer to a request with these lines, on a connection of its own.
    private func answer(
        _ server: TestServer, _ start: String, _ lines: [String], _ body: String = ""
    ) async throws -> String {
        let connection = try RawConnection(port: server.port)
        let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
        let head = ["\(start) HTTP/1.1"] + lines + length + ["Connection: close", "", ""]
        try connection.send(head.joined(separator: "\r\n") + body)
        return await connection.receive()
    }

    private func expect(
        _ answer: String, _ status: Int, _ code: String? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)", sourceLocation: location)
        guard let code else { return }
        #expect(answer.contains("\"code\":\"\(code)\""), "\(answer)", sourceLocation: location)
        #expect(answer.contains("\"rule\":") && answer.contains("\"remedy\":"))
    }

    @Test(arguments: ["evil.example", "127.0.0.1.evil.example", "192.168.0.7", "localhost.evil"])
    func `a name that is not configured is refused`(name: String) async throws {
        try await TestServer.with { server in
            let told = try await answer(server, "GET /certificates/root", ["Host: \(name):80"])

            expect(told, 421, "hostUnknown")
        }
    }

    @Test(arguments: [
        "localhost", "LOCALHOST.:4780", "127.0.0.1:1", "127.9.9.9", "[::1]:4780", "shop.localhost",
        "store.example",
    ])
    func `this machine's names and configured ones are served`(name: String) async throws {
        try await TestServer.with(configure: { $0.reach(at: "https://Store.Example:8443/shop") }) {
            server in
            expect(try await answer(server, "GET /certificates/root", ["Host: \(name)"]), 200)
        }
    }

    /// RFC 9112, 3.2.2: the host in the address counts, not the header.
    @Test(
        arguments: [
            ("http://evil.example", "localhost", 421, "hostUnknown"),
            ("http://evil.example:80", "localhost", 421, "hostUnknown"),
            ("HTTP://localhost@evil.example", "localhost", 400, "hostInvalid"),
            ("http://[::1]:4780", "evil.example", 200, nil),
            ("http://localhost", "evil.example", 200, nil),
            ("http://localhost", nil, 400, "hostInvalid"),
            ("http://", "localhost", 400, "hostInvalid"),
        ] as [(String, String?, Int, String?)])
    func `the host of an absolute address is the one that is asked`(
        start: String, host: String?, status: Int, code: String?
    ) async throws {
        try await TestServer.with { server in
            let told = try await answer(
                server, "GET \(start)/certificates/root", host.map { ["Host: \($0)"] } ?? [])

            expect(told, status, code)
        }
    }

    private static let strange = [
        "localhost:evil", "localhost:1,evil", "localhost:99999", "localhost:0", "localhost:-1",
        "localhost:+1", "localhost:1:2", "localhost:080000", "local%00host", "localhost/evil",
        "localhost?", "localhost#", "localhost\\evil", "local host", "localhost,evil",
        "user@localhost",
        "[::1]evil", "[::1", "::1", "[localhost]", "[::1%25lo]", "[]", "löcalhost", "localhost..",
        ".localhost", "a..localhost", "\"localhost\"", "localhost;x", "local*host",
        String(repeating: "a.", count: 126) + "localhost",
    ]

    /// RFC 9112, 3.2: the line is one host and at most one port.
    @Test(arguments: strange)
    func `a host that is none is refused`(host: String) async throws {
        try await TestServer.with { server in
            let line = ["Host: \(host)"]
            expect(try await answer(server, "GET /certificates/root", line), 400, "hostInvalid")
            // Those that need no name accept any, but only a name.
            expect(try await answer(server, "GET /health", line), 400, "hostInvalid")
        }
    }

    /// RFC 9112, 3.2.2 and 7.1: of absolute addresses, only those of this
    /// protocol.
    @Test(
        arguments: strange.filter { name in !name.contains { " /?#ö".contains($0) } }
            .map { "http://\($0)/certificates/root" } + [
                "ftp://localhost/certificates/root", "file://localhost/certificates/root",
                "ws://localhost/certificates/root", "://localhost/certificates/root",
                "http:/certificates/root", "localhost/certificates/root", "http://",
                "http://user@localhost/certificates/root", "certificates/root",
            ])
    func `an absolute address of another protocol or of no host is refused`(
        target: String
    ) async throws {
        try await TestServer.with { server in
            let told = try await answer(server, "GET \(target)", ["Host: localhost"])

            expect(told, 400)
        }
    }

    @Test(arguments: ["localhost", "localhost:1", "localhost:65535", "localhost:", "127.0.0.1:080"])
    func `a host with a port that there is, or with none, is served`(host: String) async throws {
        try await TestServer.with { server in
            expect(try await answer(server, "GET /certificates/root", ["Host: \(host)"]), 200)
        }
    }

    /// A proxy's word of the host is judged as the line is.
    @Test(arguments: ["store.example:evil", "store%00.example", "store.example/x"])
    func `a forwarded host that is none is refused`(host: String) async throws {
        let proxied = try ShopServerConfiguration(port: 0, proxies: TrustedProxies(["127.0.0.1"]))
        try await TestServer.with(configure: {
            $0 = proxied
            $0.stopsOnSignals = false
        }) { server in
            let told = try await answer(
                server, "GET /certificates/root",
                [
                    "Host: localhost", "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https",
                    "X-Forwarded-Host: \(host)",
                ])
            expect(told, 400, "hostInvalid")
        }
    }

    /// What a proxy of ours does not write.
    @Test(arguments: [
        ["X-Forwarded-For: zzz"], ["X-Forwarded-For: 192.0.2.7", "X-Forwarded-For: unknown"],
        ["X-Forwarded-For: "], ["X-Forwarded-For: 192.0.2.7,"],
        [
            "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Host: localhost",
            "X-Forwarded-Host: a.example",
        ],
        ["X-Forwarded-For: 192.0.2.7", "X-Forwarded-Host: localhost, localhost"],
        ["X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https"],
    ])
    func `a proxy's word that is none is refused`(lines: [String]) async throws {
        let proxied = try ShopServerConfiguration(port: 0, proxies: TrustedProxies(["127.0.0.1"]))
        try await TestServer.with(configure: {
            $0 = proxied
            $0.stopsOnSignals = false
        }) { server in
            for path in ["/certificates/root", "/health"] {
                let told = try await answer(
                    server, "GET \(path)", ["Host: localhost", "X-Forwarded-Proto: https"] + lines)
                expect(told, 400, "forwardedInvalid")
            }
        }
    }

    @Test(
        arguments: [
            (["Host: evil.example"], 421, "hostUnknown"),
            (["Host: localhost:evil"], 400, "hostInvalid"), ([], 400, "hostInvalid"),
            (["Host: localhost", "Host: localhost"], 400, "hostInvalid"),
            (["Host: localhost", "Origin: https://evil.example"], 403, "originForeign"),
            (["Host: localhost"], 501, "methodUnknown"),
        ] as [([String], Int, String)])
    func `a method that nobody knows does not excuse the host`(
        lines: [String], status: Int, code: String
    ) async throws {
        try await TestServer.with { server in
            for method in ["FROB", "frob", "G3T", "PATCH-ALL"] {
                let told = try await answer(server, "\(method) /certificates/root", lines)
                expect(told, status, code)
                expectNamed(told, server, status)
            }
        }
    }

    /// An error of the shell has the form of all errors, and a line in the log.
    private func expectNamed(
        _ answer: String, _ server: TestServer, _ status: Int,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let parts = answer.components(separatedBy: "\r\n\r\n")
        var headers: [String: String] = [:]
        for line in parts[0].components(separatedBy: "\r\n").dropFirst() {
            let colon = line.firstIndex(of: ":") ?? line.startIndex
            headers[line[..<colon].lowercased()] = String(line[colon...].dropFirst(2))
        }
        let body = parts.dropFirst().joined()
        let id = headers["x-request-id"]
        #expect(
            headers["content-type"] == "application/json"
                && headers["content-length"] == "\(body.utf8.count)"
                && (try? JSONDecoder().decode(WireError.self, from: Data(body.utf8))) != nil,
            "\(answer)", sourceLocation: location)
        let lines = server.lines.elements.filter { $0.metadata["requestId"] == id }
        #expect(
            id?.isEmpty == false && lines.map { $0.metadata["status"] } == ["\(status)"],
            "\(answer)", sourceLocation: location)
    }

    @Test(arguments: [
        "GET /health HTTP/1.1\r\nNo colon\r\n\r\n", "GET /health HTTP/9.9\r\n\r\n",
        "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    ])
    func `what cannot be parsed is answered like any other error`(bytes: String) async throws {
        try await TestServer.with { server in
            let connection = try RawConnection(port: server.port)
            try connection.send(bytes)
            let told = await connection.receive()

            expect(told, 400, "notHTTP")
            expectNamed(told, server, 400)
        }
    }

    /// A client that means HTTPS says hello in more bytes than a head begins with.
    @Test(arguments: [11, 303, 517, 600])
    func `TLS on a plain port is refused at once`(count: Int) async throws {
        try await TestServer.with { server in
            let hello: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0x7C, 0x03, 0x03]
            let bytes = hello + Array(repeating: 0x6E, count: count - hello.count)
            let connection = try RawConnection(port: server.port)
            try connection.send(String(decoding: bytes, as: UTF8.self))
            let told = await connection.receive()

            expect(told, 400, "notHTTP")
            expectNamed(told, server, 400)
        }
    }

    /// RFC 9112, 6.1: a coding that is not decoded must not be taken for text.
    @Test(
        arguments: [
            (["gzip, chunked"], 501), (["gzip", "chunked"], 501), (["x-y,chunked"], 501),
            (["chunked"], 400), (["Chunked"], 400),
        ] as [([String], Int)])
    func `a body has the transfer coding chunked, or none`(
        codings: [String], status: Int
    ) async throws {
        try await TestServer.with { server in
            let lines =
                ["Host: localhost", "Content-Type: application/json"]
                + codings.map { "Transfer-Encoding: \($0)" }
            let connection = try RawConnection(port: server.port)
            let head =
                ["POST /device/v1/sessions HTTP/1.1"] + lines + ["Connection: close", "", ""]
            try connection.send(head.joined(separator: "\r\n") + "2\r\n{}\r\n0\r\n\r\n")

            let told = await connection.receive()

            expect(told, status, status == 501 ? "codingUnknown" : nil)
            #expect(status == 501 || told.contains("fieldMissing"), "\(told)")
        }
    }

    /// Where the parser reports the method, the rest of the head may be on its way.
    @Test(
        arguments: [
            ("FOO / HTTP/1.1\r\n", "Host: localhost\r\n\r\n", 501),
            ("FOO / HTTP/1.1\r\n", "Host: evil.example\r\n\r\n", 421),
            ("FOO / HTTP/1.1\r\n", "Via: x\r\n\r\n", 400),
            ("FOO / HT", "TP/1.1\r\nHost: localhost\r\n\r\n", 501),
            ("F", "OO / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
            ("GO", "O / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
            ("FOO / HTTP/1.1\r\nHost: local", "host\r\n\r\n", 501),
            ("FOO / HTTP/1.1\r\nHost: localhost\r\n\r", "\n", 501),
            ("FOO / HTTP/1.1\nHost: localhost\n", "\n", 501),
            (
                "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nFOO / HT",
                "TP/1.1\r\nHost: evil.example\r\n\r\n", 421
            ),
            ("FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", 501),
        ] as [(String, String, Int)])
    func `a method that nobody knows is judged with its whole head`(
        first: String, second: String, status: Int
    ) async throws {
        try await TestServer.with { server in
            for parts in [[first, second], [first + second]] {
                let connection = try RawConnection(port: server.port)
                try connection.send(parts[0])
                // Time for the server to read the first part by itself.
                expect(try await answer(server, "GET /health", []), 200)
                try? connection.send(parts.dropFirst().joined())
                let told = await connection.receive { $0.contains("HTTP/1.1 \(status)") }

                #expect(told.contains("HTTP/1.1 \(status)"), "\(parts): \(told)")
            }
        }
    }

    @Test(arguments: ["FOO", "FOO / HTTP/1.1\r\nHost: localhost\r\n"])
    func `a head that ends early is refused at the connection's end`(
        head: String
    ) async throws {
        try await TestServer.with { server in
            let connection = try RawConnection(port: server.port)
            try connection.send(head)
            connection.finish()

            let told = await connection.receive()

            #expect(told.isEmpty || told.hasPrefix("HTTP/1.1 4") || told.hasPrefix("HTTP/1.1 5"))
        }
    }

    /// The App Store Server API repeats its filters.
    @Test func `a parameter of Apple's door may come again`() async throws {
        try await TestServer.with { server in
            let path = "/inApps/v1/transactions/1?productId=a&productId=b"
            expect(try await answer(server, "GET \(path)", ["Host: localhost"]), 401)
        }
    }

    @Test(arguments: [
        "since=0&since=1&wait=0", "since=0&wait=0&since=0", "since=0&sinc%65=1&wait=0",
        "x=1&x=1", "x&x",
    ])
    func `a parameter comes once`(query: String) async throws {
        try await TestServer.with { server in
            for path in ["/device/v1/transactions", "/health", "/certificates/root"] {
                let told = try await answer(server, "GET \(path)?\(query)", ["Host: localhost"])
                expect(told, 400, "queryInvalid")
            }
        }
    }

    @Test func `a method that nobody knows is not implemented`() async throws {
        try await TestServer.with { server in
            let unknown = try await answer(server, "FROB /certificates/root", ["Host: localhost"])
            let known = try await answer(server, "PROPFIND /health", ["Host: localhost"])
            let connection = try RawConnection(port: server.port)
            try connection.send(
                "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    + "FROB /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let both = await connection.receive()

            expect(unknown, 501)
            expect(known, 405, "wrongMethod")
            #expect(known.lowercased().contains("allow: get"))
            expect(both, 200)
            #expect(both.contains("HTTP/1.1 501"), "\(both)")
        }
    }

    @Test(arguments: ["%ff", "%00", "a%00b", "%zz", "%4", "%C3", "%ED%A0%80"])
    func `what is no text in an address is refused, wherever it stands`(
        text: String
    ) async throws {
        try await TestServer.with { server in
            for path in [
                "/operator/v1/customers/\(text)/sessions", "/realms/\(text)/device/v1/receipt",
                "/device/v1/transactions/\(text)/finish", "/nothing/\(text)",
                "/operator/v1/customers?after=\(text)",
            ] {
                expect(
                    try await answer(server, "GET \(path)", ["Host: localhost"]), 400,
                    "addressInvalid")
            }
        }
    }

    @Test func `addresses that need no host name answer without one`() async throws {
        try await TestServer.with { server in
            expect(try await answer(server, "GET /health", []), 200)
            expect(try await answer(server, "GET /ready", ["Host: 10.1.2.3"]), 200)
            expect(try await answer(server, "GET /certificates/root", []), 400, "hostInvalid")
        }
    }

    @Test(arguments: ["/health", "/certificates/root"])
    func `two hosts are one too many`(path: String) async throws {
        try await TestServer.with { server in
            let told = try await answer(
                server, "GET \(path)", ["Host: localhost", "Host: localhost"])

            expect(told, 400, "hostInvalid")
        }
    }

    @Test func `behind a proxy a public name that is configured holds there too`() async throws {
        let proxied = try ShopServerConfiguration(port: 0, proxies: TrustedProxies(["127.0.0.1"]))
        let lines = ["X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https"]
        for (url, statuses) in [(nil, [200, 200]), ("https://store.example", [421, 200])] {
            try await TestServer.with(configure: {
                $0 = proxied
                $0.stopsOnSignals = false
                $0.reach(at: url)
            }) { server in
                for (name, status) in zip(["other.example", "store.example"], statuses) {
                    let told = try await answer(
                        server, "GET /certificates/root", ["Host: \(name)"] + lines)
                    expect(told, status)
                }
            }
        }
    }

    @Test func `another site's page is refused, the server's own is not`() async throws {
        try await TestServer.with { server in
            let here = "127.0.0.1:\(server.port)"
            for origin in [
                "https://evil.example", "null", "http://127.0.0.1:1", "http://localhost",
            ] {
                let told = try await answer(
                    server, "GET /certificates/root", ["Host: \(here)", "Origin: \(origin)"])
                expect(told, 403, "originForeign")
            }
            let own = try await answer(
                server, "GET /certificates/root", ["Host: \(here)", "Origin: http://\(here)"])
            expect(own, 200)
        }
    }

    @Test(arguments: [
        (["Content-Type: text/plain"], 415), ([], 415),
        (["Content-Type: application/x-www-form-urlencoded"], 415),
        (["Content-Type: application/jsonp"], 415), (["Content-Type: application/json"], 200),
        (["Content-Type: Application/JSON ; charset=utf-8"], 200),
    ])
    func `a JSON body must be declared as JSON`(lines: [String], status: Int) async throws {
        try await TestServer.with { server in
            let told = try await answer(
                server, "POST /device/v1/sessions", ["Host: localhost"] + lines, Self.signIn)

            expect(told, status, status == 415 ? "contentTypeWrong" : nil)
        }
    }

    @Test func `a catalogue must be declared as JSON too`() async throws {
        try await TestServer.with { server in
            let key = try await server.keys()[.operator] ?? ""
            for (type, status) in [("text/plain", 415), ("application/json", 400)] {
                let told = try await answer(
                    server, "PUT /operator/v1/apps/\(TestServer.bundleID)/catalogue",
                    ["Host: localhost", "Authorization: Bearer \(key)", "Content-Type: \(type)"],
                    "{}")
                expect(told, status)
            }
        }
    }

    @Test func `a client that expects 100-continue gets it`() async throws {
        try await TestServer.with { server in
            let connection = try RawConnection(port: server.port)
            try connection.send(
                "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Type: application/json\r\nExpect: 100-continue\r\n"
                    + "Content-Length: \(Self.signIn.utf8.count)\r\n\r\n")

            let first = await connection.receive { $0.hasSuffix("\r\n\r\n") }
            try connection.send(Self.signIn)
            let second = await connection.receive { $0.contains("\"token\"") }

            #expect(first == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(second.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `an unread body has the same time limit as one that is read`()
        async throws
    {
        try await TestServer.with(configure: { $0.bodyTimeout = .milliseconds(50) }) { server in
            let connection = try RawConnection(port: server.port)
            try connection.send(
                "POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")

            // Ends when the server closes.
            let answer = await connection.receive()

            #expect(answer.hasPrefix("HTTP/1.1 404"))
            #expect(server.time.waits.elements.isEmpty)
        }
    }

    @Test func `a connection whose bodies all come stays open`() async throws {
        try await TestServer.with(configure: { $0.bodyTimeout = .milliseconds(1) }) { server in
            let connection = try RawConnection(port: server.port)
            let one = "POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
            for _ in 1...20 {
                try connection.send(one)
                let answer = await connection.receive { $0.contains("unknownPath") }
                #expect(answer.hasPrefix("HTTP/1.1 404"))
            }
        }
    }
}
