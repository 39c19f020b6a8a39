// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SwiftASN1
import Testing
import X509

@testable import SignedData

/// The certificate of a server with TLS.
@Suite struct ServerCertificateTests {
    private let made: ServerCertificate
    private let chain: [Certificate]

    init() throws {
        made = try Sample.authority().serverCertificate(
            for: .loopback.adding(hosts: ["api.example"]), .sandbox, now: Sample.now)
        chain = try PEMDocument.parseMultiple(pemString: made.chainPEM)
            .map { try Certificate(pemDocument: $0) }
    }

    @Test func `it names the hosts and addresses, and is for servers only`() throws {
        let leaf = chain[0]

        let names = try #require(try leaf.extensions.subjectAlternativeNames)
        #expect(
            Array(names) == [
                .dnsName("localhost"), .dnsName("api.example"),
                .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                .ipAddress(
                    ASN1OctetString(
                        contentBytes: ArraySlice([UInt8](repeating: 0, count: 15) + [1]))),
            ])
        let uses = try #require(try leaf.extensions.extendedKeyUsage)
        #expect(Array(uses) == [.serverAuth])
        #expect(leaf.extensions[oid: MarkerExtension.leaf] == nil)
    }

    @Test func `it leads to the root, with its own key`() throws {
        let root = try Certificate(pemEncoded: Sample.authority().rootPEM)
        let key = try P256.Signing.PrivateKey(pemRepresentation: made.keyPEM)

        #expect(chain.count == 2)
        #expect(chain[0].publicKey == Certificate.PublicKey(key.publicKey))
        #expect(chain[1].publicKey.isValidSignature(chain[0].signature, for: chain[0]))
        #expect(root.publicKey.isValidSignature(chain[1].signature, for: chain[1]))
    }

    @Test func `it is valid from a day before until 820 days after`() {
        let seconds = Double(Sample.now.milliseconds) / 1000
        let lead = seconds - chain[0].notValidBefore.timeIntervalSince1970
        let life = chain[0].notValidAfter.timeIntervalSince1970 - seconds

        #expect((86_400..<86_402).contains(lead))
        #expect((820 * 86_400 - 2..<820 * 86_400 + 1).contains(life))
    }

    @Test func `its key signs no purchase`() throws {
        let der = try chain.map { certificate in
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        }
        let signer = JWSSigner(
            key: try P256.Signing.PrivateKey(pemRepresentation: made.keyPEM),
            chain: der + [try Sample.authority().root])
        let compact = try signer.sign(Sample.transaction())

        #expect(throws: VerificationFailure.self) {
            try Sample.verifier().verify(compact, now: nil)
        }
    }

    @Test func `each has a key of its own`() throws {
        let again = try Sample.authority().serverCertificate(
            for: .loopback, .sandbox, now: Sample.now)

        #expect(again.keyPEM != made.keyPEM)
    }
}
