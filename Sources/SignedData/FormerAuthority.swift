// SPDX-License-Identifier: Apache-2.0

import Crypto
import SwiftASN1
import X509

/// An earlier generation of an authority, reduced to what is needed after a
/// rotation. It signs no data, but still answers for the certificates that it
/// issued. It has only the private keys that sign these answers.
public struct FormerAuthority: Sendable {
    /// The certificates that it issued.
    public let issued: [IssuedCertificate]
    /// Answers whether its certificates are still valid.
    public let status: CertificateStatusResponder

    /// The files that are no longer needed after a rotation. The leaves' keys
    /// are never used again, because data is signed once and sent again
    /// unchanged. The root's key is with the newest generation, or kept
    /// offline.
    private static let needless: [AuthorityFile] = [.transactionsKey, .receiptsKey, .rootKey]

    /// Takes from an authority what is needed after its rotation.
    public init(_ authority: CertificateAuthority) {
        issued = authority.issued
        status = authority.status
    }

    /// Loads what ``files(of:)`` kept. Throws an ``AuthorityFault``.
    public init(files: [String: [UInt8]]) throws {
        var certificates: [Certificate] = []
        for file in AuthorityFile.certificates {
            certificates.append(try file.read(from: files) { try Certificate(pemEncoded: $0) })
        }
        issued = IssuedCertificate.all(certificates)
        status = CertificateStatusResponder(
            root: certificates[0], intermediate: certificates[1],
            leaves: [certificates[2], certificates[3]], responder: certificates[4],
            intermediateKey: try AuthorityFile.intermediateKey.read(from: files) {
                try .init(pemRepresentation: $0)
            },
            responderKey: try AuthorityFile.responderKey.read(from: files) {
                try .init(pemRepresentation: $0)
            })
    }

    /// Returns an authority's files without the private keys that are no longer
    /// needed. Nil if there are none of those.
    public static func files(of files: [String: [UInt8]]) -> [String: [UInt8]]? {
        let names = Set(needless.map(\.rawValue))
        let kept = files.filter { !names.contains($0.key) }
        return kept.count == files.count ? nil : kept
    }
}
