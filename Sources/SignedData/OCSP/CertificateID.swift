// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
import X509

/// How a status request names a certificate (RFC 6960, CertID): by digests of
/// its issuer's name and key, and by its serial number.
struct CertificateID: Hashable {
    /// The digests that a request may use.
    enum Digest: CaseIterable {
        case sha1, sha256

        var oid: ASN1ObjectIdentifier {
            switch self {
            case .sha1: ReceiptEnvelope.OID.sha1
            case .sha256: ReceiptEnvelope.OID.sha256
            }
        }

        func hash(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .sha1: Array(Insecure.SHA1.hash(data: Data(bytes)))
            case .sha256: Array(SHA256.hash(data: Data(bytes)))
            }
        }
    }

    /// Nil for an unknown digest. Such a certificate is of no issuer here.
    let digest: Digest?
    let issuerName: [UInt8]
    let issuerKey: [UInt8]
    /// The serial number's octets, big-endian, without leading zeros.
    let serial: [UInt8]
    /// The encoded form as received. It is sent back byte for byte.
    let encoded: [UInt8]

    init(_ node: ASN1Node) throws {
        encoded = Array(node.encodedBytes)
        (digest, issuerName, issuerKey, serial) = try DER.sequence(node, identifier: .sequence) {
            nodes in
            guard let algorithm = nodes.next() else { throw OCSPFault() }
            let oid = try DER.sequence(algorithm, identifier: .sequence) { nodes in
                let oid = try ASN1ObjectIdentifier(derEncoded: &nodes)
                if let parameters = nodes.next() { _ = try ASN1Null(derEncoded: parameters) }
                return oid
            }
            let name = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
            let key = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
            guard let number = nodes.next(), number.identifier == .integer,
                case .primitive(let octets) = number.content
            else { throw OCSPFault() }
            return (Digest.allCases.first { $0.oid == oid }, name, key, Self.serial(octets))
        }
    }

    /// Returns the octets without leading zeros, by which serial numbers are
    /// compared.
    static func serial(_ octets: some Sequence<UInt8>) -> [UInt8] {
        Array(octets.drop { $0 == 0 })
    }

    /// Whether it names `issuer` as the issuer.
    func names(_ issuer: Certificate) throws -> Bool {
        guard let digest else { return false }
        var name = DER.Serializer()
        try name.serialize(issuer.subject)
        return issuerName == digest.hash(name.serializedBytes)
            && issuerKey == digest.hash(Array(issuer.publicKey.subjectPublicKeyInfoBytes))
    }
}

/// The bytes are not a status request.
struct OCSPFault: Error {}

/// A request to a responder (RFC 6960, OCSPRequest). Signatures on requests are
/// ignored, because every client may ask.
struct CertificateStatusRequest {
    /// Far more than a chain has.
    static let certificatesMax = 16
    static let bytesMax = 8 * 1024
    private static let nonceOID: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 2]
    private static let nonceBytesMax = 130

    let certificates: [CertificateID]
    /// The whole nonce extension in DER, which prevents that an answer is used
    /// for another request.
    let nonce: [UInt8]?

    init(_ der: [UInt8]) throws {
        guard der.count <= Self.bytesMax else { throw OCSPFault() }
        self = try DER.sequence(DER.parse(der), identifier: .sequence) { nodes in
            guard let request = nodes.next() else { throw OCSPFault() }
            // A signature may follow.
            while nodes.next() != nil {}
            return try DER.sequence(request, identifier: .sequence) { try Self(&$0) }
        }
    }

    private init(_ nodes: inout ASN1NodeCollection.Iterator) throws {
        var certificates: [CertificateID] = []
        var nonce: [UInt8]?
        while let node = nodes.next() {
            switch node.identifier {
            case .sequence:
                try DER.sequence(node, identifier: .sequence) { requests in
                    while let request = requests.next() {
                        certificates.append(try Self.certificate(request))
                    }
                }
            case ASN1Identifier(tagWithNumber: 2, tagClass: .contextSpecific):
                nonce = try Self.nonce(node)
            // The version and the name of the client.
            case ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific),
                ASN1Identifier(tagWithNumber: 1, tagClass: .contextSpecific):
                break
            default: throw OCSPFault()
            }
        }
        guard (1...Self.certificatesMax).contains(certificates.count) else { throw OCSPFault() }
        self.certificates = certificates
        self.nonce = nonce
    }

    private static func certificate(_ node: ASN1Node) throws -> CertificateID {
        try DER.sequence(node, identifier: .sequence) { nodes in
            guard let id = nodes.next() else { throw OCSPFault() }
            while nodes.next() != nil {}
            return try CertificateID(id)
        }
    }

    private static func nonce(_ tagged: ASN1Node) throws -> [UInt8]? {
        try DER.sequence(tagged, identifier: tagged.identifier) { nodes in
            guard let list = nodes.next() else { throw OCSPFault() }
            return try DER.sequence(list, identifier: .sequence) { extensions in
                var nonce: [UInt8]?
                while let one = extensions.next() {
                    let isNonce = try DER.sequence(one, identifier: .sequence) { nodes in
                        let oid = try ASN1ObjectIdentifier(derEncoded: &nodes)
                        while nodes.next() != nil {}
                        return oid == Self.nonceOID
                    }
                    if isNonce, one.encodedBytes.count <= nonceBytesMax {
                        nonce = Array(one.encodedBytes)
                    }
                }
                return nonce
            }
        }
    }
}
