// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import Testing
import X509

@testable import SignedData

/// The largest input that is read, and what is larger by one.
@Suite(.timeLimit(.minutes(5))) struct SizeTests {
    @Test func `a token of 8 KiB is read, and one of a byte more is too large`() {
        func rule(_ count: Int) -> VerificationRule? {
            let text = String(repeating: "A", count: count - 4) + ".A.A"
            return refusal { try BearerToken.parse(text) }?.rule
        }

        #expect(rule(BearerToken.bytesMax) != .size)
        #expect(rule(BearerToken.bytesMax + 1) == .size)
    }

    @Test func `a certificate of 8 KiB is read, and one of a byte more is not`() throws {
        let limit = SignedDataLimits.certificateBytesMax

        let largest = try certificate(limit)
        let larger = try certificate(limit + 1)

        #expect(throws: Never.self) { try CertificateChain.parse(largest, "leaf") }
        #expect(OfficialChain.parse(largest) != nil)
        #expect(
            refusal { try CertificateChain.parse(larger, "leaf") }?.rule == .certificateForm)
        #expect(OfficialChain.parse(larger) == nil)
    }

    /// Serial numbers and signatures vary by a byte or two, so this takes some tries.
    private func certificate(_ count: Int) throws -> [UInt8] {
        var recipe = ChainRecipe()
        var padding = count - 500
        for _ in 0..<100 {
            recipe.leaf.others = [
                Certificate.Extension(
                    oid: [1, 2, 3], critical: false,
                    value: ArraySlice(repeating: 0, count: padding))
            ]
            let leaf = try recipe.chain()[0]
            if leaf.count == count { return leaf }
            padding += count - leaf.count
        }
        return try #require(nil, "no certificate of \(count) bytes")
    }

    @Test func `a receipt may have so many attributes and no more`() {
        let one: [UInt8] = [0x30, 8, 2, 1, 99, 2, 1, 1, 4, 0]
        func read(_ count: Int) -> Int? {
            let set = Tamper.element(0x31, Array(repeating: one, count: count).flatMap { $0 })
            return try? ReceiptAttributes(der: set, place: "a receipt").remaining.count
        }

        #expect(read(SignedDataLimits.attributesMax) == SignedDataLimits.attributesMax)
        #expect(read(SignedDataLimits.attributesMax + 1) == nil)
    }
}

/// The limits of a request for a certificate's status.
@Suite struct StatusRequestSizeTests {
    @Test(arguments: [(0, nil), (1, 1), (16, 16), (17, nil)] as [(Int, Int?)])
    func `a request names one to sixteen certificates`(count: Int, read: Int?) {
        let request = request(certificates: count)

        #expect((try? CertificateStatusRequest(request))?.certificates.count == read)
    }

    @Test func `a request has at most 8 KiB`() throws {
        let rest = request(extensions: [padding(7000)]).count - 7000
        let largest = request(extensions: [padding(8192 - rest)])
        let larger = request(extensions: [padding(8193 - rest)])

        #expect(largest.count == 8192)
        #expect(try CertificateStatusRequest(largest).nonce == nil)
        #expect(larger.count == 8193)
        #expect(throws: OCSPFault.self) { try CertificateStatusRequest(larger) }
    }

    @Test(arguments: [(16, true), (114, true), (115, false), (500, false)])
    func `a nonce is given back unless it is long`(count: Int, isKept: Bool) throws {
        let nonce = Tamper.element(
            0x30, Self.nonceOID + Tamper.element(0x04, [UInt8](repeating: 9, count: count)))

        let request = try CertificateStatusRequest(
            request(extensions: [padding(3), nonce, padding(4)]))

        #expect(request.nonce == (isKept ? nonce : nil))
    }

    private static let nonceOID: [UInt8] = [6, 9, 0x2B, 6, 1, 5, 5, 7, 0x30, 1, 2]

    /// An extension of another kind.
    private func padding(_ count: Int) -> [UInt8] {
        Tamper.element(
            0x30, [6, 3, 0x55, 0x1D, 0x63] + Tamper.element(4, [UInt8](repeating: 0, count: count)))
    }

    private func request(certificates: Int = 1, extensions: [[UInt8]] = []) -> [UInt8] {
        let digest = [UInt8](repeating: 7, count: 20)
        let id = Tamper.element(
            0x30,
            Tamper.element(0x30, [6, 5, 0x2B, 0x0E, 3, 2, 0x1A, 5, 0])
                + Tamper.element(4, digest) + Tamper.element(4, digest) + [2, 1, 5])
        let one = Tamper.element(0x30, id)
        let list = Tamper.element(0x30, Array(repeating: one, count: certificates).flatMap { $0 })
        let others =
            extensions.isEmpty
            ? [] : Tamper.element(0xA2, Tamper.element(0x30, extensions.flatMap { $0 }))
        return Tamper.element(0x30, Tamper.element(0x30, list + others))
    }
}
