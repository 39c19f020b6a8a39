// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import TestSupport
import Testing

@testable import SignedData

/// One thing wrong with a signed transaction, and the rule that must say so.
struct SpoiltJWS: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: VerificationFailure.Code
    let make: @Sendable () throws -> String

    init(
        _ name: String, _ code: VerificationFailure.Code,
        _ make: @escaping @Sendable () throws -> String
    ) {
        testDescription = name
        self.code = code
        self.make = make
    }

    static func good() throws -> String {
        try Sample.authority().transactions.sign(Sample.transaction())
    }

    static func signed(
        _ change: (inout JWSTransactionDecodedPayload) -> Void
    ) throws -> String {
        var payload = Sample.transaction()
        change(&payload)
        return try Sample.authority().transactions.sign(payload)
    }

    static func header(_ change: ([String]) throws -> String) throws -> String {
        let compact = try good()
        return try Tamper.header(compact, change(Tamper.certificates(compact)))
    }

    static let all: [SpoiltJWS] =
        shapes + headers + chains + lengths + signatures + payloads + wellSigned

    static let shapes = [
        SpoiltJWS("nothing", .malformed) { "" },
        SpoiltJWS("two segments", .malformed) { "a.b" },
        SpoiltJWS("four segments", .malformed) { try good() + ".AA" },
        SpoiltJWS("padding", .malformed) { try good() + "=" },
        SpoiltJWS("white space at the end", .malformed) { try good() + "\n" },
        SpoiltJWS("the standard alphabet", .malformed) {
            Tamper.segments(try good()).dropLast().joined(separator: ".") + ".+/"
        },
        SpoiltJWS("bits after the last byte", .malformed) {
            // The last character of 64 bytes holds two bits of them; A and B differ in the rest.
            try String(good().dropLast()) + "B"
        },
        SpoiltJWS("more bytes than allowed", .malformed) {
            String(repeating: "A", count: SignedDataLimits.jwsBytesMax) + ".A.A"
        },
        SpoiltJWS("a header that is no JSON", .malformed) {
            Tamper.header(try good(), "{")
        },
        SpoiltJWS("a header with two algs", .malformed) {
            Tamper.header(try good(), "{\"alg\":\"ES256\",\"alg\":\"ES256\",\"x5c\":[]}")
        },
    ]

    static let headers =
        ["none", "HS256", "RS256", "ES384", "es256", "ES256 ", ""].map { algorithm in
            SpoiltJWS("alg \(algorithm)", .algorithm) {
                try header { Tamper.header(certificates: $0, algorithm: algorithm) }
            }
        } + [
            SpoiltJWS("alg none without a signature", .algorithm) {
                let segments = Tamper.segments(
                    try header { Tamper.header(certificates: $0, algorithm: "none") })
                return segments[0] + "." + segments[1] + "."
            },
            SpoiltJWS("no alg", .algorithm) { try header { _ in "{\"x5c\":[]}" } },
            SpoiltJWS("critical header fields", .algorithm) {
                try header {
                    String(Tamper.header(certificates: $0).dropLast()) + ",\"crit\":[\"b64\"]}"
                }
            },
        ]

    static let chains = [
        SpoiltJWS("no x5c", .chainLength) { try header { _ in "{\"alg\":\"ES256\"}" } },
        SpoiltJWS("two certificates", .chainLength) {
            try header { Tamper.header(certificates: Array($0.dropLast())) }
        },
        SpoiltJWS("four certificates", .chainLength) {
            try header { Tamper.header(certificates: $0 + [$0[2]]) }
        },
        SpoiltJWS("certificates in URL-safe Base64 without padding", .malformed) {
            try header { certificates in
                let stripped = certificates.map { text in
                    String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
                }
                return Tamper.header(certificates: stripped.map { $0 + "\n" })
            }
        },
        SpoiltJWS("root and leaf swapped", .root) {
            try header { Tamper.header(certificates: $0.reversed()) }
        },
        SpoiltJWS("leaf and intermediate swapped", .chain) {
            try header { Tamper.header(certificates: [$0[1], $0[0], $0[2]]) }
        },
        SpoiltJWS("the root three times", .purpose) {
            try header { Tamper.header(certificates: [$0[2], $0[2], $0[2]]) }
        },
        SpoiltJWS("a root nobody trusts", .root) {
            try Sample.foreignAuthority().transactions.sign(Sample.transaction())
        },
        SpoiltJWS("a foreign leaf under our root", .chain) {
            let foreign = try Tamper.certificates(
                Sample.foreignAuthority().transactions.sign(Sample.transaction()))
            return try header { Tamper.header(certificates: [foreign[0], $0[1], $0[2]]) }
        },
        SpoiltJWS("the leaf for receipts", .purpose) {
            let receipts = try ReceiptEnvelope(Sample.receipt()).certificates
            return try header {
                Tamper.header(certificates: [Base64.encode(receipts[0]), $0[1], $0[2]])
            }
        },
        SpoiltJWS("a flipped bit in the leaf's signature", .chain) {
            try header { certificates in
                var leaf = Base64.decode(certificates[0].utf8) ?? []
                leaf[leaf.count - 1] ^= 1
                return Tamper.header(
                    certificates: [Base64.encode(leaf), certificates[1], certificates[2]])
            }
        },
        SpoiltJWS("a certificate cut short", .malformed) {
            try header { certificates in
                let leaf = Base64.decode(certificates[0].utf8) ?? []
                return Tamper.header(
                    certificates: [
                        Base64.encode(Array(leaf.dropLast())), certificates[1], certificates[2],
                    ])
            }
        },
    ]

    static let signatures = [
        SpoiltJWS("a flipped bit in the payload", .signature) {
            Tamper.change(try good(), segment: 1) { $0[$0.count / 2] ^= 1 }
        },
        SpoiltJWS("a flipped bit in the signature", .signature) {
            Tamper.change(try good(), segment: 2) { $0[20] ^= 1 }
        },
        SpoiltJWS("a header that was not signed", .signature) {
            try header { String(Tamper.header(certificates: $0).dropLast()) + ",\"typ\":\"JWT\"}" }
        },
        SpoiltJWS("no signature", .signature) {
            Tamper.segments(try good()).dropLast().joined(separator: ".") + "."
        },
        SpoiltJWS("63 bytes of signature", .signature) {
            Tamper.change(try good(), segment: 2) { $0.removeLast() }
        },
        SpoiltJWS("a signature in DER", .signature) {
            Tamper.change(try good(), segment: 2) { raw in
                let integers = [raw.prefix(32), raw.suffix(32)].map {
                    Tamper.element(0x02, [0] + Array($0))
                }
                raw = Tamper.element(0x30, integers[0] + integers[1])
            }
        },
        SpoiltJWS("a signature of zeros", .signature) {
            Tamper.change(try good(), segment: 2) { $0 = [UInt8](repeating: 0, count: 64) }
        },
    ]

    static let payloads = [
        SpoiltJWS("no signed date", .malformed) { try signed { $0.signedDate = nil } },
        SpoiltJWS("a payload that is no JSON", .malformed) {
            try Sample.authority().transactions.sign(payload: Array("hello".utf8))
        },
        SpoiltJWS("a payload with two bundle ids", .malformed) {
            try Sample.authority().transactions.sign(
                payload: Array("{\"bundleId\":\"a\",\"bundleId\":\"b\",\"signedDate\":1}".utf8))
        },
        SpoiltJWS("half a purchase", .malformed) {
            try Sample.authority().transactions.sign(
                payload: Array("{\"quantity\":1.5,\"signedDate\":1}".utf8))
        },
        SpoiltJWS("signed in 1999", .notYetValid) {
            try signed { $0.signedDate = Timestamp(milliseconds: 946_684_799_999) }
        },
        SpoiltJWS("signed in 2100", .expired) {
            try signed { $0.signedDate = Timestamp(milliseconds: 4_102_444_800_000) }
        },
        SpoiltJWS("signed as early as can be said", .notYetValid) {
            try signed { $0.signedDate = Timestamp(milliseconds: -9_000_000_000_000_000) }
        },
        SpoiltJWS("signed as late as can be said", .expired) {
            try signed { $0.signedDate = Timestamp(milliseconds: 9_000_000_000_000_000) }
        },
        SpoiltJWS("signed before all time", .malformed) {
            try signed { $0.signedDate = Timestamp(milliseconds: .min) }
        },
        SpoiltJWS("signed after all time", .malformed) {
            try signed { $0.signedDate = Timestamp(milliseconds: .max) }
        },
        SpoiltJWS("signed in the future", .signedInFuture) {
            try signed { $0.signedDate = Sample.now.adding(milliseconds: 60_001) }
        },
        SpoiltJWS("another app's", .bundleID) {
            try signed { $0.bundleId = "com.example.monkeyz" }
        },
        SpoiltJWS("no app's", .bundleID) { try signed { $0.bundleId = nil } },
        SpoiltJWS("another environment's", .environment) {
            try signed { $0.environment = "Production" }
        },
        SpoiltJWS("Xcode's", .environment) { try signed { $0.environment = "Xcode" } },
    ]
}

