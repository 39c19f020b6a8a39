// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import X509

/// What an authority signs for. The two never share a root, so that nothing
/// signed in a sandbox can pass for a sale.
public enum AuthorityKind: String, Hashable, Sendable, CaseIterable {
    case sandbox, production
}

/// A store's own certificate authority and the keys it signs with.
///
/// A P-384 root issues a P-384 intermediate; that issues a P-256 leaf for
/// JWS and an RSA-2048 leaf for receipts. All are valid from 2000 to 2099,
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

    /// Makes new keys and certificates.
    public static func make(_ kind: AuthorityKind) throws -> CertificateAuthority {
        try CertificateAuthority(AuthorityKeys(), kind: kind)
    }

    /// Takes up what `files` gave. Throws an ``AuthorityFault`` naming the
    /// file that is missing, unreadable or does not fit the others.
    public init(files: [String: [UInt8]]) throws {
        let keys = try AuthorityKeys(files: files)
        var certificates: [Certificate] = []
        for file in [AuthorityFile.root, .intermediate, .transactions, .receipts] {
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

    private init(_ keys: AuthorityKeys, kind: AuthorityKind) throws {
        let issuer = CertificateIssuer(kind: kind)
        let root = try issuer.root(keys.root)
        let intermediate = try issuer.intermediate(keys.intermediate, from: root, keys.root)
        let transactions = try issuer.leaf(
            Certificate.PublicKey(keys.transactions.publicKey), name: "Signed Data",
            from: intermediate, keys.intermediate)
        let receipts = try issuer.leaf(
            Certificate.PublicKey(keys.receipts.publicKey), name: "Receipts",
            from: intermediate, keys.intermediate)
        try self.init(keys, certificates: [root, intermediate, transactions, receipts])
    }

    /// `certificates`: root, intermediate, leaf for JWS, leaf for receipts.
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
        var files = try keys.files()
        let names: [AuthorityFile] = [.root, .intermediate, .transactions, .receipts]
        for (name, certificate) in zip(names, certificates) {
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
