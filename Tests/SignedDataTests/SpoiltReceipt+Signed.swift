// SPDX-License-Identifier: Apache-2.0

import Commerce
import SwiftASN1

@testable import SignedData

extension SpoiltReceipt {
    /// Our own key signed these; nothing is wrong but what the name says.
    static let wellSigned = wellSignedEnvelopes + wellSignedContents

    private static let wellSignedEnvelopes = [
        SpoiltReceipt("two signers", .malformed) { try signers { $0 + $0 } },
        SpoiltReceipt("no signer", .malformed) { try signers { _ in [] } },
        SpoiltReceipt("signed attributes", .malformed) {
            try signers { signer in
                // After the digest's algorithm, before the signature's.
                let digest = Tamper.element(
                    0x30, [0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0])
                guard let at = signer.firstRange(of: digest)?.upperBound else { return signer }
                let body = Array(signer[4..<at]) + [0xA0, 2, 0x31, 0] + Array(signer[at...])
                return Tamper.element(0x30, body)
            }
        },
        SpoiltReceipt("another algorithm for the signature", .algorithm) {
            // rsaEncryption becomes sha1WithRSAEncryption, over SHA-256.
            try signers { signer in
                let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]
                guard let at = signer.firstRange(of: rsa) else { return signer }
                var changed = signer
                changed[at.upperBound - 1] = 5
                return changed
            }
        },
        SpoiltReceipt("another serial number for the signer", .chain) {
            try signers { signer in
                var changed = signer
                // SEQUENCE, version, then the issuer and the serial number in a SEQUENCE.
                let good = try ReceiptEnvelope(Sample.receipt()).signer.serial
                guard let at = signer.firstRange(of: good) else { return signer }
                changed[at.upperBound - 1] ^= 1
                return changed
            }
        },
        SpoiltReceipt("a length longer than it must be", .malformed) {
            // 30 82 xx xx becomes 30 83 00 xx xx.
            let good = try Sample.receipt()
            return [0x30, 0x83, 0] + good[2...]
        },
        SpoiltReceipt("well signed, and too long", .malformed) {
            let value = [UInt8](repeating: 1, count: SignedDataLimits.receiptBytesMax)
            return try content(records: [record(99, value)])
        },
        SpoiltReceipt("a length of 2^64", .malformed) {
            [0x30, 0x88] + [UInt8](repeating: 0xFF, count: 8) + (try Sample.receipt())
        },
        SpoiltReceipt("zeros after the end", .malformed) {
            try Sample.receipt() + [UInt8](repeating: 0, count: 16)
        },
    ]

    private static let wellSignedContents = [
        SpoiltReceipt("a purchase's set inside a set", .malformed) {
            try content(records: [record(17, Tamper.element(0x31, Tamper.element(0x31, [])))])
        },
        SpoiltReceipt("a thousand sets inside each other", .malformed) {
            let nested = (0..<1000).reduce([]) { inner, _ in Tamper.element(0x31, inner) }
            return try content(records: [record(17, nested)])
        },
        SpoiltReceipt("an attribute's number with a zero in front", .malformed) {
            try content(records: [[0x30, 9, 2, 2, 0, 99, 2, 1, 1, 4, 0]])
        },
        SpoiltReceipt("an attribute of indefinite length", .malformed) {
            try content(records: [[0x30, 0x80, 2, 1, 99, 2, 1, 1, 4, 0, 0, 0]])
        },
        SpoiltReceipt("an attribute whose length is longer than it must be", .malformed) {
            try content(records: [[0x30, 0x81, 8, 2, 1, 99, 2, 1, 1, 4, 0]])
        },
        SpoiltReceipt("an attribute that says it is longer than the receipt", .malformed) {
            try content(records: [[0x30, 0x7F, 2, 1, 99, 2, 1, 1, 4, 0]])
        },
        SpoiltReceipt("an attribute without a value", .malformed) {
            try content(records: [[0x30, 6, 2, 1, 99, 2, 1, 1]])
        },
        SpoiltReceipt("an attribute of four parts", .malformed) {
            try content(records: [[0x30, 10, 2, 1, 99, 2, 1, 1, 4, 0, 5, 0]])
        },
        SpoiltReceipt("a bomb of attributes", .malformed) {
            let one: [UInt8] = [0x30, 8, 2, 1, 99, 2, 1, 1, 4, 0]
            return try content(
                records: Array(repeating: one, count: SignedDataLimits.attributesMax + 1))
        },
        SpoiltReceipt("a number beyond 64 bits", .malformed) {
            try content(
                records: [record(1, Tamper.element(0x02, [1] + [UInt8](repeating: 0, count: 9)))])
        },
        SpoiltReceipt("wrapped twice", .malformed) {
            try signedContent { Tamper.element(0x04, Tamper.element(0x04, $0)) }
        },
        SpoiltReceipt("bytes after the content", .malformed) { try signedContent { $0 + [5, 0] } },
        SpoiltReceipt("another app's number", .appID) {
            try header { $0.appItemID = 7 }
        },
        SpoiltReceipt("made before all certificates", .notYetValid) {
            try header { $0.creationDate = Timestamp(milliseconds: 946_684_799_000) }
        },
        SpoiltReceipt("made after all certificates", .expired) {
            try header { $0.creationDate = Timestamp(milliseconds: 4_102_444_800_000) }
        },
    ]

    /// A receipt whose signer information is another, as its bytes.
    private static func signers(_ change: ([UInt8]) throws -> [UInt8]) throws -> [UInt8] {
        let good = try Sample.receipt()
        let envelope = try DER.parse(good)
        var parts = try children(children(children(envelope)[1])[0]).map { Array($0.encodedBytes) }
        let last = try children(DER.parse(parts[parts.count - 1]))[0]
        parts[parts.count - 1] = Tamper.element(0x31, try change(Array(last.encodedBytes)))
        let signedData = Tamper.element(0x30, parts.flatMap { $0 })
        let oid = try Array(children(envelope)[0].encodedBytes)
        return Tamper.element(0x30, oid + Tamper.element(0xA0, signedData))
    }

    private static func children(_ node: ASN1Node) throws -> [ASN1Node] {
        guard case .constructed(let nodes) = node.content else { return [] }
        return Array(nodes)
    }

    private static func content(records: [[UInt8]]) throws -> [UInt8] {
        try Sample.authority().receipts.sign(Sample.header(), records: records)
    }

    /// Other content, signed by our key.
    private static func signedContent(_ change: ([UInt8]) -> [UInt8]) throws -> [UInt8] {
        let good = try ReceiptEnvelope(Sample.receipt())
        let octets = change(good.content)
        return try ReceiptAttribute.der(
            ReceiptEnvelope(
                digest: good.digest, content: octets, certificates: good.certificates,
                signer: good.signer,
                signature: good.digest.sign(octets, Sample.receiptKey())))
    }
}
