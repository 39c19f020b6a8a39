// SPDX-License-Identifier: Apache-2.0

package import Commerce
import StrictJSON

/// The verdict of each rule about signed data.
package struct Explanation: Sendable {
    package enum Form: String, Sendable { case signedJSON, receipt }

    package enum Verdict: Hashable, Sendable {
        case passed
        case failed(VerificationFailure.Code, String)
        /// A rule that comes before was broken and left nothing to judge.
        case notJudged
    }

    package let form: Form
    /// In DER, leaf first. Empty if none could be read.
    package let certificates: [[UInt8]]
    /// In the order of the rules.
    package let verdicts: [(rule: VerificationRule, verdict: Verdict)]
    /// The payload's JSON. Nil for a receipt, and if it could not be read.
    package let payload: [UInt8]?
    /// The receipt. Nil for JSON, and if it could not be read.
    package let receipt: AppReceipt?
    /// Whether there is a single certificate that claims to be Xcode's.
    package let isXcode: Bool
    /// The verdict of Apple's library. Nil for a receipt, which that library
    /// does not verify.
    package let official: OfficialOpinion?

    /// Whether no rule is broken.
    package var isValid: Bool { verdicts.allSatisfy { $0.verdict == .passed } }

    /// Explains a JWS. `roots` receives the certificates and returns the roots
    /// to trust. `wall` is the machine's time, which Apple's library uses for
    /// data without a date.
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
        let isXcode = chain.count == 1 && dated?.place == Environment.xcode.rawValue
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
        let isXcode = chain.count == 1 && content?.environment == Environment.xcode.rawValue
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

    /// Judges again without each broken rule, until nothing is left to judge.
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

    /// The date that every payload has: of signing, or of receipt in an app
    /// transaction.
    private struct Dated: Decodable, Sendable {
        let signedDate: Timestamp?
        let receiptCreationDate: Timestamp?
        let environment: String?
        /// The environment in an app transaction.
        let receiptType: String?

        var place: String? { environment ?? receiptType }
        var date: Timestamp? { signedDate ?? receiptCreationDate }
    }
}
