// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SwiftASN1
import X509

/// The roots that a verifier trusts. They are compared byte for byte.
struct TrustedRoots: Sendable {
    private let certificates: Set<[UInt8]>

    init(_ certificates: [[UInt8]]) {
        self.certificates = Set(certificates)
    }

    func holds(_ certificate: [UInt8]) -> Bool { certificates.contains(certificate) }
}

/// A leaf that a valid chain of three certificates ends with, and when it may
/// sign.
///
/// The path is always leaf, intermediate, root. So the rules are a list instead
/// of a path search: see ``VerificationRule``. Validity is checked later, for
/// each signed date.
struct CertificateChain: Sendable {
    let leaf: Certificate
    let validity: ValidityInterval

    static func prove(
        _ der: [[UInt8]], roots: TrustedRoots, rules: VerificationRules = .all
    ) throws(VerificationFailure) -> CertificateChain {
        try rules.check(
            .chainLength, der.count == 3, Self.lengthMessage(der.count))
        guard der.count >= 3 else {
            throw VerificationFailure(breaking: .chainLength, Self.lengthMessage(der.count))
        }
        try rules.check(
            .root, roots.holds(der[2]),
            "the root certificate is none of the trusted roots; trust the root of "
                + "the store that signed this")
        let chain = ChainProof(
            leaf: try parse(der[0], "leaf"), intermediate: try parse(der[1], "intermediate"),
            root: try parse(der[2], "root"), rules: rules)
        try chain.check()
        return CertificateChain(
            leaf: chain.leaf,
            validity: ValidityInterval([chain.leaf, chain.intermediate, chain.root]))
    }

    static func parse(
        _ der: [UInt8], _ place: String
    ) throws(VerificationFailure) -> Certificate {
        guard der.count <= SignedDataLimits.certificateBytesMax,
            let certificate = try? Certificate(derEncoded: der)
        else {
            throw VerificationFailure(
                breaking: .certificateForm,
                "the \(place) is not an X.509 certificate in DER of at most "
                    + "\(SignedDataLimits.certificateBytesMax) bytes")
        }
        return certificate
    }

    private static func lengthMessage(_ count: Int) -> String {
        "a chain is three certificates (leaf, intermediate, root), not \(count)"
    }
}

/// The time in which all certificates of a chain are valid, including both
/// ends.
struct ValidityInterval: Hashable, Sendable {
    let first: Timestamp
    let last: Timestamp

    init(_ certificates: [Certificate]) {
        let milliseconds = { (date: Date) in Int64((date.timeIntervalSince1970 * 1000).rounded()) }
        let starts = certificates.map { milliseconds($0.notValidBefore) }
        // A certificate names its last second and is valid until the end of it.
        let ends = certificates.map { milliseconds($0.notValidAfter) + 999 }
        first = Timestamp(milliseconds: starts.max() ?? .max)
        last = Timestamp(milliseconds: ends.min() ?? .min)
    }

    func check(
        _ signedDate: Timestamp, rules: VerificationRules = .all
    ) throws(VerificationFailure) {
        try rules.check(
            .notYetValid, signedDate >= first,
            "signed at \(SignedDate.words(signedDate)), before the certificates' \(SignedDate.words(first))"
        )
        try rules.check(
            .expired, signedDate <= last,
            "signed at \(SignedDate.words(signedDate)), after the certificates' \(SignedDate.words(last))"
        )
    }
}
