// SPDX-License-Identifier: Apache-2.0

package import Commerce
import StrictJSON

/// What the rules say of signed data, one by one.
package struct Explanation: Sendable {
    package enum Form: String, Sendable { case signedJSON, receipt }

    package enum Verdict: Hashable, Sendable {
        case passed
        case failed(VerificationFailure.Code, String)
        /// A broken rule before it left nothing to judge.
        case notJudged
    }

    package let form: Form
    /// Leaf first, in DER; empty where none could be read.
    package let certificates: [[UInt8]]
    /// Rules in their order.
    package let verdicts: [(rule: VerificationRule, verdict: Verdict)]
    /// The payload's JSON; nil for a receipt and where it could not be read.
    package let payload: [UInt8]?
    /// The receipt; nil for JSON and where it could not be read.
    package let receipt: AppReceipt?
    /// One certificate of Xcode's, and it says so itself.
    package let isXcode: Bool
    /// What Apple's library says of it; nil for a receipt, which it does not verify.
    package let official: OfficialOpinion?

    /// Whether no rule is broken.
    package var isValid: Bool { verdicts.allSatisfy { $0.verdict == .passed } }

    /// Explains a JWS. `roots` sees the certificates, to choose among what it
    /// trusts; `wall` is the machine's time, by which Apple's library judges
    /// what has no date.
    package init(
        signedJSON compact: String, roots: ([[UInt8]]) -> [[UInt8]], now: Timestamp?,
        wall: Timestamp
    ) {
        let jws = try? CompactJWS(compact, bytesMax: SignedDataLimits.jwsBytesMax)
        let header = try? jws?.header(JWSHeader.self)
        let x5c = header?.x5c ?? []
        let chain = x5c.map { Base64.decode($0.utf8) ?? [] }
        let trusted = roots(chain)
        let dated = jws.flatMap { try? StrictJSON.decode(Dated.self, from: $0.payload) }
        let isXcode = chain.count == 1 && dated?.place == XcodeVerifier.environment
        form = .signedJSON
        official = OfficialOpinion(compact, roots: trusted, now: now ?? wall)
        certificates = chain
        payload = dated == nil ? nil : jws?.payload
        receipt = nil
        self.isXcode = isXcode
        var unasked: Set<VerificationRule> = [
            .bundleID, .appID, .envelope, .signatureAlgorithm, .oneSigner,
        ]
        unasked.insert(isXcode ? .signer : .environment)
        let list = (isXcode ? VerificationRule.xcode : VerificationRule.signedJSON)
            .filter { !unasked.contains($0) }
        verdicts = Self.judge(list) { rules throws(VerificationFailure) in
            if isXcode {
                _ = try XcodeVerifier(certificates: trusted).verify(
                    compact, as: Dated.self, environment: \.place, signedDate: \.date)
            } else {
                _ = try JWSVerifier(roots: trusted, rules: rules).verify(
                    compact, as: Dated.self, signedDate: \.date, now: now)
            }
        }
    }

    /// Explains a receipt.
    package init(receipt bytes: [UInt8], roots: ([[UInt8]]) -> [[UInt8]], now: Timestamp?) {
        let outline = ReceiptOutline(bytes)
        let content = outline?.receipt
        let chain = outline?.certificates ?? []
        let trusted = roots(chain)
        let isXcode = chain.count == 1 && content?.environment == XcodeVerifier.environment
        form = .receipt
        official = nil
        certificates = chain
        payload = nil
        receipt = content
        self.isXcode = isXcode
        let json: Set<VerificationRule> = [
            .segments, .base64, .header, .algorithm, .criticalHeader, .certificateBase64,
            .bundleID, .appID, .device,
        ]
        let list = (isXcode ? VerificationRule.xcode : VerificationRule.receipt)
            .filter { !json.contains($0) && (isXcode || $0 != .environment) }
        verdicts = Self.judge(list) { rules throws(VerificationFailure) in
            if isXcode {
                _ = try XcodeVerifier(certificates: trusted).verify(receipt: bytes)
            } else {
                _ = try ReceiptVerifier(roots: trusted, rules: rules).verify(
                    bytes, bundleID: nil, now: now)
            }
        }
    }

    /// Judges again without each broken rule, until nothing more can be said.
    private static func judge(
        _ list: [VerificationRule],
        _ attempt: (VerificationRules) throws(VerificationFailure) -> Void
    ) -> [(rule: VerificationRule, verdict: Verdict)] {
        var rules = VerificationRules.all
        var broken: [VerificationRule: Verdict] = [:]
        var last: VerificationRule?
        while last == nil {
            do throws(VerificationFailure) {
                try attempt(rules)
                break
            } catch {
                guard let rule = error.rule else { break }
                if broken[rule] != nil || rule.isReading { last = rule }
                broken[rule] = broken[rule] ?? .failed(error.code, error.message)
                rules = rules.without(rule)
            }
        }
        let end = last.flatMap { list.firstIndex(of: $0) } ?? list.count
        return list.enumerated().map { at, rule in
            (rule, broken[rule] ?? (at <= end ? .passed : .notJudged))
        }
    }

    /// What every payload has: signed, or in an app transaction received, at an instant.
    private struct Dated: Decodable, Sendable {
        let signedDate: Timestamp?
        let receiptCreationDate: Timestamp?
        let environment: String?
        /// What an app transaction calls its environment.
        let receiptType: String?

        var place: String? { environment ?? receiptType }
        var date: Timestamp? { signedDate ?? receiptCreationDate }
    }
}
