// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport
import Testing

@testable import SignedData

/// One thing wrong with a receipt, and the rule that must say so.
struct SpoiltReceipt: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: VerificationFailure.Code
    let make: @Sendable () throws -> [UInt8]

    init(
        _ name: String, _ code: VerificationFailure.Code,
        _ make: @escaping @Sendable () throws -> [UInt8]
    ) {
        testDescription = name
        self.code = code
        self.make = make
    }

    /// The sample receipt's envelope with parts replaced, and written again.
    static func envelope(
        digest: ReceiptDigest? = nil, content: ((inout [UInt8]) -> Void)? = nil,
        certificates: (([[UInt8]]) throws -> [[UInt8]])? = nil,
        signature: ((inout [UInt8]) -> Void)? = nil
    ) throws -> [UInt8] {
        let good = try ReceiptEnvelope(Sample.receipt())
        var (octets, signed) = (good.content, good.signature)
        content?(&octets)
        signature?(&signed)
        return try ReceiptAttribute.der(
            ReceiptEnvelope(
                digest: digest ?? good.digest, content: octets,
                certificates: certificates?(good.certificates) ?? good.certificates,
                signer: good.signer, signature: signed))
    }

    static func header(_ change: (inout ReceiptHeader) -> Void) throws -> [UInt8] {
        var header = Sample.header()
        change(&header)
        return try Sample.authority().receipts.sign(header, records: [])
    }

    static func records(_ records: [UInt8]...) throws -> [UInt8] {
        try Sample.authority().receipts.sign(Sample.header(), records: records)
    }

    static func record(_ type: Int, _ value: [UInt8]) throws -> [UInt8] {
        // INTEGERs of these types fit two bytes.
        let integer = type < 128 ? [UInt8(type)] : [UInt8(type >> 8), UInt8(type & 255)]
        return Tamper.element(
            0x30, [0x02, UInt8(integer.count)] + integer + [2, 1, 1] + Tamper.element(0x04, value))
    }

    static let all = envelopes + chains + signatures + contents + wellSigned

    static let envelopes = [
        SpoiltReceipt("nothing", .malformed) { [] },
        SpoiltReceipt("one byte", .malformed) { [0x30] },
        SpoiltReceipt("an empty sequence", .malformed) { [0x30, 0x00] },
        SpoiltReceipt("cut short", .malformed) { try Sample.receipt().dropLast() },
        SpoiltReceipt("a byte too many", .malformed) { try Sample.receipt() + [0] },
        SpoiltReceipt("indefinite length", .malformed) {
            try [0x30, 0x80] + Sample.receipt().dropFirst(4) + [0, 0]
        },
        SpoiltReceipt("Base64 instead of bytes", .malformed) {
            Array(Base64.encode(try Sample.receipt()).utf8)
        },
        SpoiltReceipt("a certificate instead", .malformed) { try Sample.authority().root },
        SpoiltReceipt("too large", .malformed) {
            [UInt8](repeating: 0x30, count: SignedDataLimits.receiptBytesMax + 1)
        },
        SpoiltReceipt("deeply nested", .malformed) {
            (0..<5000).reduce([]) { inner, _ in Tamper.element(0x30, inner) }
        },
        SpoiltReceipt("a hundred thousand parts", .malformed) {
            Tamper.element(0x30, (0..<100_000).flatMap { _ in [0x05, 0x00] as [UInt8] })
        },
        SpoiltReceipt("an unknown digest", .algorithm) {
            // The last byte of SHA-256's identifier names SHA-384 when it is 2.
            var bytes = try Sample.receipt()
            let oid: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
            for at in bytes.indices.dropLast(8) where bytes[at..<(at + 9)].elementsEqual(oid) {
                bytes[at + 8] = 2
            }
            return bytes
        },
    ]

    static let chains = [
        SpoiltReceipt("a root nobody trusts", .root) {
            try Sample.receipt(Sample.foreignAuthority())
        },
        SpoiltReceipt("the leaf alone", .chainLength) {
            try envelope(certificates: { [$0[0]] })
        },
        SpoiltReceipt("no root", .chainLength) { try envelope(certificates: { $0.dropLast() }) },
        SpoiltReceipt("four certificates", .chainLength) {
            try envelope(certificates: { $0 + [$0[2]] })
        },
        SpoiltReceipt("the leaf last", .root) {
            try envelope(certificates: { $0.reversed() })
        },
        SpoiltReceipt("the leaf for transactions", .chain) {
            let leaf = try Tamper.certificates(SpoiltJWS.good())[0]
            return try envelope(certificates: { [Base64.decode(leaf.utf8) ?? [], $0[1], $0[2]] })
        },
    ]

    static let signatures = [
        SpoiltReceipt("a flipped bit in the content", .signature) {
            try envelope(content: { $0[$0.count / 2] ^= 1 })
        },
        SpoiltReceipt("a flipped bit in the signature", .signature) {
            try envelope(signature: { $0[100] ^= 1 })
        },
        SpoiltReceipt("another digest than signed", .signature) { try envelope(digest: .sha1) },
        SpoiltReceipt("no signature", .signature) { try envelope(signature: { $0 = [] }) },
        SpoiltReceipt("an endless signature", .signature) {
            try envelope(signature: { $0 = [UInt8](repeating: 1, count: 100_000) })
        },
        SpoiltReceipt("a record added", .signature) {
            let record = Sample.purchase(9).encoded()
            return try envelope(content: { octets in
                let old = Array(octets.dropFirst(4))
                octets = Tamper.element(0x31, old + record)
            })
        },
    ]

    static let contents = [
        SpoiltReceipt("two bundle ids", .malformed) {
            try records(record(2, Tamper.element(0x0C, Array("com.example".utf8))))
        },
        SpoiltReceipt("a record that is no purchase", .malformed) {
            try records(record(17, [1, 2, 3]))
        },
        SpoiltReceipt("a purchase of no product", .malformed) {
            try records(record(17, Tamper.element(0x31, [])))
        },
        SpoiltReceipt("a date that is none", .malformed) {
            try records(record(21, Tamper.element(0x16, Array("tomorrow".utf8))))
        },
        SpoiltReceipt("created in 1999", .notYetValid) {
            try header { $0.creationDate = Timestamp(milliseconds: 946_684_799_000) }
        },
        SpoiltReceipt("created in 2100", .expired) {
            try header { $0.creationDate = Timestamp(milliseconds: 4_102_444_800_000) }
        },
        SpoiltReceipt("created in the future", .signedInFuture) {
            try header { $0.creationDate = Sample.now.adding(seconds: 61) }
        },
        SpoiltReceipt("another app's", .bundleID) { try header { $0.bundleID = "com.example" } },
        SpoiltReceipt("another environment's", .environment) {
            try header { $0.environment = "Production" }
        },
        SpoiltReceipt("another device's", .device) { try header { $0.device = [1, 2, 3] } },
    ]
}

