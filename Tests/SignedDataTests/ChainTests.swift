// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SwiftASN1
import Testing
import X509
import _CryptoExtras

@testable import SignedData

/// A chain to be issued: what a good authority makes, until it is changed.
struct ChainRecipe {
    struct Link {
        var constraints: BasicConstraints?
        var usage: KeyUsage?
        var marker: ASN1ObjectIdentifier?
        var markerIsCritical = false
        var others: [Certificate.Extension] = []
        var from: Int64 = 2000
        var until: Int64 = 2100
    }

    var root = Link(
        constraints: .isCertificateAuthority(maxPathLength: nil), usage: KeyUsage(keyCertSign: true)
    )
    var intermediate = Link(
        constraints: .isCertificateAuthority(maxPathLength: 0), usage: KeyUsage(keyCertSign: true),
        marker: MarkerExtension.intermediate)
    var leaf = Link(
        constraints: .notCertificateAuthority, usage: KeyUsage(digitalSignature: true),
        marker: MarkerExtension.leaf)
    var leafKey: Certificate.PublicKey?
    var intermediateSigner: P384.Signing.PrivateKey?
    var leafSigner: P384.Signing.PrivateKey?
    /// Whom the leaf and the intermediate name as their issuers.
    var leafIssuer = "int"
    var intermediateIssuer = "root"

    private static let keys = (
        root: P384.Signing.PrivateKey(), intermediate: P384.Signing.PrivateKey(),
        leaf: P256.Signing.PrivateKey()
    )

    /// Midnight of a year's first day.
    static func start(of year: Int64) throws -> Timestamp {
        try #require(Timestamp(iso8601: "\(year)-01-01T00:00:00Z"))
    }

    /// Signs `{}` with the leaf's key under a header with the chain.
    func sign() throws -> (compact: String, root: [UInt8]) {
        let chain = try chain()
        return (
            try JWSSigner(key: Self.keys.leaf, chain: chain).sign(payload: Array("{}".utf8)),
            chain[2]
        )
    }

    /// Signs under a chain that it has made, with the leaf's key.
    func signer(_ chain: [[UInt8]]) -> JWSSigner { JWSSigner(key: Self.keys.leaf, chain: chain) }

    /// A receipt under the chain. Its leaf must have been made for the key.
    func signReceipt(
        by key: _RSA.Signing.PrivateKey, dated: Timestamp = Sample.now, chain: [[UInt8]]? = nil
    ) throws -> [UInt8] {
        let chain = try chain ?? self.chain()
        var header = Sample.header()
        header.creationDate = dated
        return try ReceiptSigner(
            key: key, leaf: Certificate(derEncoded: chain[0]), chain: chain
        ).sign(header, records: [])
    }

    /// Leaf, intermediate, root: new ones each time.
    func chain() throws -> [[UInt8]] {
        let keys = Self.keys
        return try [
            issue(
                leaf, leafKey ?? .init(keys.leaf.publicKey), "leaf", leafIssuer,
                leafSigner ?? keys.intermediate),
            issue(
                intermediate, .init(keys.intermediate.publicKey), "int", intermediateIssuer,
                intermediateSigner ?? keys.root),
            issue(root, .init(keys.root.publicKey), "root", "root", keys.root),
        ]
    }

    private func issue(
        _ link: Link, _ key: Certificate.PublicKey, _ subject: String, _ issuer: String,
        _ signer: P384.Signing.PrivateKey
    ) throws -> [UInt8] {
        var extensions = Certificate.Extensions()
        if let constraints = link.constraints {
            try extensions.append(Critical(constraints).makeCertificateExtension())
        }
        if let usage = link.usage {
            try extensions.append(Critical(usage).makeCertificateExtension())
        }
        if let marker = link.marker {
            try extensions.append(
                Certificate.Extension(
                    oid: marker, critical: link.markerIsCritical, value: [5, 0]))
        }
        for other in link.others { try extensions.append(other) }
        let date = { (timestamp: Timestamp) in
            Date(timeIntervalSince1970: Double(timestamp.milliseconds) / 1000)
        }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: key,
            notValidBefore: date(Self.start(of: link.from)),
            notValidAfter: date(Self.start(of: link.until).adding(seconds: -1)),
            issuer: DistinguishedName { CommonName(issuer) },
            subject: DistinguishedName { CommonName(subject) },
            signatureAlgorithm: .ecdsaWithSHA384, extensions: extensions,
            issuerPrivateKey: .init(signer))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}