@Suite struct JWSRefusalTests {
    @Test(arguments: SpoiltJWS.all)
    func `a spoilt transaction is refused by its rule`(spoilt: SpoiltJWS) throws {
        let verifier = try Sample.verifier()
        let compact = try spoilt.make()

        let cold = refusal { try verifier.verify(compact, now: Sample.now) }
        _ = try verifier.verify(SpoiltJWS.good(), now: Sample.now)
        let warm = refusal { try verifier.verify(compact, now: Sample.now) }

        #expect(cold?.code == spoilt.code, "\(cold.map { "\($0)" } ?? "accepted")")
        #expect(warm?.code == spoilt.code, "warm: \(warm.map { "\($0)" } ?? "accepted")")
    }

    @Test func `a flipped bit anywhere is refused`() throws {
        let verifier = try Sample.verifier()
        let good = Array(try SpoiltJWS.good().utf8)
        var generator = SplitMix64(state: 7)

        for _ in 0..<300 {
            var spoilt = good
            spoilt[Int.random(in: spoilt.indices, using: &generator)] ^=
                1 << UInt8.random(in: 0..<7, using: &generator)
            let compact = String(decoding: spoilt, as: UTF8.self)
            #expect(refusal { try verifier.verify(compact, now: Sample.now) } != nil)
        }
    }

