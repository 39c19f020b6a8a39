// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import X509

/// Three parsed certificates, and the rules for them in order.
struct ChainProof {
    let leaf: Certificate
    let intermediate: Certificate
    let root: Certificate
    let rules: VerificationRules

    func check() throws(VerificationFailure) {
        try rules.check(
            .names, leaf.issuer == intermediate.subject && intermediate.issuer == root.subject,
            "each certificate must name the next one as its issuer, "
                + "in the order leaf, intermediate, root")
        try checkAuthorities()
        try checkLeaf()
        try checkMarkers()
        try checkCriticalExtensions()
        try rules.check(
            .intermediateSignature, Self.isSigned(intermediate, by: root),
            "the intermediate was not signed by the root")
        try rules.check(
            .leafSignature, Self.isSigned(leaf, by: intermediate),
            "the leaf was not signed by the intermediate")
    }

    private func checkAuthorities() throws(VerificationFailure) {
        for (certificate, place) in [(intermediate, "intermediate"), (root, "root")] {
            try rules.check(
                .authority, Self.lengthMax(certificate) != nil,
                "the \(place) is not a certificate authority")
        }
        for (certificate, below) in [(intermediate, 0), (root, 1)] {
            let lengthMax = Self.lengthMax(certificate) ?? .max
            try rules.check(
                .pathLength, lengthMax >= below,
                "an authority has \(below) authorities below it and may have \(lengthMax)")
        }
        for (certificate, place) in [(intermediate, "intermediate"), (root, "root")] {
            // Checked if it is present (RFC 5280, 6.1.4), but not required.
            let maySign =
                switch Result(catching: { try certificate.extensions.keyUsage }) {
                case .success(nil): true
                case .success(let usage?): usage.keyCertSign
                default: false
                }
            try rules.check(
                .authorityUsage, maySign,
                "the key usage of the \(place) does not allow it to sign certificates")
        }
    }

    /// How many authorities may be below this one. Nil if the certificate is
    /// not an authority.
    private static func lengthMax(_ certificate: Certificate) -> Int? {
        guard
            case .isCertificateAuthority(let lengthMax)? = try? certificate.extensions
                .basicConstraints
        else { return nil }
        return lengthMax ?? .max
    }

    private func checkLeaf() throws(VerificationFailure) {
        let isNoAuthority =
            switch Result(catching: { try leaf.extensions.basicConstraints }) {
            case .success(nil), .success(.notCertificateAuthority?): true
            default: false
            }
        try rules.check(
            .leafIsNoAuthority, isNoAuthority, "the leaf must not be a certificate authority")
        let maySign =
            switch Result(catching: { try leaf.extensions.keyUsage }) {
            case .success(nil): true
            case .success(let usage?): usage.digitalSignature
            default: false
            }
        try rules.check(
            .leafUsage, maySign, "the key usage of the leaf does not allow it to sign data")
    }

    private func checkMarkers() throws(VerificationFailure) {
        let leafMarker = leaf.extensions[oid: MarkerExtension.leaf]
        let intermediateMarker = intermediate.extensions[oid: MarkerExtension.intermediate]
        try rules.check(
            .leafMarker, leafMarker != nil,
            "the leaf must carry the extension \(MarkerExtension.leaf)")
        try rules.check(
            .intermediateMarker, intermediateMarker != nil,
            "the intermediate must carry the extension \(MarkerExtension.intermediate)")
        try rules.check(
            .markerCriticality,
            leafMarker?.critical != true && intermediateMarker?.critical != true,
            "the extensions that mark a purpose must not be critical")
    }

    /// Throws if an extension is critical that these rules do not check.
    private func checkCriticalExtensions() throws(VerificationFailure) {
        let judged: [ASN1ObjectIdentifier] = [
            .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, MarkerExtension.leaf,
            MarkerExtension.intermediate,
        ]
        for certificate in [leaf, intermediate, root] {
            for one in certificate.extensions where one.critical {
                try rules.check(
                    .criticalExtensions, judged.contains(one.oid),
                    "a certificate has the critical extension \(one.oid), "
                        + "which this verifier does not know")
            }
        }
    }

    private static func isSigned(_ certificate: Certificate, by issuer: Certificate) -> Bool {
        issuer.publicKey.isValidSignature(certificate.signature, for: certificate)
    }
}
