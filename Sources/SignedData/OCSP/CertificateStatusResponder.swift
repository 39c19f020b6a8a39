// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import Foundation
import SwiftASN1
import X509

/// Answers whether certificates of one authority are still valid (OCSP, RFC
/// 6960), for libraries that check this online.
///
/// The intermediate's key signs answers about what the intermediate issued.
/// Answers about the intermediate itself are signed by a responder that the
/// root certified once, so that the root's own key can be kept offline.
public struct CertificateStatusResponder: Sendable {
    /// How long a client may keep an answer.
    public static let holdsMinutes: Int64 = 60

    private let root: Certificate
    private let intermediate: Certificate
    private let responder: Certificate
    private let intermediateKey: SharedKey<P384.Signing.PrivateKey>
    private let responderKey: SharedKey<P256.Signing.PrivateKey>
    /// The serial numbers that each has issued.
    private let issuedByRoot: Set<[UInt8]>
    private let issuedByIntermediate: Set<[UInt8]>

    init(
        root: Certificate, intermediate: Certificate, leaves: [Certificate],
        responder: Certificate, intermediateKey: P384.Signing.PrivateKey,
        responderKey: P256.Signing.PrivateKey
    ) {
        self.root = root
        self.intermediate = intermediate
        self.responder = responder
        self.intermediateKey = SharedKey(intermediateKey)
        self.responderKey = SharedKey(responderKey)
        issuedByRoot = Set([intermediate, responder].map(Self.serial))
        issuedByIntermediate = Set(leaves.map(Self.serial))
    }

    static func serial(_ certificate: Certificate) -> [UInt8] {
        CertificateID.serial(certificate.serialNumber.bytes)
    }

    /// Whether a request concerns a certificate that this root or this
    /// intermediate issued.
    public func isAsked(by request: [UInt8]) -> Bool {
        guard let asked = try? CertificateStatusRequest(request) else { return false }
        return [root, intermediate].contains { issuer in
            asked.certificates.allSatisfy { (try? $0.names(issuer)) == true }
        }
    }

    /// Returns the answer to a request, both in DER. An invalid request gets an
    /// answer with an error status.
    ///
    /// - Parameters:
    ///   - wall: The machine's time, which clients use.
    ///   - revoked: When each serial number (big-endian octets) was revoked.
    ///   - formerly: Serial numbers of certificates from before a rotation.
    public func answer(
        _ request: [UInt8], wall: Timestamp, revoked: [[UInt8]: Timestamp] = [:],
        formerly: Set<[UInt8]> = []
    ) throws -> [UInt8] {
        let asked: CertificateStatusRequest
        do { asked = try CertificateStatusRequest(request) } catch {
            return try CertificateStatusAnswer.error(.malformedRequest)
        }
        let isOfRoot = try asked.certificates.allSatisfy { try $0.names(root) }
        let isOfIntermediate = try asked.certificates.allSatisfy { try $0.names(intermediate) }
        guard isOfRoot || isOfIntermediate else {
            return try CertificateStatusAnswer.error(.unauthorized)
        }
        let issued = (isOfRoot ? issuedByRoot : issuedByIntermediate).union(formerly)
        let answer = CertificateStatusAnswer(
            statuses: asked.certificates.map { id in
                let date = revoked[id.serial]
                let status: CertificateStatusAnswer.Status =
                    date.map { .revoked($0) } ?? (issued.contains(id.serial) ? .good : .unknown)
                return (id, status)
            }, nonce: asked.nonce, producedAt: wall,
            validUntil: wall.adding(milliseconds: Self.holdsMinutes * 60_000))
        return isOfRoot
            ? try answer.signed(.sha256(responderKey.value), by: responder, sending: [responder])
            : try answer.signed(.sha384(intermediateKey.value), by: intermediate, sending: [])
    }
}
