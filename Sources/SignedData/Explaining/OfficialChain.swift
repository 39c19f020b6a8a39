// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
import X509

/// Three certificates, judged like OpenSSL does in its strict mode without a
/// purpose, and with the two extensions that Apple's library requires. The
/// third certificate of a header is ignored: the trusted root is used.
struct OfficialChain {
    let leaf: Certificate
    let intermediate: Certificate
    let roots: [Certificate]

    /// A leaf's public key.
    struct Key {
        fileprivate let key: P256.Signing.PublicKey

        func isValid(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: SHA256.hash(data: bytes))
        }
    }

    /// Bytes after a certificate are ignored too.
    static func parse(_ der: [UInt8]) -> Certificate? {
        der.count <= SignedDataLimits.certificateBytesMax
            ? try? Certificate(derEncoded: der) : nil
    }

    /// Returns the leaf's key if the chain is valid, otherwise nil.
    func provenKey(at seconds: Double) -> Key? {
        guard let root = roots.first(where: { Self.isIssued(intermediate, by: $0) }),
            Self.isIssued(root, by: root), Self.isIssued(leaf, by: intermediate),
            [leaf, intermediate, root].allSatisfy({ Self.isValid($0, at: seconds) }),
            [leaf, intermediate, root].allSatisfy(Self.keepsStrictRules),
            Self.mayIssue(intermediate, below: 0), Self.mayIssue(root, below: 1),
            Self.hasKeyIdentifiers(leaf), Self.hasKeyIdentifiers(intermediate),
            leaf.extensions[oid: MarkerExtension.leaf] != nil,
            intermediate.extensions[oid: MarkerExtension.intermediate] != nil
        else { return nil }
        return P256.Signing.PublicKey(leaf.publicKey).map(Key.init)
    }

    private static func isIssued(_ certificate: Certificate, by issuer: Certificate) -> Bool {
        let named = (try? certificate.extensions.authorityKeyIdentifier)?.keyIdentifier
        let own = (try? issuer.extensions.subjectKeyIdentifier)?.keyIdentifier
        let fits = named == nil || own == nil || named == own
        return certificate.issuer == issuer.subject && fits
            && issuer.publicKey.isValidSignature(certificate.signature, for: certificate)
    }

    private static func isValid(_ certificate: Certificate, at seconds: Double) -> Bool {
        certificate.notValidBefore.timeIntervalSince1970 <= seconds
            && seconds <= certificate.notValidAfter.timeIntervalSince1970
    }

    private static func mayIssue(_ certificate: Certificate, below: Int) -> Bool {
        guard
            case .isCertificateAuthority(let lengthMax)? = try? certificate.extensions
                .basicConstraints,
            lengthMax ?? .max >= below,
            let usage = try? certificate.extensions.keyUsage
        else { return false }
        return usage.keyCertSign
    }

    /// What the strict mode requires of every certificate.
    private static func keepsStrictRules(_ certificate: Certificate) -> Bool {
        let extensions = certificate.extensions
        var isAuthority = false
        if case .isCertificateAuthority? = try? extensions.basicConstraints { isAuthority = true }
        if isAuthority {
            guard extensions[oid: .X509ExtensionID.basicConstraints]?.critical == true,
                extensions[oid: .X509ExtensionID.keyUsage] != nil,
                extensions[oid: .X509ExtensionID.subjectKeyIdentifier] != nil,
                !certificate.subject.isEmpty
            else { return false }
        } else if let usage = try? extensions.keyUsage, usage.keyCertSign {
            return false
        }
        let identifiers: [ASN1ObjectIdentifier] = [
            .X509ExtensionID.subjectKeyIdentifier, .X509ExtensionID.authorityKeyIdentifier,
        ]
        return extensions.allSatisfy { one in
            !one.critical || (known.contains(one.oid) && !identifiers.contains(one.oid))
        }
    }

    /// Required of every certificate except the root.
    private static func hasKeyIdentifiers(_ certificate: Certificate) -> Bool {
        (try? certificate.extensions.authorityKeyIdentifier)?.keyIdentifier != nil
    }

    /// Critical extensions that OpenSSL checks.
    private static let known: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage,
        .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.subjectAlternativeName,
        .X509ExtensionID.nameConstraints, [2, 5, 29, 32], [2, 5, 29, 33], [2, 5, 29, 36],
        [2, 5, 29, 54],
    ]
}