/// One change to a good chain, and the rule that must say so (nil: none).
struct ChangedChain: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: VerificationFailure.Code?
    let change: @Sendable (inout ChainRecipe) throws -> Void

    init(
        _ name: String, _ code: VerificationFailure.Code?,
        _ change: @escaping @Sendable (inout ChainRecipe) throws -> Void
    ) {
        testDescription = name
        self.code = code
        self.change = change
    }

    static let all = [
        ChangedChain("nothing changed", nil) { _ in },
        ChangedChain("no marker on the leaf", .purpose) { $0.leaf.marker = nil },
        ChangedChain("a critical marker on the leaf", .purpose) { $0.leaf.markerIsCritical = true },
        ChangedChain("no marker on the intermediate", .purpose) { $0.intermediate.marker = nil },
        ChangedChain("a critical marker on the intermediate", .purpose) {
            $0.intermediate.markerIsCritical = true
        },
        ChangedChain("the leaf's marker on the intermediate", .purpose) {
            $0.intermediate.marker = MarkerExtension.leaf
        },
        ChangedChain("an intermediate that is no authority", .purpose) {
            $0.intermediate.constraints = .notCertificateAuthority
        },
        ChangedChain("an intermediate without constraints", .purpose) {
            $0.intermediate.constraints = nil
        },
        ChangedChain("a root that is no authority", .purpose) {
            $0.root.constraints = .notCertificateAuthority
        },
        ChangedChain("a root with no room for an intermediate", .purpose) {
            $0.root.constraints = .isCertificateAuthority(maxPathLength: 0)
        },
        ChangedChain("a root with room for one", nil) {
            $0.root.constraints = .isCertificateAuthority(maxPathLength: 1)
        },
        ChangedChain("an intermediate that may not sign certificates", .purpose) {
            $0.intermediate.usage = KeyUsage(digitalSignature: true)
        },
        ChangedChain("an intermediate without usage", nil) { $0.intermediate.usage = nil },
        ChangedChain("a root without usage", nil) { $0.root.usage = nil },
        ChangedChain("a leaf that is an authority", .purpose) {
            $0.leaf.constraints = .isCertificateAuthority(maxPathLength: nil)
        },
        ChangedChain("a leaf that may not sign", .purpose) {
            $0.leaf.usage = KeyUsage(keyAgreement: true)
        },
        ChangedChain("a leaf without constraints and usage", nil) {
            $0.leaf.constraints = nil
            $0.leaf.usage = nil
        },
        ChangedChain("an unknown critical extension", .purpose) {
            $0.leaf.others = [
                Certificate.Extension(oid: [1, 2, 3, 4], critical: true, value: [5, 0])
            ]
        },
        ChangedChain("an unknown extension", nil) {
            $0.leaf.others = [
                Certificate.Extension(oid: [1, 2, 3, 4], critical: false, value: [5, 0])
            ]
        },
        ChangedChain("a leaf that names another issuer", .chain) { $0.leafIssuer = "other" },
        ChangedChain("an intermediate that names another issuer", .chain) {
            $0.intermediateIssuer = "other"
        },
        ChangedChain("a P-384 leaf", .purpose) {
            $0.leafKey = .init(P384.Signing.PrivateKey().publicKey)
        },
        ChangedChain("another P-256 key in the leaf", .signature) {
            $0.leafKey = .init(P256.Signing.PrivateKey().publicKey)
        },
        ChangedChain("an intermediate that the root did not sign", .chain) {
            $0.intermediateSigner = P384.Signing.PrivateKey()
        },
        ChangedChain("a leaf that the intermediate did not sign", .chain) {
            $0.leafSigner = P384.Signing.PrivateKey()
        },
        ChangedChain("a leaf until 2025", .expired) { $0.leaf.until = 2025 },
        ChangedChain("an intermediate until 2025", .expired) { $0.intermediate.until = 2025 },
        ChangedChain("a root until 2025", .expired) { $0.root.until = 2025 },
        ChangedChain("a leaf from 2026", .notYetValid) { $0.leaf.from = 2026 },
        ChangedChain("an intermediate from 2026", .notYetValid) { $0.intermediate.from = 2026 },
        ChangedChain("a root from 2026", .notYetValid) { $0.root.from = 2026 },
    ]
}

@Suite struct ChainTests {
    @Test(arguments: ChangedChain.all)
    func `each rule of the chain has its own refusal`(changed: ChangedChain) throws {
        var recipe = ChainRecipe()
        try changed.change(&recipe)
        let (compact, root) = try recipe.sign()

        // Sample.now lies in 2025.
        let refusal = refusal {
            try JWSVerifier(roots: [root]).verifyBytes(compact, at: Sample.now)
        }

        #expect(refusal?.code == changed.code, "\(refusal.map { "\($0)" } ?? "accepted")")
    }

