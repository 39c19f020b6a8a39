// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Testing

@testable import SignedData

/// Genuine receipts and signed data, read from a folder that is no part of
/// this repository. SHOPKEEPER_CORPUS names it; without it nothing is read,
/// and the test says so.
@Suite struct CorpusTests {
    private static let folder = ProcessInfo.processInfo.environment["SHOPKEEPER_CORPUS"]
        .map { URL(fileURLWithPath: $0).appendingPathComponent("receipts") }

    /// One line of the corpus's table of contents.
    struct Entry: CustomTestStringConvertible, Sendable {
        let file: String
        let kind: String
        let remark: String

        var testDescription: String { file }
    }

    private static func entries() throws -> [Entry] {
        guard let folder else {
            print("corpus: a test is skipped, for SHOPKEEPER_CORPUS names no folder")
            return []
        }
        let index = try String(
            contentsOf: folder.appendingPathComponent("index.tsv"), encoding: .utf8)
        return index.split(separator: "\n").dropFirst().map { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            return Entry(
                file: String(columns[0]), kind: String(columns[1]),
                remark: String(columns.last ?? ""))
        }
    }

    private static func bytes(_ entry: Entry) throws -> [UInt8] {
        let folder = try #require(folder)
        let raw = try Data(contentsOf: folder.appendingPathComponent(entry.file))
        let text = String(decoding: raw, as: UTF8.self).filter { !$0.isWhitespace }
        return raw.first == 0x30 ? Array(raw) : Base64.decode(text.utf8) ?? Array(raw)
    }

    @Test func `genuine receipts verify under the root that they carry`() throws {
        var genuine = 0
        for entry in try Self.entries() where entry.kind == "pkcs7" {
            let bytes = try Self.bytes(entry)
            guard entry.remark.contains("real, Apple-signed") else {
                // Indefinite lengths: Xcode's, and others that are made like them.
                let refusal = refusal { try ReceiptEnvelope(bytes) }
                #expect(refusal?.code == .malformed, "\(entry.file)")
                continue
            }
            let root = try #require(ReceiptEnvelope(bytes).certificates.last)
            let receipt = try ReceiptVerifier(roots: [root]).verify(bytes, bundleID: nil)
            genuine += 1
            // One of those that Apple publishes, not any root that the receipt brings along.
            let fingerprint = CertificateAuthority.fingerprint(of: root)
            #expect(CertificateFacts.appleRoots[fingerprint] != nil, "\(entry.file)")
            let bundleID = try #require(receipt.bundleID)
            #expect(entry.remark.contains("bundle=\(bundleID),"), "\(entry.file)")
            #expect(entry.remark.contains("in_app=\(receipt.purchases.count) "), "\(entry.file)")
            #expect(entry.remark.contains("created=\(receipt.creationDate),"), "\(entry.file)")
            let environment = try #require(receipt.environment)
            #expect(entry.remark.contains("receipt_type=\(environment),"), "\(entry.file)")
            let version = try #require(receipt.appVersion)
            #expect(entry.remark.contains("version=\(version),"), "\(entry.file)")
            let expiring = receipt.purchases.count { $0.expiresDate != nil }
            #expect(entry.remark.contains("(with expires: \(expiring))"), "\(entry.file)")
            #expect(receipt.deviceHash.count == 20)
            #expect(receipt.purchases.allSatisfy { $0.unknown.allSatisfy { $0.type > 1708 } })
        }
        #expect(Self.folder == nil || genuine > 5)
        if Self.folder != nil { print("corpus: \(genuine) genuine receipts verified") }
    }

    @Test func `signed data of others verifies under the root that it carries`() throws {
        var verified = 0
        for entry in try Self.entries() where entry.kind == "JWS" {
            let folder = try #require(Self.folder)
            let text = try String(
                contentsOf: folder.appendingPathComponent(entry.file), encoding: .utf8
            ).trimmingCharacters(in: .whitespacesAndNewlines)
            let certificates = try Tamper.certificates(text).map { Base64.decode($0.utf8) ?? [] }
            let verifier = JWSVerifier(roots: certificates.last.map { [$0] } ?? [])
            let refusal = refusal {
                try verifier.verify(text, as: Dated.self, signedDate: \.signedDate, now: nil)
            }
            print("corpus: \(entry.file): \(refusal.map { "\($0)" } ?? "verified")")
            if refusal == nil {
                verified += 1
                try Self.compare(payload: text, entry)
            }
            #expect(refusal == nil || certificates.count == 1 || entry.remark.contains("CN=-"))
        }
        #expect(Self.folder == nil || verified > 0)
    }

