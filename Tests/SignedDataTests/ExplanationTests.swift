// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import SwiftASN1
import TestSupport
import Testing

@testable import SignedData

@Suite struct ExplanationTests {
    private func failed(_ explanation: Explanation) -> [VerificationRule] {
        explanation.verdicts.compactMap { rule, verdict in
            if case .failed = verdict { rule } else { nil }
        }
    }

    @Test func `all rules pass on what we signed`() throws {
        let root = try Sample.authority().root

        let transaction = Explanation(
            signedJSON: try SpoiltJWS.good(), roots: { _ in [root] }, now: Sample.now,
            wall: Sample.now)
        let receipt = Explanation(
            receipt: try Sample.receipt(), roots: { _ in [root] }, now: Sample.now)

        #expect(transaction.isValid)
        #expect(transaction.certificates.count == 3)
        #expect(transaction.payload != nil)
        #expect(receipt.isValid)
        #expect(receipt.receipt?.bundleID == Sample.bundleID)
        let facts = try #require(CertificateFacts(der: receipt.certificates[2]))
        #expect(facts.fingerprint == (try Sample.authority().rootFingerprint))
    }

    @Test func `every broken rule is reported, not only the first`() throws {
        let spoilt = Tamper.change(
            try SpoiltJWS.signed { $0.signedDate = Timestamp(milliseconds: 4_102_444_800_000) },
            segment: 2
        ) { $0[0] ^= 1 }

        let explanation = Explanation(
            signedJSON: spoilt, roots: { _ in [] }, now: Sample.now, wall: Sample.now)

        #expect(failed(explanation) == [.root, .signature, .expired, .signedInFuture])
        #expect(!explanation.verdicts.contains { $0.verdict == .notJudged })
    }

    @Test func `what cannot be read is not judged any further`() throws {
        let explanation = Explanation(
            signedJSON: Tamper.header(try SpoiltJWS.good(), "{"), roots: { _ in [] }, now: nil,
            wall: Sample.now)

        #expect(failed(explanation) == [.header])
        #expect(explanation.verdicts.last?.verdict == .notJudged)
    }