    @Test func `one chain is good for one signed date and not for another`() throws {
        var recipe = ChainRecipe()
        recipe.leaf.from = 2020
        recipe.leaf.until = 2022
        let (compact, root) = try recipe.sign()
        let verifier = JWSVerifier(roots: [root])

        for (year, code) in [
            (2019, .notYetValid), (2020, nil), (2021, nil), (2022, .expired), (2021, nil),
        ] as [(Int64, VerificationFailure.Code?)] {
            let date = try ChainRecipe.start(of: year)
            #expect(refusal { try verifier.verifyBytes(compact, at: date) }?.code == code)
        }
        let lastMoment = try ChainRecipe.start(of: 2022).adding(milliseconds: -1)
        #expect(refusal { try verifier.verifyBytes(compact, at: lastMoment) } == nil)
    }

    @Test func `only chains whose leaf signed something are remembered`() throws {
        let verifier = JWSVerifier(roots: [try Sample.authority().root])
        let good = try SpoiltJWS.good()
        let spoilt = Tamper.change(good, segment: 1) { $0[0] ^= 1 }

        _ = refusal { try verifier.verifyBytes(spoilt, at: Sample.now) }
        #expect(verifier.provenCount == 0)
        for _ in 0..<3 { _ = try verifier.verifyBytes(good, at: Sample.now) }
        #expect(verifier.provenCount == 1)
    }

    @Test func `a verifier that trusts two roots verifies both, cold and warm`() throws {
        let stores = [try Sample.authority(), try Sample.foreignAuthority()]
        let roots = stores.map(\.root)
        let (receipts, payloads) = (ReceiptVerifier(roots: roots), JWSVerifier(roots: roots))

        for _ in 0..<2 {
            for store in stores {
                let receipt = try Sample.receipt(store)
                let compact = try store.transactions.sign(payload: [1])
                #expect(throws: Never.self) { try receipts.verify(receipt, bundleID: nil) }
                #expect(throws: Never.self) { try payloads.verifyBytes(compact, at: Sample.now) }
            }
        }

        #expect(receipts.provenCount == 2)
        #expect(payloads.provenCount == 2)
    }

    @Test func `callers at the same moment remember one chain`() throws {
        let roots = [try Sample.authority().root]
        let (receipt, compact) = (try Sample.receipt(), try SpoiltJWS.good())
        for _ in 0..<20 {
            let (receipts, payloads) = (ReceiptVerifier(roots: roots), JWSVerifier(roots: roots))
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                #expect(throws: Never.self) { try receipts.verify(receipt, bundleID: nil) }
                #expect(throws: Never.self) { try payloads.verifyBytes(compact, at: Sample.now) }
            }
            #expect(receipts.provenCount == 1)
            #expect(payloads.provenCount == 1)
        }
    }

    @Test func `the memory of chains is bounded`() throws {
        let authority = try Sample.authority()
        let pem = try #require(authority.files["transactions.key.pem"])
        let key = try P256.Signing.PrivateKey(
            pemRepresentation: String(decoding: pem, as: UTF8.self))
        let header = Tamper.header(certificates: try Tamper.certificates(SpoiltJWS.good()))
        let verifier = JWSVerifier(roots: [authority.root])

        for number in 0..<(SignedDataLimits.provenChainsMax + 4) {
            let json = "\(header.dropLast()),\"kid\":\"\(number)\"}"
            let compact = try CompactJWS.sign(
                prefix: JWSPrefix(header: Array(json.utf8)), payload: [1],
                by: key)
            #expect(try verifier.verifyBytes(compact, at: Sample.now) == [1])
        }

        #expect(verifier.provenCount == SignedDataLimits.provenChainsMax)
    }

    @Test func `the memory of chains under receipts is bounded`() throws {
        var recipe = ChainRecipe()
        recipe.leafKey = .init(try Sample.receiptKey().publicKey)
        let issuers = try recipe.chain().dropFirst()
        let verifier = ReceiptVerifier(roots: [try #require(issuers.last)])

        for _ in 0..<(SignedDataLimits.provenChainsMax + 4) {
            let chain = [try recipe.chain()[0]] + issuers
            let receipt = try recipe.signReceipt(by: Sample.receiptKey(), chain: chain)
            #expect(throws: Never.self) { try verifier.verify(receipt, bundleID: nil) }
        }

        #expect(verifier.provenCount == SignedDataLimits.provenChainsMax)
    }
}
