// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing
import X509
import _CryptoExtras

@testable import SignedData

/// Every rule is needed: without it some case passes that must not.
@Suite struct RuleTests {
    /// Rules of JWS that can be left out. The app's number stands in notifications only.
    static let signedJSON = VerificationRule.signedJSON.filter { !$0.isReading && $0 != .appID }
    static let receipt = VerificationRule.receipt.filter { !$0.isReading }

    @Test(arguments: signedJSON)
    func `a JWS verifier without a rule takes what it should not`(
        rule: VerificationRule
    ) throws {
        var passing: [String] = []
        for spoilt in SpoiltJWS.all where spoilt.code == rule.code {
            let verifier = TransactionVerifier(
                verifier: JWSVerifier(
                    roots: [try Sample.authority().root],
                    rules: VerificationRules.all.without(rule)),
                bundleID: Sample.bundleID, environment: .sandbox)
            let compact = try spoilt.make()
            if refusal({ try verifier.verify(compact, now: Sample.now) }) == nil {
                passing.append(spoilt.testDescription)
            }
        }
        for changed in ChangedChain.all where changed.code == rule.code {
            var recipe = ChainRecipe()
            try changed.change(&recipe)
            let (compact, root) = try recipe.sign()
            let verifier = JWSVerifier(
                roots: [root], rules: VerificationRules.all.without(rule))
            if refusal({ try verifier.verifyBytes(compact, at: Sample.now) }) == nil {
                passing.append(changed.testDescription)
            }
        }
        #expect(!passing.isEmpty, "no case passes without \(rule)")
    }

    @Test func `a notification verifier without the app's number takes another app's`() throws {
        let payload = """
            {"data":{"appAppleId":7,"bundleId":"\(Sample.bundleID)","environment":"Production"},\
            "notificationType":"TEST","signedDate":\(Sample.now.milliseconds)}
            """
        let compact = try Sample.authority().transactions.sign(payload: Array(payload.utf8))
        let verify = { (rules: VerificationRules, appID: Int64?) in
            refusal {
                try NotificationVerifier(
                    verifier: JWSVerifier(roots: [Sample.authority().root], rules: rules),
                    bundleID: Sample.bundleID, environment: .production, appID: appID
                ).verify(compact, now: Sample.now)
            }
        }

        #expect(verify(.all, 8)?.code == .appID)
        #expect(verify(VerificationRules.all.without(.appID), 8) == nil)
        #expect(verify(.all, 7) == nil)
        #expect(verify(.all, nil) == nil)
    }

    @Test(arguments: receipt)
    func `a receipt verifier without a rule takes what it should not`(
        rule: VerificationRule
    ) throws {
        var passing: [String] = []
        for spoilt in SpoiltReceipt.all + Self.receiptChains where spoilt.code == rule.code {
            let root = try Sample.authority().root
            let bytes = try spoilt.make()
            let roots =
                spoilt.testDescription.hasPrefix("chain: ")
                ? [try ReceiptEnvelope(bytes).certificates[2]] : [root]
            let verifier = ReceiptVerifier(
                roots: roots, digests: spoilt.digests, rules: VerificationRules.all.without(rule))
            let refusal = refusal {
                try verifier.verify(
                    bytes, bundleID: Sample.bundleID, appID: 0, environment: "ProductionSandbox",
                    device: Sample.device, now: Sample.now)
            }
            if refusal == nil { passing.append(spoilt.testDescription) }
        }
        #expect(!passing.isEmpty, "no case passes without \(rule)")
    }

    /// The rules of the chain, with receipts at its end.
    static let receiptChains =
        ChangedChain.all.compactMap { changed in
            changed.code.map { code in
                SpoiltReceipt("chain: \(changed.testDescription)", code) {
                    var recipe = ChainRecipe()
                    recipe.leafKey = .init(try Sample.receiptKey().publicKey)
                    try changed.change(&recipe)
                    return try recipe.signReceipt(by: Sample.receiptKey())
                }
            }
        } + [
            SpoiltReceipt("SHA-1 where it is not allowed", .algorithm) {
                try Sample.receipt(digest: .sha1)
            }
        ]

