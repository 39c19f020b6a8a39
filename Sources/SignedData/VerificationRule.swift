// SPDX-License-Identifier: Apache-2.0

/// A rule of verification. ``signedJSON`` and ``receipt`` list the rules in the
/// order in which the first broken one is reported.
public enum VerificationRule: String, Hashable, Sendable, CaseIterable {
    // The form.
    case size, segments, base64, header, envelope
    // The algorithm.
    case algorithm, criticalHeader, oneSigner, digest, signatureAlgorithm
    // The signer.
    case chainLength, certificateBase64, root, certificateForm, names, authority, pathLength
    case authorityUsage, leafIsNoAuthority, leafUsage, leafMarker, intermediateMarker
    case markerCriticality, criticalExtensions, intermediateSignature, leafSignature
    case signer, leafKey, signature
    // The contents.
    case payload, notYetValid, expired, signedInFuture, bundleID, appID, environment, device

    /// The rules for a JWS.
    public static let signedJSON: [VerificationRule] =
        [.size, .segments, .base64, .header, .algorithm, .criticalHeader, .chainLength]
        + [.certificateBase64] + chain
        + [.leafKey, .signature, .payload, .notYetValid, .expired, .signedInFuture]
        + [.bundleID, .appID, .environment]

    /// The rules for an app receipt.
    public static let receipt: [VerificationRule] =
        [.size, .envelope, .signatureAlgorithm, .oneSigner, .digest, .chainLength] + chain
        + [.signer, .leafKey, .signature, .payload, .notYetValid, .expired, .signedInFuture]
        + [.bundleID, .appID, .environment, .device]

    private static let chain: [VerificationRule] = [
        .root, .certificateForm, .names, .authority, .pathLength, .authorityUsage,
        .leafIsNoAuthority, .leafUsage, .leafMarker, .intermediateMarker, .markerCriticality,
        .criticalExtensions, .intermediateSignature, .leafSignature,
    ]

    /// The rules for data that Xcode signs on a developer's machine, with a
    /// single certificate.
    public static let xcode: [VerificationRule] = [
        .size, .segments, .base64, .header, .envelope, .algorithm, .criticalHeader,
        .signatureAlgorithm, .oneSigner, .chainLength, .certificateBase64, .root,
        .certificateForm, .signer, .leafKey, .signature, .payload, .notYetValid, .expired,
        .environment,
    ]

    /// Whether this rule parses data that later rules need. Such a rule cannot
    /// be left out.
    public var isReading: Bool {
        switch self {
        case .header, .envelope, .certificateForm, .leafKey, .payload: true
        default: false
        }
    }

    /// The code of a failure of this rule.
    public var code: VerificationFailure.Code {
        switch self {
        case .size, .segments, .base64, .header, .envelope, .oneSigner, .certificateBase64,
            .certificateForm, .payload:
            .malformed
        case .algorithm, .criticalHeader, .digest, .signatureAlgorithm: .algorithm
        case .chainLength: .chainLength
        case .root: .root
        case .names, .intermediateSignature, .leafSignature, .signer: .chain
        case .authority, .pathLength, .authorityUsage, .leafIsNoAuthority, .leafUsage,
            .leafMarker, .intermediateMarker, .markerCriticality, .criticalExtensions, .leafKey:
            .purpose
        case .signature: .signature
        case .notYetValid: .notYetValid
        case .expired: .expired
        case .signedInFuture: .signedInFuture
        case .bundleID: .bundleID
        case .appID: .appID
        case .environment: .environment
        case .device: .device
        }
    }
}

/// The rules that a verifier applies. All of them, except when a caller wants
/// to know what else is broken, or whether a rule is needed.
package struct VerificationRules: Sendable {
    private var leftOut: Set<VerificationRule> = []

    package static let all = VerificationRules()

    /// Returns these rules without one.
    package func without(_ rule: VerificationRule) -> VerificationRules {
        var rules = self
        rules.leftOut.insert(rule)
        return rules
    }

    package func keep(_ rule: VerificationRule) -> Bool { !leftOut.contains(rule) }

    func check(
        _ rule: VerificationRule, _ holds: Bool, _ message: @autoclosure () -> String
    ) throws(VerificationFailure) {
        guard holds || !keep(rule) else { throw VerificationFailure(breaking: rule, message()) }
    }
}