    @Test func `an app transaction of Xcode's is recognised by its receiptType`() throws {
        let certificates = try Tamper.certificates(SpoiltJWS.good())
        let compact = try Sample.sign(
            header: Tamper.header(certificates: [certificates[0]]),
            payload: Array(
                #"{"receiptType":"Xcode","receiptCreationDate":1760000000000}"#.utf8))
        let leaf = try #require(Base64.decode(certificates[0].utf8))

        let explanation = Explanation(
            signedJSON: compact, roots: { _ in [leaf] }, now: nil, wall: Sample.now)

        #expect(explanation.isXcode)
        #expect(explanation.isValid)
        #expect(explanation.official?.words.hasPrefix("INVALID_APP_IDENTIFIER in env") == true)
    }

    @Test(arguments: [1, 3], ["Xcode", "ProductionSandbox"])
    func `a receipt is Xcode's by its single certificate and its environment`(
        count: Int, environment: String
    ) throws {
        let good = try ReceiptEnvelope(
            Sample.authority().receipts.sign(
                Sample.header(environment: environment), records: []))
        let receipt = try ReceiptAttribute.der(
            ReceiptEnvelope(
                digest: good.digest, content: good.content,
                certificates: Array(good.certificates.prefix(count)), signer: good.signer,
                signature: good.signature))

        let explanation = Explanation(receipt: receipt, roots: { $0 }, now: nil)

        let isXcode = count == 1 && environment == "Xcode"
        #expect(explanation.isXcode == isXcode)
        #expect(explanation.isValid == (isXcode || count == 3))
        #expect(explanation.verdicts.contains { $0.rule == .environment } == isXcode)
    }

    @Test(arguments: [1, 3], ["Xcode", "Sandbox"])
    func `JSON is Xcode's by its single certificate and its environment`(
        count: Int, environment: String
    ) throws {
        let certificates = try Tamper.certificates(SpoiltJWS.good()).prefix(count)
        let compact = try Sample.sign(
            header: Tamper.header(certificates: Array(certificates)),
            payload: Array(
                #"{"environment":"\#(environment)","signedDate":1760000000000}"#.utf8))

        let explanation = Explanation(
            signedJSON: compact, roots: { $0 }, now: nil, wall: Sample.now)

        let isXcode = count == 1 && environment == "Xcode"
        #expect(explanation.isXcode == isXcode)
        #expect(explanation.isValid == (isXcode || count == 3))
        #expect(explanation.verdicts.contains { $0.rule == .environment } == isXcode)
    }

    @Test func `a receipt in BER shows its fields, whatever its signature`() throws {
        let der = try Sample.receipt()
        let ber = try BERReceipt.indefinite(der)
        let root = try Sample.authority().root

        let explanation = Explanation(receipt: ber, roots: { _ in [root] }, now: Sample.now)
        let attributed = Explanation(
            receipt: try BERReceipt.withAttributes(der), roots: { _ in [root] }, now: nil)

        #expect(ber[1] == 0x80)
        #expect(failed(explanation) == [.envelope])
        #expect(explanation.certificates.count == 3)
        #expect(explanation.receipt?.bundleID == Sample.bundleID)
        #expect(explanation.receipt?.purchases.count == 2)
        #expect(failed(attributed) == [.envelope])
        #expect(attributed.receipt?.purchases.count == 2)
        let inner = Explanation(
            receipt: try BERReceipt.withIndefiniteContent(der), roots: { _ in [root] }, now: nil)
        #expect(inner.receipt?.purchases.count == 2)
    }

    @Test func `real receipts show their fields`() throws {
        guard let paths = CorpusLocation.files(endingIn: ".der") else {
            print("skipped: 1 test of real receipts (SHOPKEEPER_CORPUS names no folder)")
            return
        }
        var shown = 0
        for path in paths where path.contains("__receipt") && !path.contains("root") {
            guard let data = FileManager.default.contents(atPath: path),
                ReceiptOutline([UInt8](data)) != nil
            else { continue }
            let explanation = Explanation(receipt: [UInt8](data), roots: { _ in [] }, now: nil)
            #expect(explanation.receipt != nil, "\(path)")
            #expect(!explanation.certificates.isEmpty, "\(path)")
            shown += 1
        }
        #expect(shown >= 4)
    }

    @Test func `nothing at all is explained without a crash`() {
        for text in ["", ".", "..", "a.b.c"] {
            let json = Explanation(
                signedJSON: text, roots: { _ in [] }, now: nil, wall: Sample.now)
            #expect(!json.isValid)
            let receipt = Explanation(receipt: Array(text.utf8), roots: { _ in [] }, now: nil)
            #expect(!receipt.isValid)
        }
    }
}

/// Receipts in forms that no store of ours writes.
private enum BERReceipt {
    /// The outermost five values with indefinite lengths, the octets in two pieces.
    static func indefinite(_ der: [UInt8]) throws -> [UInt8] {
        let envelope = try ReceiptEnvelope(der)
        let half = envelope.content.count / 2
        let octets =
            [0x24, 0x80] + Tamper.element(4, Array(envelope.content[..<half]))
            + Tamper.element(4, Array(envelope.content[half...])) + [0, 0]
        return try around(octets, der)
    }

    /// The receipt's own values, within the octets, with an indefinite length.
    static func withIndefiniteContent(_ der: [UInt8]) throws -> [UInt8] {
        let values = try children(ReceiptEnvelope(der).content).flatMap { $0 }
        return try around(Tamper.element(4, [0x31, 0x80] + values + [0, 0]), der)
    }

    /// A signer with signed attributes, as other libraries write them.
    static func withAttributes(_ der: [UInt8]) throws -> [UInt8] {
        let parts = try parts(der)
        var signer = try children(try children(parts[4])[0])
        signer.insert(Tamper.element(0xA0, Tamper.element(0x30, [0x05, 0x00])), at: 3)
        let signers = Tamper.element(0x31, Tamper.element(0x30, signer.flatMap { $0 }))
        return Tamper.element(
            0x30,
            try children(der)[0]
                + Tamper.element(
                    0xA0, Tamper.element(0x30, parts[0..<4].flatMap { $0 } + signers)))
    }

    private static func around(_ octets: [UInt8], _ der: [UInt8]) throws -> [UInt8] {
        let parts = try parts(der)
        let data = try children(parts[2])[0]
        let info = [0x30, 0x80] + data + [0xA0, 0x80] + octets + [0, 0, 0, 0]
        let signed = [0x30, 0x80] + parts[0] + parts[1] + info + parts[3] + parts[4] + [0, 0]
        return [0x30, 0x80] + (try children(der)[0]) + [0xA0, 0x80] + signed + [0, 0, 0, 0]
    }

    /// Version, digests, content, certificates, signers.
    private static func parts(_ der: [UInt8]) throws -> [[UInt8]] {
        try children(children(children(der)[1])[0])
    }

    private static func children(_ der: [UInt8]) throws -> [[UInt8]] {
        guard case .constructed(let nodes) = try DER.parse(der).content else { return [] }
        return nodes.map { Array($0.encodedBytes) }
    }
}