    @Test(arguments: receiptChains)
    func `each rule of the chain refuses receipts too`(spoilt: SpoiltReceipt) throws {
        // Keys that fit no receipt are another matter.
        guard !spoilt.testDescription.contains("P-") else { return }
        let bytes = try spoilt.make()
        let certificates = try ReceiptEnvelope(bytes).certificates
        let verifier = ReceiptVerifier(roots: [certificates[2]], digests: spoilt.digests)

        let refusal = refusal {
            try verifier.verify(bytes, bundleID: Sample.bundleID, now: Sample.now)
        }

        #expect(refusal?.code == spoilt.code, "\(refusal.map { "\($0)" } ?? "accepted")")
    }

    @Test func `each rule is broken in its place`() throws {
        // The first of two broken rules is the one that is told.
        let verifier = try Sample.verifier()
        let two = try SpoiltJWS.signed {
            $0.bundleId = "other"
            $0.environment = "Production"
        }
        let order = VerificationRule.signedJSON

        #expect(refusal { try verifier.verify(two, now: Sample.now) }?.rule == .bundleID)
        #expect(Set(order).count == order.count)
        #expect(Set(order + VerificationRule.receipt) == Set(VerificationRule.allCases))
    }

    @Test func `one chain of receipts is good for one date and not for another`() throws {
        var recipe = ChainRecipe()
        recipe.leafKey = .init(try Sample.receiptKey().publicKey)
        recipe.leaf.until = 2026
        let chain = try recipe.chain()
        let verifier = ReceiptVerifier(roots: [chain[2]])

        for (year, code) in [(2025, nil), (2026, .expired), (2025, nil)]
            as [(Int64, VerificationFailure.Code?)]
        {
            let date = try ChainRecipe.start(of: year)
            let bytes = try recipe.signReceipt(by: Sample.receiptKey(), dated: date, chain: chain)
            #expect(refusal { try verifier.verify(bytes, bundleID: nil) }?.code == code)
        }
        #expect(verifier.provenCount == 1)
    }

    @Test func `only chains of receipts whose leaf signed something are remembered`() throws {
        let verifier = try Sample.receiptVerifier()
        let spoilt = try SpoiltReceipt.envelope(signature: { $0[100] ^= 1 })

        _ = refusal { try verifier.verify(spoilt, bundleID: nil) }
        #expect(verifier.provenCount == 0)
        for _ in 0..<3 { _ = try verifier.verify(Sample.receipt(), bundleID: nil) }
        #expect(verifier.provenCount == 1)
        #expect(refusal { try verifier.verify(spoilt, bundleID: nil) }?.code == .signature)
    }

    @Test func `a high s is as good as a low one`() throws {
        // The format does not forbid it, and the App Store does not avoid it.
        let verifier = try Sample.verifier()
        var halves: Set<Bool> = []
        for _ in 0..<64 where halves.count < 2 {
            let compact = try SpoiltJWS.good()
            let bytes = Base64.decodeURL(Array(Tamper.segments(compact)[2].utf8)[...]) ?? []
            halves.insert(bytes[32] >= 0x80)
            _ = try verifier.verify(compact, now: Sample.now)
        }
        #expect(halves.count == 2)
    }

    @Test func `unknown attributes are kept, in the receipt and in purchases`() throws {
        let record = try SpoiltReceipt.record(9999, [1, 2, 3])

        let receipt = try Sample.receiptVerifier().verify(
            SpoiltReceipt.records(record), bundleID: nil)

        #expect(receipt.unknown == [ReceiptAttribute(type: 9999, value: [1, 2, 3])])
    }
}

extension SpoiltReceipt {
    /// SHA-1 is allowed, except where that is the case.
    var digests: [ReceiptDigest] {
        testDescription.hasPrefix("SHA-1 where") ? [.sha256] : ReceiptDigest.allCases
    }
}