    @Test func `what Xcode signed verifies as Xcode's, and as nothing else`() throws {
        var count = 0
        for entry in try Self.entries() {
            if entry.kind == "pkcs7", entry.remark.contains("Xcode-signed") {
                let bytes = try Self.bytes(entry)
                let certificates = try ReceiptEnvelope(ber: bytes).certificates
                let receipt = try XcodeVerifier(certificates: certificates).verify(receipt: bytes)
                #expect(receipt.environment == "Xcode")
                let bundleID = try #require(receipt.bundleID)
                #expect(entry.remark.contains("bundle=\(bundleID),"), "\(entry.file)")
                #expect(entry.remark.contains("in_app=\(receipt.purchases.count) "))
                #expect(
                    refusal {
                        try ReceiptVerifier(roots: certificates).verify(bytes, bundleID: nil)
                    }
                        != nil)
                #expect(
                    refusal { try XcodeVerifier(certificates: []).verify(receipt: bytes) }?.code
                        == .root)
                count += 1
            } else if entry.kind == "JWS", entry.remark.contains("env=Xcode") {
                let text = String(decoding: try Self.file(entry), as: UTF8.self)
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                let roots = try Tamper.certificates(text).map { Base64.decode($0.utf8) ?? [] }
                let verified = try XcodeVerifier(certificates: roots).verify(
                    text, as: Dated.self, environment: \.environment, signedDate: \.signedDate)
                #expect(verified.payload.environment == "Xcode")
                #expect(
                    refusal { try JWSVerifier(roots: roots).verifyBytes(text, at: Sample.now) }?
                        .code == .chainLength)
                count += 1
            }
        }
        #expect(Self.folder == nil || count >= 5)
        if Self.folder != nil { print("corpus: \(count) of Xcode's verified") }
    }

    @Test func `receipts that stores never made are refused`() throws {
        for entry in try Self.entries()
        where entry.kind == "pkcs7" && entry.remark.contains("signed attrs yes") {
            let bytes = try Self.bytes(entry)
            #expect(refusal { try ReceiptEnvelope(bytes) }?.code == .malformed, "\(entry.file)")
        }
    }

    /// Merchants' records that hold a receipt, and where: found by looking, not by the index.
    @Test func `receipts inside of other people's records verify as what they are`() throws {
        var apple = 0
        var xcode = 0
        for entry in try Self.entries() where entry.file.hasSuffix(".json") {
            for text in try Self.longTexts(
                JSONSerialization.jsonObject(with: Data(Self.file(entry))))
            where text.hasPrefix("MI") && !entry.kind.hasPrefix("certificate chain") {
                let bytes = try #require(Base64.decode(text.utf8))
                if let envelope = try? ReceiptEnvelope(bytes) {
                    let root = try #require(envelope.certificates.last)
                    let fingerprint = CertificateAuthority.fingerprint(of: root)
                    #expect(CertificateFacts.appleRoots[fingerprint] != nil, "\(entry.file)")
                    let receipt = try ReceiptVerifier(roots: [root]).verify(bytes, bundleID: nil)
                    #expect(receipt.environment == "ProductionSandbox")
                    apple += 1
                } else {
                    let certificates = try ReceiptEnvelope(ber: bytes).certificates
                    let receipt = try XcodeVerifier(certificates: certificates)
                        .verify(receipt: bytes)
                    #expect(receipt.environment == "Xcode")
                    xcode += 1
                }
            }
        }
        #expect(Self.folder == nil || apple > 0)
        if Self.folder != nil {
            print("corpus: \(apple) embedded receipts of Apple's verified, \(xcode) of Xcode's")
        }
    }

    @Test func `the chain under Apple's signed data is proven, for its own purpose`() throws {
        for entry in try Self.entries() where entry.kind.hasPrefix("certificate chain") {
            let chain = try JSONDecoder().decode([String].self, from: Data(Self.file(entry)))
                .map { try #require(Base64.decode($0.utf8)) }
            #expect(chain.count == 3)
            let root = try #require(chain.last)
            #expect(CertificateFacts.appleRoots[CertificateAuthority.fingerprint(of: root)] != nil)
            let proven = try CertificateChain.prove(chain, roots: TrustedRoots([root]))
            #expect(proven.validity.first < proven.validity.last)
            let spoilt = [chain[1], chain[0], root]
            #expect(
                refusal { try CertificateChain.prove(spoilt, roots: TrustedRoots([root])) }?.code
                    == .chain)
        }
    }

    /// The index tells the environment and the names of every field signed.
    private static func compare(payload text: String, _ entry: Entry) throws {
        let part = text.split(separator: ".")[1]
        let payload = try #require(Base64.decodeURL(Array(part.utf8)[...]))
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
        let keys = object.keys.sorted().joined(separator: ",")
        #expect(entry.remark.contains("payload keys=\(keys);"), "\(entry.file)")
        let environment =
            object["environment"] as? String
            ?? (object["data"] as? [String: Any])?["environment"] as? String ?? "None"
        #expect(entry.remark.contains("env=\(environment),"), "\(entry.file)")
    }

    private static func longTexts(_ node: Any) -> [String] {
        switch node {
        case let object as [String: Any]: object.values.flatMap(longTexts)
        case let list as [Any]: list.flatMap(longTexts)
        case let text as String where text.count > 500: [text]
        default: []
        }
    }

    private static func file(_ entry: Entry) throws -> [UInt8] {
        Array(try Data(contentsOf: #require(folder).appendingPathComponent(entry.file)))
    }

    private struct Dated: Decodable, Sendable {
        let signedDate: Timestamp?
        let environment: String?
    }
}
