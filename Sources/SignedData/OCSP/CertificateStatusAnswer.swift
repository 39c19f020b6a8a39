// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SwiftASN1
import X509

/// A responder's answer (RFC 6960, BasicOCSPResponse).
struct CertificateStatusAnswer {
    enum Status {
        case good
        case revoked(Timestamp)
        case unknown
    }

    /// Why there is no answer.
    enum Failure: UInt8 {
        case malformedRequest = 1
        case unauthorized = 6
    }

    /// A key with the digest for its signatures.
    enum Signer {
        case sha256(P256.Signing.PrivateKey)
        case sha384(P384.Signing.PrivateKey)

        var oid: ASN1ObjectIdentifier {
            switch self {
            case .sha256: [1, 2, 840, 10045, 4, 3, 2]
            case .sha384: [1, 2, 840, 10045, 4, 3, 3]
            }
        }

        func sign(_ bytes: [UInt8]) throws -> [UInt8] {
            switch self {
            case .sha256(let key): Array(try key.signature(for: bytes).derRepresentation)
            case .sha384(let key): Array(try key.signature(for: bytes).derRepresentation)
            }
        }
    }

    private static let basic: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 1]

    let statuses: [(id: CertificateID, status: Status)]
    let nonce: [UInt8]?
    let producedAt: Timestamp
    let validUntil: Timestamp

    static func error(_ failure: Failure) throws -> [UInt8] {
        try envelope(failure.rawValue, nil)
    }

    /// Returns the whole response. `sending`: certificates that the client does
    /// not have.
    func signed(
        _ signer: Signer, by certificate: Certificate, sending: [Certificate]
    ) throws -> [UInt8] {
        let key = Insecure.SHA1.hash(data: Data(certificate.publicKey.subjectPublicKeyInfoBytes))
        let data = try data(responderKey: Array(key))
        let signature = try signer.sign(data)
        var response = DER.Serializer()
        try response.appendConstructedNode(identifier: .sequence) { coder in
            coder.serializeRawBytes(data)
            try coder.appendConstructedNode(identifier: .sequence) { try $0.serialize(signer.oid) }
            try coder.serialize(ASN1BitString(bytes: signature[...]))
            guard !sending.isEmpty else { return }
            try coder.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) {
                try $0.appendConstructedNode(identifier: .sequence) { coder in
                    for certificate in sending { try coder.serialize(certificate) }
                }
            }
        }
        return try Self.envelope(0, response.serializedBytes)
    }

    private static func envelope(_ status: UInt8, _ response: [UInt8]?) throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            coder.appendPrimitiveNode(identifier: .enumerated) { $0.append(status) }
            guard let response else { return }
            try coder.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) {
                try $0.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(basic)
                    try coder.serialize(ASN1OctetString(contentBytes: response[...]))
                }
            }
        }
        return coder.serializedBytes
    }

    /// The part that is signed.
    private func data(responderKey: [UInt8]) throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            // Names the responder by its key, as Apple's does.
            try coder.serialize(
                ASN1OctetString(contentBytes: responderKey[...]),
                explicitlyTaggedWithTagNumber: 2, tagClass: .contextSpecific)
            try coder.serialize(Self.time(producedAt))
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                for (id, status) in statuses { try write(id, status, into: &coder) }
            }
            guard let nonce else { return }
            coder.serialize(explicitlyTaggedWithTagNumber: 1, tagClass: .contextSpecific) {
                $0.appendConstructedNode(identifier: .sequence) { $0.serializeRawBytes(nonce) }
            }
        }
        return coder.serializedBytes
    }

    private func write(
        _ id: CertificateID, _ status: Status, into coder: inout DER.Serializer
    ) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            coder.serializeRawBytes(id.encoded)
            switch status {
            case .good: Self.null(0, into: &coder)
            case .unknown: Self.null(2, into: &coder)
            case .revoked(let date):
                let revoked = ASN1Identifier(tagWithNumber: 1, tagClass: .contextSpecific)
                try coder.appendConstructedNode(identifier: revoked) {
                    try $0.serialize(Self.time(date))
                }
            }
            try coder.serialize(Self.time(producedAt))
            try coder.serialize(
                Self.time(validUntil), explicitlyTaggedWithTagNumber: 0,
                tagClass: .contextSpecific)
        }
    }

    private static func null(_ tag: UInt, into coder: inout DER.Serializer) {
        let identifier = ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific)
        coder.appendPrimitiveNode(identifier: identifier) { _ in }
    }

    private static func time(_ timestamp: Timestamp) throws -> GeneralizedTime {
        let date = CivilDate(timestamp)
        return try GeneralizedTime(
            year: Int(date.year), month: Int(date.month), day: Int(date.day),
            hours: Int(date.secondOfDay / 3600), minutes: Int(date.secondOfDay / 60 % 60),
            seconds: Int(date.secondOfDay % 60), fractionalSeconds: 0)
    }
}
