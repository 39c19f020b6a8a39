// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SwiftASN1
import Testing
import X509

@testable import SignedData

@Suite struct CertificateAuthorityTests {
    @Test func `its files make the same authority again`() throws {
        let authority = try Sample.authority()

        let again = try CertificateAuthority(files: authority.files)

        #expect(again.files == authority.files)
        #expect(again.root == authority.root)
        let compact = try again.transactions.sign(Sample.transaction())
        #expect(throws: Never.self) { try Sample.verifier().verify(compact, now: nil) }
        let receipt = try Sample.receipt(again)
        #expect(throws: Never.self) {
            try Sample.receiptVerifier().verify(receipt, bundleID: nil)
        }
    }

    @Test(arguments: [
        "root.pem", "root.key.pem", "intermediate.pem", "intermediate.key.pem",
        "transactions.pem", "transactions.key.pem", "receipts.pem", "receipts.key.pem",
        "responder.pem", "responder.key.pem",
    ])
    func `a file missing or spoilt is named`(name: String) throws {
        var files = try Sample.authority().files
        #expect(files.count == 10)

        files[name] = nil
        // The root's key may lie in a safe.
        if name != "root.key.pem" {
            #expect(faultyFile { try CertificateAuthority(files: files) } == name)
        }
        files[name] = Array("-----BEGIN SOMETHING-----".utf8)
        #expect(faultyFile { try CertificateAuthority(files: files) } == name)
    }

    @Test(arguments: [
        "root.key.pem", "intermediate.key.pem", "transactions.key.pem", "receipts.key.pem",
        "responder.key.pem",
    ])
    func `a key of another authority is named`(name: String) throws {
        var files = try Sample.authority().files
        files[name] = try Sample.foreignAuthority().files[name]

        #expect(faultyFile { try CertificateAuthority(files: files) } == name)
    }

    @Test func `certificates of another authority are refused`() throws {
        var files = try Sample.authority().files
        for name in ["root.pem", "root.key.pem"] {
            files[name] = try Sample.foreignAuthority().files[name]
        }

        #expect(throws: VerificationFailure(.chain, "")) {
            try CertificateAuthority(files: files)
        }
    }

    @Test func `the root is returned in three forms`() throws {
        let authority = try Sample.authority()
        let certificate = try Certificate(pemEncoded: authority.rootPEM)

        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        #expect(serializer.serializedBytes == authority.root)
        #expect(
            authority.rootFingerprint
                == hexadecimal(SHA256.hash(data: authority.root)))
    }

    @Test(arguments: AuthorityKind.allCases)
    func `names show that the issuer is not Apple`(kind: AuthorityKind) throws {
        let authority =
            try kind == .sandbox ? Sample.authority() : Sample.productionAuthority()

        for name in ["root.pem", "intermediate.pem", "transactions.pem", "receipts.pem"] {
            let pem = String(decoding: try #require(authority.files[name]), as: UTF8.self)
            let subject = try Certificate(pemEncoded: pem).subject.description
            #expect(subject.contains("Shopkeeper \(kind == .sandbox ? "Sandbox" : "Production")"))
            #expect(subject.contains("not issued by Apple"))
        }
    }

    @Test func `certificates are valid from 2000 to 2099 and of the kinds promised`() throws {
        let files = try Sample.authority().files
        for (name, key) in [
            ("root.pem", "P384"), ("intermediate.pem", "P384"), ("transactions.pem", "P256"),
            ("receipts.pem", "RSA2048"),
        ] {
            let pem = String(decoding: try #require(files[name]), as: UTF8.self)
            let certificate = try Certificate(pemEncoded: pem)
            #expect(certificate.notValidBefore == Date(timeIntervalSince1970: 946_684_800))
            #expect(certificate.notValidAfter == Date(timeIntervalSince1970: 4_102_444_799))
            #expect(certificate.publicKey.description.hasPrefix(key))
        }
    }

    @Test func `two authorities share nothing`() throws {
        #expect(try Sample.authority().root != Sample.foreignAuthority().root)
        #expect(
            try Sample.authority().rootFingerprint != Sample.productionAuthority().rootFingerprint)
    }

    private func faultyFile(_ body: () throws -> CertificateAuthority) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? AuthorityFault)?.file
        }
    }
}
