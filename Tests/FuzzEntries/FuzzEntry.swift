// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import CatalogueOverlay
import Commerce
import Ledger
import Shop
import SignedData
import StoreWire

/// The functions through which foreign bytes enter. The fuzzers feed them, and
/// the tests feed them the corpus. They may reject bytes, but must neither
/// crash nor hang.
public enum FuzzEntry: String, CaseIterable, Sendable {
    case jws, receipt, storekit, certificate, overlay, archive, status

    /// Feeds bytes to the entry.
    public func feed(_ bytes: [UInt8]) {
        switch self {
        case .jws: Self.jws(bytes)
        case .receipt: Self.receipt(bytes)
        case .storekit: _ = try? CatalogueFile(json: bytes, name: "fuzzed.storekit")
        case .certificate: Self.certificate(bytes)
        case .overlay: _ = try? CatalogueOverlay(yaml: bytes, name: "fuzzed.storekit.yaml")
        case .archive:
            try? StoreRestore.check(bytes, name: "fuzzed.backup")
            try? LedgerRestore.check(bytes, name: "fuzzed.backup")
        case .status: Self.status(bytes)
        }
    }

    /// Made once, because it generates RSA keys.
    private static let responder = try? CertificateAuthority.make(.sandbox).status

    /// A request for a certificate's status (OCSP).
    private static func status(_ bytes: [UInt8]) {
        _ = responder?.isAsked(by: bytes)
        _ = try? responder?.answer(bytes, wall: Timestamp(milliseconds: 1_800_000_000_000))
    }

    /// All rules except those that random bytes never satisfy, so that the
    /// rules after them are reached too.
    private static let lax = [
        VerificationRule.root, .names, .authority, .authorityUsage, .leafMarker,
        .intermediateMarker, .intermediateSignature, .leafSignature, .signer, .signature,
    ].reduce(VerificationRules.all) { $0.without($1) }

    private static func jws(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        for rules in [VerificationRules.all, lax] {
            let verifier = JWSVerifier(roots: [], rules: rules)
            _ = try? verifier.verify(
                text, as: JWSTransactionDecodedPayload.self, signedDate: \.signedDate, now: nil)
            _ = try? verifier.verify(
                text, as: ResponseBodyV2DecodedPayload.self, signedDate: \.signedDate, now: nil)
        }
    }

    private static func receipt(_ bytes: [UInt8]) {
        for rules in [VerificationRules.all, lax] {
            _ = try? ReceiptVerifier(roots: [], rules: rules).verify(bytes, bundleID: nil)
        }
        _ = try? XcodeVerifier(certificates: []).verify(receipt: bytes)
        _ = try? AppReceipt(octets: bytes)
    }

    private static func certificate(_ bytes: [UInt8]) {
        guard let der = try? RootCertificate.der(ofFile: bytes) else { return }
        // Also as each certificate of a chain.
        _ = try? CertificateChainCheck.check([der, der, der], rules: lax)
    }
}
