// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StrictJSON

/// An explanation, as it is printed.
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
    /// How Apple's libraries for servers would call the first broken rule.
    let officialLibrary: String

    init(_ explanation: Explanation) {
        form = explanation.form.rawValue
        isValid = explanation.isValid
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
        rules = explanation.verdicts.map { rule, verdict in
            switch verdict {
            case .passed: Judged(rule: rule.rawValue, verdict: "passed", code: nil, message: nil)
            case .failed(let code, let message):
                Judged(
                    rule: rule.rawValue, verdict: "failed", code: "\(code)", message: message)
            case .notJudged:
                Judged(rule: rule.rawValue, verdict: "not judged", code: nil, message: nil)
            }
        }
        payload =
            explanation.payload.flatMap { try? StrictJSON.decode(PayloadValue.self, from: $0) }
            ?? explanation.receipt.map { PayloadValue($0) }
        officialLibrary = OfficialOpinion.words(explanation)
    }

    /// For people.
    var lines: [String] {
        var lines = [isValid ? "VALID: no rule is broken." : "NOT VALID."]
        if isXcode { lines.append("Xcode made this on somebody's machine; no store sold it.") }
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

/// What Apple's libraries for servers call a broken rule.
enum OfficialOpinion {
    static func words(_ explanation: Explanation) -> String {
        guard explanation.form == .signedJSON else {
            return "nothing: they take identifiers out of a receipt and do not verify it"
        }
        guard !explanation.isXcode else {
            return "OK in environment Xcode, where they check no signature; "
                + "INVALID_CHAIN_LENGTH in any other"
        }
        let broken = explanation.verdicts.first { $0.verdict != .passed }?.rule
        switch broken {
        case nil: return "OK, given the same root, bundle id and environment"
        case .chainLength: return "INVALID_CHAIN_LENGTH"
        case .certificateForm, .certificateBase64: return "INVALID_CERTIFICATE"
        case .bundleID, .appID: return "INVALID_APP_IDENTIFIER"
        case .environment: return "INVALID_ENVIRONMENT"
        case .signedInFuture, .size:
            return "OK perhaps: they do not have the rule \(broken?.rawValue ?? "")"
        default: return "VERIFICATION_FAILURE"
        }
    }
}
