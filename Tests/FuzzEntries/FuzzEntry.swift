// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import CatalogueOverlay
import Commerce
import Ledger
import Shop
import SignedData
import StoreWire

/// Where bytes of anybody's enter. The fuzzers feed these, and the tests
/// feed them the corpus: an entry may refuse, but neither crash nor hang.
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

    /// Made once: it has RSA keys.
    private static let responder = try? CertificateAuthority.make(.sandbox).status

    /// A request for a certificate's status (OCSP).
    private static func status(_ bytes: [UInt8]) {
        _ = responder?.isAsked(by: bytes)
        _ = try? responder?.answer(bytes, wall: Timestamp(milliseconds: 1_800_000_000_000))
    }

    /// All but the rules that nobody's bytes would ever meet by chance, so
    /// that what lies behind them is met too.
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
        // Also as each link of a chain.
        _ = try? CertificateChainCheck.check([der, der, der], rules: lax)
    }
}
