// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import FuzzEntries
import TestSupport
import Testing

@testable import SignedData

/// The fuzzers' corpus, and harm done to it, through the fuzzers' own entries.
@Suite(.unforgiven) struct FuzzCorpusTests {
    private static func folder(_ entry: FuzzEntry) -> URL {
        Command.packageRoot.appendingPathComponent("Fuzz/Corpus/\(entry.rawValue)")
    }

    private static func inputs(_ entry: FuzzEntry) throws -> [[UInt8]] {
        try FileManager.default.contentsOfDirectory(
            at: folder(entry), includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }.map { Array(try Data(contentsOf: $0)) }
    }

    @Test(arguments: FuzzEntry.allCases)
    func `the corpus crashes no entry, nor does harm to it`(entry: FuzzEntry) throws {
        try Self.writeWhereAsked(entry)
        let inputs = try Self.inputs(entry)
        #expect(!inputs.isEmpty)
        var generator = SplitMix64(state: 23)

        for input in inputs {
            entry.feed(input)
            for _ in 0..<Self.harms { entry.feed(Mutation.of(input, using: &generator)) }
        }
    }

    /// How often each input is harmed. SHOPKEEPER_FUZZ_HARMS says more, for
    /// where there is no libFuzzer.
    private static let harms =
        ProcessInfo.processInfo.environment["SHOPKEEPER_FUZZ_HARMS"].flatMap { Int($0) } ?? 20

    /// SHOPKEEPER_WRITE_FUZZ_CORPUS=1 makes the inputs anew from what we sign.
    private static func writeWhereAsked(_ entry: FuzzEntry) throws {
        guard ProcessInfo.processInfo.environment["SHOPKEEPER_WRITE_FUZZ_CORPUS"] != nil else {
            return
        }
        for (name, bytes) in try made(entry) {
            try Data(bytes).write(to: folder(entry).appendingPathComponent(name))
        }
    }

    private static func made(_ entry: FuzzEntry) throws -> [String: [UInt8]] {
        let authority = try Sample.authority()
        switch entry {
        case .jws:
            let notification = Array("{\"data\":{\"appAppleId\":7},\"signedDate\":1}".utf8)
            return [
                "transaction.jws": Array(try SpoiltJWS.good().utf8),
                "notification.jws": Array(
                    try authority.transactions.sign(payload: notification).utf8),
                "kid.jws": Array(try Sample.sign(header: "{\"alg\":\"ES256\"}").utf8),
            ]
        case .receipt:
            let receipt = try Sample.receipt()
            return [
                "receipt.der": receipt, "sha1.der": try Sample.receipt(digest: .sha1),
                "octets.der": try ReceiptEnvelope(receipt).content,
                "indefinite.ber": Ber.indefinite(receipt),
            ]
        case .storekit, .overlay, .archive, .status: return [:]
        case .certificate:
            let chain = try ReceiptEnvelope(Sample.receipt()).certificates
            return [
                "leaf.der": chain[0], "intermediate.der": chain[1], "root.der": chain[2],
                "root.pem": Array(authority.rootPEM.utf8),
            ]
        }
    }
}

/// DER made into BER as Xcode writes it.
enum Ber {
    /// The outermost length made indefinite.
    static func indefinite(_ der: [UInt8]) -> [UInt8] {
        // A receipt's length takes two bytes.
        [0x30, 0x80] + der.dropFirst(4) + [0, 0]
    }
}