    @Test func `random texts are refused and crash nothing`() throws {
        let verifier = try Sample.verifier()
        let good = Array(try SpoiltJWS.good().utf8)
        var generator = SplitMix64(state: 11)

        for _ in 0..<300 {
            let text = String(decoding: Mutation.of(good, using: &generator), as: UTF8.self)
            guard text != String(decoding: good, as: UTF8.self) else { continue }
            #expect(refusal { try verifier.verify(text, now: Sample.now) } != nil)
        }
    }

    @Test(arguments: [
        (3, 2, "three certificates (leaf, intermediate, root), not 2"),
        (1, 3, "one certificate, not 3"), (3, 0, "three certificates"),
    ])
    func `a chain of another length is refused with the number that is wanted`(
        wanted: Int, found: Int, words: String
    ) throws {
        let entries = Array(repeating: "\"AA==\"", count: found).joined(separator: ",")
        let header = try JSONDecoder().decode(
            JWSHeader.self, from: Data("{\"alg\":\"ES256\",\"x5c\":[\(entries)]}".utf8))

        let failure = #expect(throws: VerificationFailure.self) {
            try header.certificates(count: wanted)
        }

        #expect(failure?.code == .chainLength)
        #expect(failure?.message.contains(words) == true)
    }
}

/// What a verification was refused for; nil when it was accepted.
func refusal<Value>(_ body: () throws -> Value) -> VerificationFailure? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? VerificationFailure
            ?? VerificationFailure(VerificationFailure.Code("foreign"), "\(error)")
    }
}
