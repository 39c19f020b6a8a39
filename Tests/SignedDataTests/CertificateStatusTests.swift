// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import TestSupport
import Testing

@testable import SignedData

/// OpenSSL asks, and judges the answers.
@Suite(.timeLimit(.minutes(5))) struct CertificateStatusTests {
    /// The machine's own time: openssl knows no other.
    private let wall = Timestamp(
        milliseconds: Int64(Date(timeIntervalSinceNow: 0).timeIntervalSince1970 * 1000))

    @Test(arguments: ["sha1", "sha256"], ["transactions.pem", "receipts.pem"])
    func `a leaf that holds is good`(digest: String, leaf: String) async throws {
        let outcome = try await ask(about: leaf, issuer: "intermediate.pem", digest: digest)

        #expect(outcome.output.contains("\(leaf): good"), "\(outcome)")
        #expect(outcome.errors.contains("Response verify OK"), "\(outcome)")
    }

    @Test(arguments: ["sha1", "sha256"])
    func `the intermediate is vouched for by the root's responder`(digest: String) async throws {
        let outcome = try await ask(
            about: "intermediate.pem", issuer: "root.pem", digest: digest)

        #expect(outcome.output.contains("intermediate.pem: good"), "\(outcome)")
        #expect(outcome.errors.contains("Response verify OK"), "\(outcome)")
    }

    @Test func `a revoked leaf is reported with its date`() async throws {
        let serial = try #require(try Sample.authority().leafSerials.first)
        let date = Timestamp(milliseconds: 1_790_000_000_000)

        let outcome = try await ask(
            about: "transactions.pem", issuer: "intermediate.pem", revoked: [serial: date])

        #expect(outcome.output.contains("transactions.pem: revoked"), "\(outcome)")
        #expect(outcome.output.contains("Revocation Time: Sep 21 14:13:20 2026 GMT"), "\(outcome)")
        #expect(outcome.errors.contains("Response verify OK"))
    }

    @Test func `a leaf of before a rotation is good as long as it is remembered`() async throws {
        let old = try Sample.authority()
        let new = try old.rotated(.sandbox)

        let forgotten = try await ask(
            about: "transactions.pem", issuer: "intermediate.pem", answering: new)
        let remembered = try await ask(
            about: "transactions.pem", issuer: "intermediate.pem", answering: new,
            formerly: Set(old.leafSerials))

        #expect(forgotten.output.contains("transactions.pem: unknown"), "\(forgotten)")
        #expect(remembered.output.contains("transactions.pem: good"), "\(remembered)")
    }

    @Test func `another's certificate is not our business`() async throws {
        let outcome = try await ask(
            about: "transactions.pem", issuer: "intermediate.pem",
            answering: Sample.foreignAuthority())

        #expect((outcome.output + outcome.errors).contains("unauthorized"), "\(outcome)")
    }

    @Test func `an invalid request is answered as such, and crashes nothing`() throws {
        let responder = try Sample.authority().status
        let malformed: [UInt8] = [0x30, 0x03, 0x0A, 0x01, 0x01]
        #expect(try responder.answer([], wall: wall) == malformed)
        #expect(try responder.answer([0x30, 0x80], wall: wall) == malformed)
        #expect(
            try responder.answer([UInt8](repeating: 0x30, count: 9000), wall: wall) == malformed)

        var generator = SplitMix64(state: 19)
        for _ in 0..<500 {
            let bytes = Mutation.of(Self.request, using: &generator)
            #expect(throws: Never.self) { try responder.answer(bytes, wall: wall) }
        }
    }

    @Test func `a request with digests that we do not know is about no certificate of ours`()
        async throws
    {
        let outcome = try await ask(
            about: "transactions.pem", issuer: "intermediate.pem", digest: "sha512")

        #expect((outcome.output + outcome.errors).contains("unauthorized"), "\(outcome)")
    }

    /// A request with SHA-1 digests of nothing and a nonce, as openssl makes it.
    private static let request: [UInt8] =
        [
            0x30, 0x5D, 0x30, 0x5B, 0x30, 0x34, 0x30, 0x32, 0x30, 0x30, 0x30, 0x09, 0x06, 0x05,
            0x2B, 0x0E, 0x03, 0x02, 0x1A, 0x05, 0x00, 0x04, 0x0E,
        ] + [UInt8](repeating: 7, count: 14) + [0x04, 0x0E] + [UInt8](repeating: 8, count: 14)
        + [
            0x02, 0x01, 0x05, 0xA2, 0x23, 0x30, 0x21, 0x30, 0x1F, 0x06, 0x09, 0x2B, 0x06, 0x01,
            0x05, 0x05, 0x07, 0x30, 0x01, 0x02, 0x04, 0x12, 0x04, 0x10,
        ] + [UInt8](repeating: 9, count: 16)

    private func ask(
        about certificate: String, issuer: String, digest: String = "sha256",
        revoked: [[UInt8]: Timestamp] = [:], answering: CertificateAuthority? = nil,
        formerly: Set<[UInt8]> = []
    ) async throws -> ChildProcess.Outcome {
        let asked = try Sample.authority()
        return try await Command.inFolder { folder in
            for (name, bytes) in asked.files where name.hasSuffix(".pem") {
                try Data(bytes).write(to: folder.appendingPathComponent(name))
            }
            let chain =
                (asked.files["root.pem"] ?? []) + [10] + (asked.files["intermediate.pem"] ?? [])
            try Data(chain).write(to: folder.appendingPathComponent("chain.pem"))
            let names = ["-issuer", issuer, "-\(digest)", "-cert", certificate]
            let made = try await Command.run(
                "openssl", ["ocsp"] + names + ["-reqout", "request.der"], in: folder)
            #expect(made.status == 0, "\(made.errors)")
            let request = [UInt8](
                try Data(contentsOf: folder.appendingPathComponent("request.der")))
            let answer = try (answering ?? asked).status.answer(
                request, wall: wall, revoked: revoked, formerly: formerly)
            try Data(answer).write(to: folder.appendingPathComponent("answer.der"))
            return try await Command.run(
                "openssl",
                ["ocsp"] + names + [
                    "-reqin", "request.der", "-no_nonce", "-respin", "answer.der", "-CAfile",
                    "chain.pem",
                ], in: folder)
        }
    }
}
