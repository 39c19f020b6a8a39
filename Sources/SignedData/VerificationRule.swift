// SPDX-License-Identifier: Apache-2.0

/// One rule of verification. The order of ``signedJSON`` and ``receipt`` is
/// the order in which the first broken rule is reported.
public enum VerificationRule: String, Hashable, Sendable, CaseIterable {
    // How it is written.
    case size, segments, base64, header, envelope
    // By which algorithm.
    case algorithm, criticalHeader, oneSigner, digest, signatureAlgorithm
    // Who signed it.
    case chainLength, certificateBase64, root, certificateForm, names, authority, pathLength
    case authorityUsage, leafIsNoAuthority, leafUsage, leafMarker, intermediateMarker
    case markerCriticality, criticalExtensions, intermediateSignature, leafSignature
    case signer, leafKey, signature
    // What it says.
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

    /// The rules for what Xcode signs on a developer's machine, with one
    /// certificate and none above it.
    public static let xcode: [VerificationRule] = [
        .size, .segments, .base64, .header, .envelope, .algorithm, .criticalHeader,
        .signatureAlgorithm, .oneSigner, .chainLength, .certificateBase64, .root,
        .certificateForm, .signer, .leafKey, .signature, .payload, .notYetValid, .expired,
        .environment,
    ]

    /// Whether later rules judge what this one reads: what cannot be read
    /// cannot be judged any further, so such a rule cannot be left out.
    public var isReading: Bool {
        switch self {
        case .header, .envelope, .certificateForm, .leafKey, .payload: true
        default: false
        }
    }

    /// What a failure of this rule is called.
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

/// The rules that a verifier keeps: all of them, except where somebody asks
/// what would come after a broken one, or whether a rule is needed at all.
package struct VerificationRules: Sendable {
    private var leftOut: Set<VerificationRule> = []

    package static let all = VerificationRules()

    /// All but one.
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
