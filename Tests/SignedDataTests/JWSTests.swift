// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import SignedData

@Suite(.timeLimit(.minutes(5))) struct JWSTests {
    @Test func `a signed transaction verifies and contains what was signed`() throws {
        let payload = Sample.transaction()

        let compact = try Sample.authority().transactions.sign(payload)
        let verified = try Sample.verifier().verify(compact, now: Sample.now)

        #expect(verified.payload == payload)
        #expect(verified.compact == compact)
    }

    @Test func `the header is alg and three certificates, nothing else`() throws {
        let compact = try SpoiltJWS.good()

        let certificates = try Tamper.certificates(compact)
        let header = Base64.decodeURL(Array(Tamper.segments(compact)[0].utf8)[...])

        #expect(header == Array(Tamper.header(certificates: certificates).utf8))
        #expect(certificates.count == 3)
        #expect(Base64.decode(certificates[2].utf8) == (try Sample.authority().root))
    }

    @Test func `text of exactly the limit is read, and one byte more is not`() throws {
        let compact = try SpoiltJWS.good()
        let count = compact.utf8.count

        #expect(throws: Never.self) { try CompactJWS(compact, bytesMax: count) }
        #expect(
            refusal { try CompactJWS(compact, bytesMax: count - 1) }?.rule == .size)
    }

    @Test(arguments: [0, 1, 2, 3, 100, 1000])
    func `bytes of any length come back`(count: Int) throws {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let verifier = JWSVerifier(roots: [try Sample.authority().root])

        let compact = try Sample.authority().transactions.sign(payload: payload)

        #expect(try verifier.verifyBytes(compact, at: Sample.now) == payload)
        #expect(try verifier.verifyBytes(compact, at: Sample.now) == payload)
    }

    @Test(
        arguments: [
            (946_684_799_999, .notYetValid), (946_684_800_000, nil), (4_102_444_799_999, nil),
            (4_102_444_800_000, .expired),
        ] as [(Int64, VerificationFailure.Code?)])
    func `validity is judged at each signed date, also by a warm verifier`(
        milliseconds: Int64, code: VerificationFailure.Code?
    ) throws {
        let verifier = JWSVerifier(roots: [try Sample.authority().root])
        let compact = try SpoiltJWS.good()
        let date = Timestamp(milliseconds: milliseconds)

        let cold = refusal { try verifier.verifyBytes(compact, at: date) }
        let warm = refusal { try verifier.verifyBytes(compact, at: date) }

        #expect(cold?.code == code)
        #expect(warm?.code == code)
    }

    @Test(arguments: [-1, 0, 59_999, 60_000])
    func `clocks may differ by a minute`(ahead: Int64) throws {
        let compact = try SpoiltJWS.signed {
            $0.signedDate = Sample.now.adding(milliseconds: ahead)
        }

        #expect(throws: Never.self) { try Sample.verifier().verify(compact, now: Sample.now) }
    }

    @Test func `a store whose time is not known may sign in our future`() throws {
        let compact = try SpoiltJWS.signed { $0.signedDate = Sample.now.adding(seconds: 86_400) }

        #expect(throws: Never.self) { try Sample.verifier().verify(compact, now: nil) }
    }

    @Test func `a verifier may trust several roots`() throws {
        let verifier = JWSVerifier(roots: [
            try Sample.foreignAuthority().root, try Sample.authority().root,
        ])

        for authority in [try Sample.authority(), try Sample.foreignAuthority()] {
            let compact = try authority.transactions.sign(payload: [1])
            #expect(try verifier.verifyBytes(compact, at: Sample.now) == [1])
        }
    }

    @Test func `a verifier without roots trusts nothing`() throws {
        let compact = try SpoiltJWS.good()

        let code = refusal { try JWSVerifier(roots: []).verifyBytes(compact, at: Sample.now) }?.code

        #expect(code == .root)
    }

    @Test func `sandbox and production do not pass for each other`() throws {
        let compact = try Sample.authority().transactions.sign(
            Sample.transaction(environment: "Production"))
        let production = TransactionVerifier(
            roots: [try Sample.productionAuthority().root], bundleID: Sample.bundleID,
            environment: .production)

        #expect(refusal { try production.verify(compact, now: nil) }?.code == .root)
    }

    @Test func `what many threads verify at once is right`() async throws {
        let verifier = try Sample.verifier()
        let compacts = try (0..<40).map { number in
            try SpoiltJWS.signed { $0.transactionId = "\(number)" }
        }

        try await withThrowingTaskGroup(of: Bool.self) { group in
            for (number, compact) in compacts.enumerated() {
                group.addTask {
                    try verifier.verify(compact, now: nil).payload.transactionId == "\(number)"
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func `unknown fields of a payload are no error`() throws {
        let compact = try Sample.authority().transactions.sign(
            payload: Array(
                """
                {"bundleId":"\(Sample.bundleID)","environment":"Sandbox","signedDate":\
                \(Sample.now.milliseconds),"tomorrow":{"a":[1,null,"x"]}}
                """.utf8))

        #expect(throws: Never.self) { try Sample.verifier().verify(compact, now: Sample.now) }
    }

    @Test func `Xcode's fractional dates are read`() throws {
        let compact = try Sample.authority().transactions.sign(
            payload: Array(
                """
                {"bundleId":"\(Sample.bundleID)","environment":"Sandbox","signedDate":\
                \(Sample.now.milliseconds).75}
                """.utf8))

        let verified = try Sample.verifier().verify(compact, now: Sample.now)
        #expect(verified.payload.signedDate == Sample.now)
    }
}
