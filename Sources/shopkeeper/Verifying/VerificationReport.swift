// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StrictJSON

/// An explanation in the form in which it is printed.
struct VerificationReport: Encodable {
    struct Link: Encodable {
        let place: String
        let subject: String
        let issuer: String
        let notBefore: String
        let notAfter: String
        let sha256: String
        /// The name of a root that Apple publishes.
        let apple: String?
    }

    struct Judged: Encodable {
        let rule: String
        let verdict: String
        let code: String?
        let message: String?
    }

    let form: String
    let isValid: Bool
    let isXcode: Bool
    let certificates: [Link]
    let rules: [Judged]
    let payload: PayloadValue?
    /// The verdict of Apple's libraries for servers.
    let officialLibrary: String

    /// `status`: the result of the online check. Nil if there was none.
    init(
        _ explanation: Explanation, isOnline: Bool = false,
        status: CertificateStatusCheck.Verdict? = nil
    ) {
        form = explanation.form.rawValue
        isValid = explanation.isValid && (!isOnline || status == .good)
        isXcode = explanation.isXcode
        let places = ["leaf", "intermediate", "root"]
        certificates = explanation.certificates.enumerated().compactMap { at, der in
            CertificateFacts(der: der).map { facts in
                Link(
                    place: at < places.count ? places[at] : "certificate \(at + 1)",
                    subject: facts.subject, issuer: facts.issuer,
                    notBefore: "\(facts.notBefore)", notAfter: "\(facts.notAfter)",
                    sha256: facts.fingerprint,
                    apple: CertificateFacts.appleRoots[facts.fingerprint])
            }
        }
        let judged = explanation.verdicts.map { rule, verdict in
            switch verdict {
            case .passed: Judged(rule: rule.rawValue, verdict: "passed", code: nil, message: nil)
            case .failed(let code, let message):
                Judged(
                    rule: rule.rawValue, verdict: "failed", code: "\(code)", message: message)
            case .notJudged:
                Judged(rule: rule.rawValue, verdict: "not judged", code: nil, message: nil)
            }
        }
        rules = judged + (isOnline ? [Judged(status)] : [])
        payload =
            explanation.payload.flatMap { try? StrictJSON.decode(PayloadValue.self, from: $0) }
            ?? explanation.receipt.map { PayloadValue($0) }
        officialLibrary =
            explanation.official.map { Self.words($0, isOnline, status) }
            ?? "nothing: they take identifiers out of a receipt and do not verify it"
    }

    /// With online checks the library adds a check of its own.
    private static func words(
        _ opinion: OfficialOpinion, _ isOnline: Bool, _ status: CertificateStatusCheck.Verdict?
    ) -> String {
        guard isOnline, opinion.status == .accepted, let status else { return opinion.words }
        switch status {
        case .good: return "\(opinion.words), with online checks too"
        case .revoked, .noAddress:
            return "VERIFICATION_FAILURE with online checks; without them \(opinion.words)"
        case .unanswered:
            return "RETRYABLE_VERIFICATION_FAILURE or VERIFICATION_FAILURE with online checks; "
                + "without them \(opinion.words)"
        }
    }

    /// The report as lines of text.
    var lines: [String] {
        var lines = [isValid ? "VALID: no rule is broken." : "NOT VALID."]
        if isXcode { lines.append("Xcode made this on a developer's machine; no store sold it.") }
        lines += ["", "Certificates"]
        for link in certificates {
            lines.append("  \(link.place): \(link.subject)")
            lines.append("    issued by \(link.issuer)")
            lines.append("    valid from \(link.notBefore) to \(link.notAfter)")
            lines.append("    SHA-256 \(link.sha256)\(link.apple.map { " (\($0))" } ?? "")")
        }
        lines += ["", "Rules"]
        for one in rules {
            let mark = one.verdict == "passed" ? "ok  " : one.verdict == "failed" ? "FAIL" : "-   "
            let why = one.message.map { ": \($0)" } ?? ""
            lines.append("  \(mark)  \(one.rule)\(why)")
        }
        if let payload { lines += ["", "What was signed"] + payload.lines(indent: "  ") }
        lines += ["", "An official library would say: \(officialLibrary)"]
        return lines
    }
}

extension VerificationReport.Judged {
    /// The rule that certificates have not been revoked, as `status` shows it.
    init(_ status: CertificateStatusCheck.Verdict?) {
        let message: String? =
            switch status {
            case nil, .good: nil
            case .revoked: "a certificate was revoked by its authority"
            case .unanswered:
                "it is not known whether the certificates are still valid; check again when their "
                    + "status address can be reached"
            case .noAddress: "the certificates name no status address, so they cannot be checked"
            }
        let verdict = status == nil ? "not judged" : message == nil ? "passed" : "failed"
        self.init(
            rule: "status", verdict: verdict, code: message == nil ? nil : "status",
            message: message)
    }
}
