// SPDX-License-Identifier: Apache-2.0

import Foundation
import Outbound
import TestSupport
import Testing

/// TLS, against a server of OpenSSL's.
@Suite(.unforgiven, .timeLimit(.minutes(5)))
struct TLSTests {
    @Test func `a trusted certificate is spoken to, and no other`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("outbound-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await Self.server(in: folder)
        let pem = try String(
            contentsOf: folder.appendingPathComponent("certificate.pem"), encoding: .utf8)

        let trusting = OutboundClient(policy: .secure, trustedRoots: pem)
        let answer = try await trusting.send(
            OutboundRequest("GET", "https://localhost:\(server.port)/"))
        let stranger = await Self.fault("https://localhost:\(server.port)/", pem: nil)
        let otherName = await Self.fault("https://127.0.0.2:\(server.port)/", pem: pem)
        let guarded = await Self.fault("https://localhost:\(server.port)/", .guarded, pem: pem)

        #expect(answer.status == 200)
        #expect(stranger?.code == .tls && stranger?.mayHaveBeenSent == false)
        #expect(otherName?.code == .tls)
        #expect(guarded?.code == .addressRefused)
        server.child.kill(SIGKILL)
    }

    @Test func `a server that speaks no TLS`() async throws {
        let peer = try ScriptedPeer(.hangUp)

        let fault = await Self.fault("https://127.0.0.1:\(peer.port)/", pem: nil)

        #expect(fault?.code == .tls)
    }

    private static func fault(
        _ url: String, _ policy: AddressPolicy = .secure, pem: String?
    ) async -> OutboundFault? {
        let client = OutboundClient(policy: policy, trustedRoots: pem)
        do throws(OutboundFault) {
            _ = try await client.send(OutboundRequest("GET", url))
            return nil
        } catch { return error }
    }

    private static func server(in folder: URL) async throws -> (child: ChildProcess, port: Int) {
        let made = try await ChildProcess.run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem", "-out",
                "certificate.pem", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2",
            ], folder: folder)
        try #require(made.status == 0, "\(made.errors)")
        // On every address of loopback, so that it has a name it has no certificate for.
        let child = try ChildProcess(
            [
                "openssl", "s_server", "-4", "-accept", "0", "-cert", "certificate.pem", "-key",
                "key.pem", "-www",
            ], folder: folder)
        let line = try #require(await child.line(with: "ACCEPT"))
        let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
        return (child, port)
    }
}
