// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SwiftASN1
import X509

/// Extensions by which the App Store's libraries recognise the purpose of a
/// certificate: present, not critical, with the value NULL.
enum MarkerExtension {
    /// On a leaf that signs purchases.
    static let leaf: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    /// On the intermediate that issued it.
    static let intermediate: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]

    static func make(_ oid: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: oid, critical: false, value: [0x05, 0x00])
    }
}

/// Issues the certificates of one authority, in a profile that OpenSSL's strict
/// mode, swift-certificates and Java's path validator all accept.
struct CertificateIssuer {
    let kind: AuthorityKind
    /// The address of status answers in the certificates. Nil for none.
    let statusURL: String?

    /// 2000-01-01T00:00:00Z and 2099-12-31T23:59:59Z.
    private static let notValidBefore = Date(timeIntervalSince1970: 946_684_800)
    private static let notValidAfter = Date(timeIntervalSince1970: 4_102_444_799)
    /// A client's clock may be a day behind.
    private static let serverLeadSeconds = 86_400.0
    /// Some clients reject a server's certificate that is valid for longer than
    /// 825 days.
    private static let serverLifeSeconds = 820 * 86_400.0

    func root(_ key: P384.Signing.PrivateKey) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        let subject = try name("Root")
        return try issue(
            publicKey, subject: subject, issuer: subject, issuerKey: key,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: publicKey)
            })
    }

    func intermediate(
        _ key: P384.Signing.PrivateKey, from root: Certificate, _ rootKey: P384.Signing.PrivateKey
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        return try issue(
            publicKey, subject: name("Intermediate"), issuer: root.subject, issuerKey: rootKey,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: publicKey)
                Self.identifier(of: root)
                if let statusAccess { statusAccess }
                MarkerExtension.make(MarkerExtension.intermediate)
            })
    }

    /// The certificate of the responder that answers on behalf of the root.
    /// Its own status is never asked for.
    func responder(
        _ publicKey: Certificate.PublicKey, from root: Certificate,
        _ rootKey: P384.Signing.PrivateKey
    ) throws -> Certificate {
        try issue(
            publicKey, subject: name("Status Responder"), issuer: root.subject,
            issuerKey: rootKey,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.ocspSigning])
                SubjectKeyIdentifier(hash: publicKey)
                Self.identifier(of: root)
                Certificate.Extension(
                    oid: [1, 3, 6, 1, 5, 5, 7, 48, 1, 5], critical: false, value: [0x05, 0x00])
            })
    }

    func leaf(
        _ publicKey: Certificate.PublicKey, name: String, from intermediate: Certificate,
        _ intermediateKey: P384.Signing.PrivateKey
    ) throws -> Certificate {
        try issue(
            publicKey, subject: self.name(name), issuer: intermediate.subject,
            issuerKey: intermediateKey,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                SubjectKeyIdentifier(hash: publicKey)
                Self.identifier(of: intermediate)
                if let statusAccess { statusAccess }
                MarkerExtension.make(MarkerExtension.leaf)
            })
    }

    /// The certificate of a server with TLS. It has no marker, so that its key
    /// can sign no purchase. `now` is wall time, by which clients judge it.
    func server(
        _ publicKey: Certificate.PublicKey, for names: ServerNames, now: Timestamp,
        from intermediate: Certificate, _ intermediateKey: P384.Signing.PrivateKey
    ) throws -> Certificate {
        let seconds = Double(now.milliseconds) / 1000
        return try issue(
            publicKey, subject: name("Server"), issuer: intermediate.subject,
            issuerKey: intermediateKey,
            from: Date(timeIntervalSince1970: seconds - Self.serverLeadSeconds),
            until: Date(timeIntervalSince1970: seconds + Self.serverLifeSeconds),
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: publicKey)
                Self.identifier(of: intermediate)
                SubjectAlternativeNames(
                    names.hosts.map { .dnsName($0) }
                        + names.addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) }
                )
            })
    }

    private var statusAccess: AuthorityInformationAccess? {
        statusURL.map { url in
            AuthorityInformationAccess([
                .init(method: .ocspServer, location: .uniformResourceIdentifier(url))
            ])
        }
    }

    private static func identifier(of issuer: Certificate) -> AuthorityKeyIdentifier {
        AuthorityKeyIdentifier(
            keyIdentifier: SubjectKeyIdentifier(hash: issuer.publicKey).keyIdentifier)
    }

    /// A subject that cannot be mistaken for the App Store's.
    private func name(_ role: String) throws -> DistinguishedName {
        try DistinguishedName {
            OrganizationName("Shopkeeper")
            OrganizationalUnitName("Self-made by a local store, not issued by Apple")
            CommonName("Shopkeeper \(kind.rawValue.capitalized) \(role)")
        }
    }

    private func issue(
        _ publicKey: Certificate.PublicKey, subject: DistinguishedName,
        issuer: DistinguishedName, issuerKey: P384.Signing.PrivateKey,
        from first: Date = notValidBefore, until last: Date = notValidAfter,
        extensions: Certificate.Extensions
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
            notValidBefore: first, notValidAfter: last,
            issuer: issuer, subject: subject, signatureAlgorithm: .ecdsaWithSHA384,
            extensions: extensions, issuerPrivateKey: Certificate.PrivateKey(issuerKey))
    }
}
