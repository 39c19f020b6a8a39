// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
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
            signedJSON: try SpoiltJWS.good(), roots: { _ in [root] }, now: Sample.now)
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

    @Test func `every broken rule is told, not the first alone`() throws {
        let spoilt = Tamper.change(
            try SpoiltJWS.signed { $0.signedDate = Timestamp(milliseconds: 4_102_444_800_000) },
            segment: 2
        ) { $0[0] ^= 1 }

        let explanation = Explanation(signedJSON: spoilt, roots: { _ in [] }, now: Sample.now)

        #expect(failed(explanation) == [.root, .signature, .expired, .signedInFuture])
        #expect(!explanation.verdicts.contains { $0.verdict == .notJudged })
    }

    @Test func `what cannot be read is not judged any further`() throws {
        let explanation = Explanation(
            signedJSON: Tamper.header(try SpoiltJWS.good(), "{"), roots: { _ in [] }, now: nil)

        #expect(failed(explanation) == [.header])
        #expect(explanation.verdicts.last?.verdict == .notJudged)
    }

    @Test func `nothing at all is explained without a crash`() {
        for text in ["", ".", "..", "a.b.c"] {
            let json = Explanation(signedJSON: text, roots: { _ in [] }, now: nil)
            #expect(!json.isValid)
            let receipt = Explanation(receipt: Array(text.utf8), roots: { _ in [] }, now: nil)
            #expect(!receipt.isValid)
        }
    }
}
