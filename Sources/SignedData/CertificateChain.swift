// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SwiftASN1
import X509

/// Roots that a verifier trusts, compared byte for byte.
struct TrustedRoots: Sendable {
    private let certificates: Set<[UInt8]>

    init(_ certificates: [[UInt8]]) {
        self.certificates = Set(certificates)
    }

    func holds(_ certificate: [UInt8]) -> Bool { certificates.contains(certificate) }
}

/// A leaf that three certificates have proven, and when it may sign.
///
/// The path is always leaf, intermediate, root, so the rules are a list
/// rather than a path search. In this order: three certificates; the root is
/// trusted; each is X.509; names link; authorities may issue and the leaf may
/// sign; marker extensions; no critical extension unknown to us; signatures.
/// Validity is judged later, for each signed date.
struct CertificateChain: Sendable {
    let leaf: Certificate
    let validity: ValidityInterval

    static func prove(
        _ der: [[UInt8]], roots: TrustedRoots
    ) throws(VerificationFailure) -> CertificateChain {
        guard der.count == 3 else {
            throw VerificationFailure(
                .chainLength,
                "a chain is three certificates (leaf, intermediate, root), not \(der.count)")
        }
        guard roots.holds(der[2]) else {
            throw VerificationFailure(
                .root,
                "the root certificate is none of the trusted roots; trust the root of "
                    + "the store that signed this")
        }
        let leaf = try parse(der[0], "leaf")
        let intermediate = try parse(der[1], "intermediate")
        let root = try parse(der[2], "root")
        try checkNames(leaf, intermediate, root)
        try checkAuthority(intermediate, "intermediate", authoritiesBelow: 0)
        try checkAuthority(root, "root", authoritiesBelow: 1)
        try checkLeaf(leaf)
        try checkMarker(MarkerExtension.leaf, on: leaf, "leaf")
        try checkMarker(MarkerExtension.intermediate, on: intermediate, "intermediate")
        for (certificate, place) in [
            (leaf, "leaf"), (intermediate, "intermediate"), (root, "root"),
        ] {
            try checkCriticalExtensions(certificate, place)
        }
        try checkSignature(of: intermediate, by: root, "intermediate")
        try checkSignature(of: leaf, by: intermediate, "leaf")
        return CertificateChain(
            leaf: leaf, validity: ValidityInterval([leaf, intermediate, root]))
    }

    private static func parse(
        _ der: [UInt8], _ place: String
    ) throws(VerificationFailure) -> Certificate {
        guard der.count <= SignedDataLimits.certificateBytesMax,
            let certificate = try? Certificate(derEncoded: der)
        else {
            throw VerificationFailure(
                .malformed,
                "the \(place) is not an X.509 certificate in DER of at most "
                    + "\(SignedDataLimits.certificateBytesMax) bytes")
        }
        return certificate
    }

    private static func checkNames(
        _ leaf: Certificate, _ intermediate: Certificate, _ root: Certificate
    ) throws(VerificationFailure) {
        guard leaf.issuer == intermediate.subject, intermediate.issuer == root.subject else {
            throw VerificationFailure(
                .chain,
                "each certificate must name the next one as its issuer, "
                    + "in the order leaf, intermediate, root")
        }
    }

    private static func checkAuthority(
        _ certificate: Certificate, _ place: String, authoritiesBelow: Int
    ) throws(VerificationFailure) {
        guard
            case .isCertificateAuthority(let lengthMax)? = try? certificate.extensions
                .basicConstraints
        else {
            throw VerificationFailure(.purpose, "the \(place) is not a certificate authority")
        }
        guard lengthMax ?? authoritiesBelow >= authoritiesBelow else {
            throw VerificationFailure(
                .purpose, "the \(place) may not have other authorities below it")
        }
        guard let usage = try? certificate.extensions.keyUsage, usage.keyCertSign else {
            throw VerificationFailure(
                .purpose, "the key usage of the \(place) does not allow it to sign certificates")
        }
    }

    private static func checkLeaf(_ leaf: Certificate) throws(VerificationFailure) {
        let constraints = read { try leaf.extensions.basicConstraints }
        switch constraints {
        case .success(nil), .success(.notCertificateAuthority?): break
        default:
            throw VerificationFailure(.purpose, "the leaf must not be a certificate authority")
        }
        switch read({ try leaf.extensions.keyUsage }) {
        case .success(nil): break
        case .success(let usage?) where usage.digitalSignature: break
        default:
            throw VerificationFailure(
                .purpose, "the key usage of the leaf does not allow it to sign data")
        }
    }

    private static func read<Value>(_ body: () throws -> Value) -> Result<Value, any Error> {
        Result { try body() }
    }

    private static func checkMarker(
        _ oid: ASN1ObjectIdentifier, on certificate: Certificate, _ place: String
    ) throws(VerificationFailure) {
        guard let marker = certificate.extensions[oid: oid], !marker.critical else {
            throw VerificationFailure(
                .purpose, "the \(place) must carry the extension \(oid), not critical")
        }
    }

    /// Only what these rules judge may be critical.
    private static func checkCriticalExtensions(
        _ certificate: Certificate, _ place: String
    ) throws(VerificationFailure) {
        let judged: [ASN1ObjectIdentifier] = [
            .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage,
        ]
        for one in certificate.extensions where one.critical && !judged.contains(one.oid) {
            throw VerificationFailure(
                .purpose,
                "the \(place) has the critical extension \(one.oid), "
                    + "which this verifier does not know")
        }
    }

    private static func checkSignature(
        of certificate: Certificate, by issuer: Certificate, _ place: String
    ) throws(VerificationFailure) {
        guard issuer.publicKey.isValidSignature(certificate.signature, for: certificate) else {
            throw VerificationFailure(
                .chain, "the \(place) was not signed by the next certificate")
        }
    }
}

/// The time that all certificates of a chain share, both ends included.
struct ValidityInterval: Hashable, Sendable {
    let first: Timestamp
    let last: Timestamp

    init(_ certificates: [Certificate]) {
        let milliseconds = { (date: Date) in Int64((date.timeIntervalSince1970 * 1000).rounded()) }
        let starts = certificates.map { milliseconds($0.notValidBefore) }
        // A certificate names its last second, and is valid through the whole of it.
        let ends = certificates.map { milliseconds($0.notValidAfter) + 999 }
        first = Timestamp(milliseconds: starts.max() ?? .max)
        last = Timestamp(milliseconds: ends.min() ?? .min)
    }

    func check(_ signedDate: Timestamp) throws(VerificationFailure) {
        guard signedDate >= first else {
            throw VerificationFailure(
                .notYetValid,
                "signed at \(SignedDate.words(signedDate)), before the certificates' \(SignedDate.words(first))"
            )
        }
        guard signedDate <= last else {
            throw VerificationFailure(
                .expired,
                "signed at \(SignedDate.words(signedDate)), after the certificates' \(SignedDate.words(last))"
            )
        }
    }
}
