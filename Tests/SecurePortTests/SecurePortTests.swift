// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import HTTPShell
import Hummingbird
import Live
import Logging
import SignedData
import StoreWire
import TestSupport
import Testing
import WireErrors

@testable import SecurePort

/// A page that says which host was asked for, and whether over TLS.
private struct Pages: RequestHandler {
    func match(_ call: Call) throws -> MatchedRequest? {
        let host = call.approach.host ?? ""
        let way = call.approach.isSecure ? "secure" : "plain"
        return MatchedRequest(pattern: "/") { .plain("\(host) \(way)") }
    }

    func explain(_ error: any Error) -> ErrorAnswer? { nil }
}

@Suite(.timeLimit(.minutes(5))) struct SecurePortTests {
    private static let authority = Result(catching: { try CertificateAuthority.make(.sandbox) })
    private static let request = "GET / HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n\r\n"

    /// Runs `body` beside a server with a plain port and one with TLS.
    private func with(
        _ body: @escaping @Sendable (_ ports: BoundPorts, _ root: String) async throws -> Void
    ) async throws {
        let authority = try Self.authority.get()
        let certificate = try authority.serverCertificate(
            for: .loopback.adding(hosts: ["api.example"]), .sandbox, now: Live.wallClock.now)
        var configuration = try ShellConfiguration(port: 0)
        configuration.stopsOnSignals = false
        configuration.names.add("api.example")
        configuration.secure = try SecurePort.listener(
            port: 0, chainPEM: certificate.chainPEM, keyPEM: certificate.keyPEM)
        let shell = HTTPShell(
            handlers: [Pages()],
            words: ErrorWords(subject: "page", addresses: "/", askAgain: "ask again"),
            configuration: configuration,
            ports: ShellPorts(
                sleep: Live.sleep, monotonic: Live.monotonic, randomness: .seeded(1)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (ready, told) = AsyncStream.makeStream(of: BoundPorts.self)
        let running = Task {
            defer { told.finish() }
            try await shell.run(onReady: { told.yield($0) }, close: {})
        }
        let ports = try #require(await first(of: ready, "the server listens"))
        let outcome = await Result { try await body(ports, authority.rootPEM) }
        running.cancel()
        try await running.value
        try outcome.get()
    }

    @Test(arguments: ["localhost", "127.0.0.1", "api.example"])
    func `a client that trusts the root is answered under each name`(name: String) async throws {
        try await with { ports, root in
            let secure = try #require(ports.secure)
            let client = try await SecureClient.connect(secure, as: name, root: root)
            try await client.send(Self.request)

            await until("the answer is there", seen: client.text) { client.hasEnded }
            #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(client.text.hasSuffix("api.example secure"))
            #expect(client.failure == nil)
        }
    }

    @Test func `a client that trusts another root sends nothing`() async throws {
        let other = try CertificateAuthority.make(.production).rootPEM
        try await with { ports, _ in
            let secure = try #require(ports.secure)
            let client = try await SecureClient.connect(secure, as: "localhost", root: other)
            try? await client.send(Self.request)
            await until("the client has refused") { client.hasEnded }
            #expect(client.text.isEmpty)
            #expect(client.failure != nil)
        }
    }

    @Test func `what is no TLS ends its own connection only`() async throws {
        try await with { ports, root in
            let secure = try #require(ports.secure)
            for text in [Self.request, "\u{16}\u{3}\u{1}\u{0}\u{5}hello", "\u{0}"] {
                let client = try await SecureClient.connect(secure, as: nil, root: root)
                try await client.send(text)
                client.finish()
                await until("it is closed", seen: client.text) { client.hasEnded }
                #expect(!client.text.contains("HTTP/1.1 200"))
            }
            let client = try await SecureClient.connect(secure, as: "localhost", root: root)
            try await client.send(Self.request)
            await until("others are answered") { client.text.contains("HTTP/1.1 200 OK") }
        }
    }

    @Test func `the plain port stays plain`() async throws {
        try await with { ports, root in
            let client = try await SecureClient.connect(ports.main, as: nil, root: root)
            try await client.send(Self.request)
            await until("the answer is there", seen: client.text) {
                client.text.hasSuffix("api.example plain")
            }
        }
    }

    @Test func `a wrong key is refused before anything listens`() throws {
        let authority = try Self.authority.get()
        let now = Live.wallClock.now
        let one = try authority.serverCertificate(for: .loopback, .sandbox, now: now)
        let other = try authority.serverCertificate(for: .loopback, .sandbox, now: now)

        #expect(throws: (any Error).self) {
            try SecurePort.listener(port: 0, chainPEM: one.chainPEM, keyPEM: other.keyPEM)
        }
        #expect(throws: WireError.self) {
            try SecurePort.listener(port: 70_000, chainPEM: one.chainPEM, keyPEM: one.keyPEM)
        }
    }
}

extension Response {
    fileprivate static func plain(_ text: String) -> Response {
        Response(status: .ok, body: ResponseBody(byteBuffer: .init(string: text)))
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