@Suite struct ReceiptRefusalTests {
    @Test(arguments: SpoiltReceipt.all)
    func `a spoilt receipt is refused by its rule`(spoilt: SpoiltReceipt) throws {
        let bytes = try spoilt.make()

        let refusal = try verify(bytes)

        #expect(refusal?.code == spoilt.code, "\(refusal.map { "\($0)" } ?? "accepted")")
    }

    @Test func `a receipt cut anywhere is refused`() throws {
        let good = try Sample.receipt()

        for length in stride(from: 0, to: good.count, by: 97) {
            #expect(try verify(Array(good.prefix(length)))?.code == .malformed)
        }
    }

    @Test func `random harm is refused and crashes nothing`() throws {
        let good = try Sample.receipt()
        var generator = SplitMix64(state: 13)

        for _ in 0..<300 {
            let bytes = Mutation.of(good, using: &generator)
            guard bytes != good else { continue }
            #expect(try verify(bytes) != nil)
        }
    }

    @Test func `random content under a good signature crashes nothing`() throws {
        let good = try ReceiptEnvelope(Sample.receipt()).content
        var generator = SplitMix64(state: 17)

        // Whatever is read, is read without a crash; most of it is refused.
        var refusals = 0
        for _ in 0..<2000 {
            let bytes = Mutation.of(good, using: &generator)
            refusals += refusal { try AppReceipt(content: bytes) } == nil ? 0 : 1
        }
        #expect(refusals > 1000)
    }

    private func verify(_ bytes: [UInt8]) throws -> VerificationFailure? {
        let verifier = try Sample.receiptVerifier()
        return refusal {
            try verifier.verify(
                bytes, bundleID: Sample.bundleID, appID: 0, environment: "ProductionSandbox",
                device: Sample.device, now: Sample.now)
        }
    }
}

/// Counting the values of DER without parsing it.
@Suite struct ValueCountTests {
    @Test func `values are counted where they are, and what is malformed ends the count`() throws {
        let none: [UInt8] = [0x05, 0x00]
        let nested = Tamper.element(0x30, Tamper.element(0x31, none + none))
        let octets = Tamper.element(0x04, none + none + none)
        for (bytes, count) in [
            ([], 0), (none, 1), (none + none, 2), (nested, 4), (octets, 1),
            // A tag of two bytes, and a length of two.
            ([0x1F, 0x21, 0x01, 0x00], 1),
            (Tamper.element(0x04, [UInt8](repeating: 0, count: 300)) + none, 2),
            // Without a length, with one that is too long, and longer than the rest.
            ([0x30], 1), ([0x30, 0x85, 1, 1, 1, 1, 1] + none + none, 1),
            ([0x04, 0x84, 0x7F, 0xFF, 0xFF, 0xFF] + none, 1),
        ] as [([UInt8], Int)] {
            #expect(!ValueCount.exceeds(count, in: bytes), "\(bytes.prefix(8))")
            #expect(count == 0 || ValueCount.exceeds(count - 1, in: bytes), "\(bytes.prefix(8))")
        }
        let receipt = try Sample.receipt()
        #expect(!ValueCount.exceeds(SignedDataLimits.receiptNodesMax / 10, in: receipt))
    }
}
