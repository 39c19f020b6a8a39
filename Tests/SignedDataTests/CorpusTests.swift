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
            if refusal == nil { verified += 1 }
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

    private static func file(_ entry: Entry) throws -> [UInt8] {
        Array(try Data(contentsOf: #require(folder).appendingPathComponent(entry.file)))
    }

    private struct Dated: Decodable, Sendable {
        let signedDate: Timestamp?
        let environment: String?
    }
}
