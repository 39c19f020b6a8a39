// SPDX-License-Identifier: Apache-2.0

import Crypto
import SwiftASN1
import X509
import _CryptoExtras

/// The digest of a receipt's octets that is signed.
public enum ReceiptDigest: Hashable, Sendable, CaseIterable {
    /// The App Store's since 2023.
    case sha256
    /// The App Store's before 2023, for readers that support nothing else.
    case sha1
}

/// The PKCS#7 (RFC 2315) SignedData around a receipt: version 1, one signer, no
/// signed attributes, certificates in the order leaf, intermediate, root. The
/// order matters, although the format calls it a SET, because some readers take
/// the first certificate for the leaf.
struct ReceiptEnvelope {
    let digest: ReceiptDigest
    /// The signed octets.
    let content: [UInt8]
    /// In DER, in the order of the envelope.
    let certificates: [[UInt8]]
    let signer: SignerName
    let signature: [UInt8]

    /// The name of a signer: its issuer's name and its serial number, both in
    /// DER.
    struct SignerName: Hashable {
        let issuer: [UInt8]
        let serial: [UInt8]
    }

    enum OID {
        static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 2]
        static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
        static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
        static let sha1: ASN1ObjectIdentifier = [1, 3, 14, 3, 2, 26]
        static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
        static let sha256WithRSA: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 11]
        static let sha1WithRSA: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 5]
    }
}

extension ReceiptDigest {
    var oid: ASN1ObjectIdentifier {
        switch self {
        case .sha256: ReceiptEnvelope.OID.sha256
        case .sha1: ReceiptEnvelope.OID.sha1
        }
    }

    /// The algorithms that a signer may give for RSA with this digest.
    var signatureOIDs: [ASN1ObjectIdentifier] {
        switch self {
        case .sha256: [ReceiptEnvelope.OID.rsaEncryption, ReceiptEnvelope.OID.sha256WithRSA]
        case .sha1: [ReceiptEnvelope.OID.rsaEncryption, ReceiptEnvelope.OID.sha1WithRSA]
        }
    }

    func sign(_ content: [UInt8], _ key: _RSA.Signing.PrivateKey) throws -> [UInt8] {
        switch self {
        case .sha256:
            Array(
                try key.signature(
                    for: SHA256.hash(data: content), padding: .insecurePKCS1v1_5
                ).rawRepresentation)
        case .sha1:
            Array(
                try key.signature(
                    for: Insecure.SHA1.hash(data: content), padding: .insecurePKCS1v1_5
                ).rawRepresentation)
        }
    }

    func isValid(_ signature: [UInt8], of content: [UInt8], _ key: _RSA.Signing.PublicKey) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return switch self {
        case .sha256:
            key.isValidSignature(
                signature, for: SHA256.hash(data: content), padding: .insecurePKCS1v1_5)
        case .sha1:
            key.isValidSignature(
                signature, for: Insecure.SHA1.hash(data: content), padding: .insecurePKCS1v1_5)
        }
    }
}

extension ReceiptEnvelope.SignerName {
    /// The name of a certificate, with the bytes of the certificate itself.
    init(_ certificate: Certificate) throws {
        let node = try DER.parse(Array(certificate.tbsCertificateBytes))
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            var serial = nodes.next()
            if serial?.identifier.tagClass == .contextSpecific { serial = nodes.next() }
            _ = nodes.next()
            guard let serial, let issuer = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "a certificate too short")
            }
            while nodes.next() != nil {}
            return Self(issuer: Array(issuer.encodedBytes), serial: Array(serial.encodedBytes))
        }
    }
}

extension ReceiptEnvelope: DERSerializable {
    func serialize(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(OID.signedData)
            try coder.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) {
                try $0.appendConstructedNode(identifier: .sequence, serializeSignedData)
            }
        }
    }

    private func serializeSignedData(_ coder: inout DER.Serializer) throws {
        try coder.serialize(1)
        try coder.appendConstructedNode(identifier: .set) {
            try Self.serialize(algorithm: digest.oid, into: &$0)
        }
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(OID.data)
            try coder.serialize(
                ASN1OctetString(contentBytes: content[...]), explicitlyTaggedWithTagNumber: 0,
                tagClass: .contextSpecific)
        }
        let certificateSet = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        coder.appendConstructedNode(identifier: certificateSet) { coder in
            for certificate in certificates { coder.serializeRawBytes(certificate) }
        }
        try coder.appendConstructedNode(identifier: .set) {
            try $0.appendConstructedNode(identifier: .sequence, serializeSigner)
        }
    }

    private func serializeSigner(_ coder: inout DER.Serializer) throws {
        try coder.serialize(1)
        coder.appendConstructedNode(identifier: .sequence) { coder in
            coder.serializeRawBytes(signer.issuer)
            coder.serializeRawBytes(signer.serial)
        }
        try Self.serialize(algorithm: digest.oid, into: &coder)
        try Self.serialize(algorithm: OID.rsaEncryption, into: &coder)
        try coder.serialize(ASN1OctetString(contentBytes: signature[...]))
    }

    private static func serialize(
        algorithm: ASN1ObjectIdentifier, into coder: inout DER.Serializer
    ) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(algorithm)
            try coder.serialize(ASN1Null())
        }
    }
}
