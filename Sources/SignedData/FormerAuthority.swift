// SPDX-License-Identifier: Apache-2.0

import Crypto
import SwiftASN1
import X509

/// One generation of an authority as far as it is needed after a rotation: it
/// signs no data any more, and goes on answering for what it issued. It has no
/// private key but those that sign these answers.
public struct FormerAuthority: Sendable {
    /// What it issued.
    public let issued: [IssuedCertificate]
    /// Tells whether its certificates still hold.
    public let status: CertificateStatusResponder

    /// Files of an authority that a rotation makes needless: what was signed
    /// once is sent for ever, so the leaves' keys are never used again, and the
    /// root's is with the newest generation, or in a safe.
    private static let needless: [AuthorityFile] = [.transactionsKey, .receiptsKey, .rootKey]

    /// As much of an authority that was rotated away.
    public init(_ authority: CertificateAuthority) {
        issued = authority.issued
        status = authority.status
    }

    /// Takes up what ``files(of:)`` left. Throws an ``AuthorityFault``.
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

    /// The files of an authority without the private keys that are needed no
    /// more; nil where it has none of them.
    public static func files(of files: [String: [UInt8]]) -> [String: [UInt8]]? {
        let names = Set(needless.map(\.rawValue))
        let kept = files.filter { !names.contains($0.key) }
        return kept.count == files.count ? nil : kept
    }
}
