// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import TestSupport
import Testing

/// OpenSSL judges our receipts and certificates. Where it is missing these
/// tests fail: `make test` installs it.
@Suite(.timeLimit(.minutes(5))) struct OpenSSLTests {
    @Test(arguments: ReceiptDigest.allCases)
    func `openssl accepts our receipt under our root`(digest: ReceiptDigest) async throws {
        let receipt = try Sample.receipt(digest: digest)

        let outcome = try await verify(receipt, root: Sample.authority())

        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func `openssl refuses a flipped byte`() async throws {
        var receipt = try Sample.receipt()
        let content = Array(Sample.bundleID.value.utf8)
        let place = try #require(
            receipt.indices.first { receipt[$0...].starts(with: content) })
        receipt[place] ^= 1

        let outcome = try await verify(receipt, root: Sample.authority())

        #expect(outcome.status == 4)
        #expect(outcome.errors.contains("verification failure"))
    }

    @Test func `openssl refuses a foreign root`() async throws {
        let outcome = try await verify(Sample.receipt(), root: Sample.foreignAuthority())

        #expect(outcome.status == 4)
        #expect(outcome.errors.contains("certificate verify error"))
    }

    @Test(arguments: ["transactions.pem", "receipts.pem"])
    func `openssl's strict rules accept our certificates`(leaf: String) async throws {
        let files = try Sample.authority().files
        let outcome = try await Command.inFolder { folder in
            for name in [leaf, "intermediate.pem", "root.pem"] {
                try Data(files[name] ?? []).write(to: folder.appendingPathComponent(name))
            }
            return try await Command.run(
                "openssl",
                [
                    "verify", "-x509_strict", "-CAfile", "root.pem", "-untrusted",
                    "intermediate.pem", leaf,
                ], in: folder)
        }

        #expect(outcome.output == "\(leaf): OK\n", "\(outcome.errors)")
    }

    private func verify(_ receipt: [UInt8], root: CertificateAuthority) async throws
        -> ChildProcess.Outcome
    {
        try await Command.inFolder { folder in
            try Data(receipt).write(to: folder.appendingPathComponent("receipt.der"))
            try Data(root.rootPEM.utf8).write(to: folder.appendingPathComponent("root.pem"))
            let outcome = try await Command.run(
                "openssl",
                [
                    "cms", "-verify", "-binary", "-inform", "DER", "-in", "receipt.der", "-CAfile",
                    "root.pem", "-out", "content.der",
                ], in: folder)
            try #require(outcome.status != 127, "no openssl; run `make test`, which installs it")
            return outcome
        }
    }
}
