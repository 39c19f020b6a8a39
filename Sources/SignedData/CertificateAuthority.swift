// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// The kind of realm that an authority signs for. The two kinds never share a
/// root, so that data signed in a sandbox cannot pass for a sale.
public enum AuthorityKind: String, Hashable, Sendable, CaseIterable {
    case sandbox, production
}

/// A store's certificate authority with its signing keys.
///
/// A P-384 root issues a P-384 intermediate. That issues a P-256 leaf for JWS
/// and an RSA-2048 leaf for receipts. A P-256 responder signs status answers
/// about the intermediate on behalf of the root. All certificates are valid
/// from 2000 to 2099, which is the range of a realm's clock. They have the
/// marker extensions that the App Store's libraries require, and names that
/// show their real issuer. Making an authority takes a tenth of a second or
/// more, because it generates an RSA key. So tests share one.
public struct CertificateAuthority: Sendable {
    /// The root certificate in DER, which verifiers are configured to trust.
    public let root: [UInt8]
    /// Signs payloads as JWS.
    public let transactions: JWSSigner
    /// Signs app receipts as PKCS#7.
    public let receipts: ReceiptSigner
    /// Every certificate and private key as PEM, by file name. Secret: pass
    /// them to a key store only.
    public let files: [String: [UInt8]]

    /// Answers whether these certificates are still valid.
    public let status: CertificateStatusResponder
    let keys: AuthorityKeys
    /// In the order of ``AuthorityFile/certificates``.
    let certificates: [Certificate]

    /// Generates keys and certificates. `statusURL`: the address of ``status``
    /// that the certificates contain. It must be public and never change.
    public static func make(
        _ kind: AuthorityKind, statusURL: String? = nil
    ) throws -> CertificateAuthority {
        let issuer = CertificateIssuer(kind: kind, statusURL: statusURL)
        let keys = try AuthorityKeys()
        guard let rootKey = keys.root else { throw rootKeyMissing }
        let root = try issuer.root(rootKey)
        let responder = try issuer.responder(
            Certificate.PublicKey(keys.responder.publicKey), from: root, rootKey)
        let intermediate = try issuer.intermediate(keys.intermediate, from: root, rootKey)
        return try CertificateAuthority(
            keys, issuer: issuer, root: root, intermediate: intermediate, responder: responder)
    }

    /// Returns an authority with the same root and new leaves, and with a new
    /// intermediate if `withIntermediate` is set. Only the latter needs the
    /// root's key. Earlier signatures remain valid, because each carries its
    /// own chain.
    public func rotated(
        _ kind: AuthorityKind, withIntermediate: Bool = false, statusURL: String? = nil
    ) throws -> CertificateAuthority {
        let issuer = CertificateIssuer(kind: kind, statusURL: statusURL)
        guard withIntermediate else {
            let keys = try AuthorityKeys(
                root: keys.root, intermediate: keys.intermediate, responder: keys.responder)
            return try CertificateAuthority(
                keys, issuer: issuer, root: certificates[0], intermediate: certificates[1],
                responder: certificates[4])
        }
        guard let rootKey = keys.root else { throw Self.rootKeyMissing }
        let keys = try AuthorityKeys(
            root: rootKey, intermediate: P384.Signing.PrivateKey(), responder: keys.responder)
        return try CertificateAuthority(
            keys, issuer: issuer, root: certificates[0],
            intermediate: issuer.intermediate(keys.intermediate, from: certificates[0], rootKey),
            responder: certificates[4])
    }

    private static var rootKeyMissing: AuthorityFault {
        AuthorityFile.rootKey.fault(
            "is kept elsewhere; bring it back to rotate the intermediate, then take it away again")
    }

    /// Loads an authority from its ``files``. Throws an ``AuthorityFault`` that
    /// names a file which is missing, unreadable or does not match the others.
    public init(files: [String: [UInt8]]) throws {
        let keys = try AuthorityKeys(files: files)
        var certificates: [Certificate] = []
        for file in AuthorityFile.certificates {
            certificates.append(try file.read(from: files) { try Certificate(pemEncoded: $0) })
        }
        try self.init(keys, certificates: certificates)
    }

    /// The root certificate as PEM.
    public var rootPEM: String {
        String(decoding: files[AuthorityFile.root.rawValue] ?? [], as: UTF8.self)
    }

    /// SHA-256 of the root's DER, in lower-case hexadecimal digits.
    public var rootFingerprint: String { Self.fingerprint(of: root) }

    /// SHA-256 of a certificate's DER, in lower-case hexadecimal digits.
    public static func fingerprint(of certificate: [UInt8]) -> String {
        hexadecimal(SHA256.hash(data: certificate))
    }

    /// The certificates that it issued, for lists, and to answer for them after
    /// a rotation.
    public var issued: [IssuedCertificate] { IssuedCertificate.all(certificates) }

    /// Whether the root's key is here, and not kept offline.
    public var hasRootKey: Bool { keys.root != nil }

    /// The serial numbers of the leaves as big-endian octets. Store them when
    /// the leaves are rotated, so that ``status`` can still answer for them.
    public var leafSerials: [[UInt8]] {
        [certificates[2], certificates[3]].map(CertificateStatusResponder.serial)
    }

    private init(
        _ keys: AuthorityKeys, issuer: CertificateIssuer, root: Certificate,
        intermediate: Certificate, responder: Certificate
    ) throws {
        let transactions = try issuer.leaf(
            Certificate.PublicKey(keys.transactions.publicKey), name: "Signed Data",
            from: intermediate, keys.intermediate)
        let receipts = try issuer.leaf(
            Certificate.PublicKey(keys.receipts.publicKey), name: "Receipts",
            from: intermediate, keys.intermediate)
        try self.init(
            keys, certificates: [root, intermediate, transactions, receipts, responder])
    }

    /// `certificates`: in the order of ``AuthorityFile/certificates``.
    private init(_ keys: AuthorityKeys, certificates: [Certificate]) throws {
        try keys.match(certificates)
        let der = try certificates.map { certificate in
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        }
        let roots = TrustedRoots([der[0]])
        _ = try CertificateChain.prove([der[2], der[1], der[0]], roots: roots)
        _ = try CertificateChain.prove([der[3], der[1], der[0]], roots: roots)
        root = der[0]
        transactions = JWSSigner(key: keys.transactions, chain: [der[2], der[1], der[0]])
        receipts = try ReceiptSigner(
            key: keys.receipts, leaf: certificates[3], chain: [der[3], der[1], der[0]])
        status = CertificateStatusResponder(
            root: certificates[0], intermediate: certificates[1],
            leaves: [certificates[2], certificates[3]], responder: certificates[4],
            intermediateKey: keys.intermediate, responderKey: keys.responder)
        self.keys = keys
        self.certificates = certificates
        var files = try keys.files()
        for (name, certificate) in zip(AuthorityFile.certificates, certificates) {
            files[name.rawValue] = Array(try certificate.serializeAsPEM().pemString.utf8)
        }
        self.files = files
    }
}

/// A file of an authority cannot be used, with the reason.
public struct AuthorityFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's name, as in ``CertificateAuthority/files``.
    public let file: String
    /// One sentence with the rule and the remedy.
    public let message: String

    public var description: String { "\(file): \(message)" }
}
