// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// What an authority signs for. The two never share a root, so that nothing
/// signed in a sandbox can pass for a sale.
public enum AuthorityKind: String, Hashable, Sendable, CaseIterable {
    case sandbox, production
}

/// A store's own certificate authority and the keys it signs with.
///
/// A P-384 root issues a P-384 intermediate; that issues a P-256 leaf for
/// JWS and an RSA-2048 leaf for receipts; a P-256 responder answers in the
/// root's name whether the intermediate holds. All are valid from 2000 to 2099,
/// the range a realm's clock may visit. They carry the marker extensions that
/// the App Store's libraries look for, and names that say who really made
/// them. Making one costs an RSA key (a tenth of a second or more), so tests
/// share one.
public struct CertificateAuthority: Sendable {
    /// The root certificate, in DER: what verifiers are told to trust.
    public let root: [UInt8]
    /// Signs payloads as JWS.
    public let transactions: JWSSigner
    /// Signs app receipts as PKCS#7.
    public let receipts: ReceiptSigner
    /// Every certificate and private key as PEM, by file name. Secret: give
    /// them to a key store only.
    public let files: [String: [UInt8]]

    /// Tells whether these certificates still hold.
    public let status: CertificateStatusResponder
    private let keys: AuthorityKeys
    private let certificates: [Certificate]

    /// Makes new keys and certificates. `statusURL`: where certificates say
    /// that ``status`` is to be asked; a public address that never changes.
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

    /// The same root with new leaves, and a new intermediate too where that
    /// is asked for, which alone needs the root's key. What was signed before
    /// verifies as ever: each signature carries its own chain.
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

    /// Takes up what `files` gave. Throws an ``AuthorityFault`` naming the
    /// file that is missing, unreadable or does not fit the others.
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

    /// What it issued and signs with, for lists, and to go on answering for it
    /// after a rotation.
    public var issued: [IssuedCertificate] { IssuedCertificate.all(certificates) }

    /// Whether the root's key is here, and not in a safe.
    public var hasRootKey: Bool { keys.root != nil }

    /// The serial numbers of the leaves, big-endian octets: to be kept when
    /// they are rotated, so that ``status`` goes on answering for them.
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

    /// `certificates`: those of ``AuthorityFile/certificates``, in their order.
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

/// A file of an authority that cannot be used, and why.
public struct AuthorityFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's name, as in ``CertificateAuthority/files``.
    public let file: String
    /// One plain sentence: the rule and the remedy.
    public let message: String

    public var description: String { "\(file): \(message)" }
}
