// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SwiftASN1
import Synchronization
import X509
import _CryptoExtras

/// Verifies app receipts against a set of roots.
///
/// The rules are ``VerificationRule/receipt``. The first broken one, in this
/// order, is reported: PKCS#7 in DER with one signer, RSA and an allowed
/// digest; three certificates that end at a trusted root; the first one is the
/// signer and has signed the content; the content is a receipt, dated within
/// the validity of the certificates and not in the future; and it is for the
/// expected app, environment and device.
///
/// A class, because callers share its cache of proven chains. A chain is cached
/// only if its leaf signed something.
public final class ReceiptVerifier: Sendable {
    private let roots: TrustedRoots
    private let digests: [ReceiptDigest]
    private let rules: VerificationRules
    private let proven = Mutex<[ProvenSigner]>([])

    /// `roots`: certificates in DER. `digests`: those to accept. The App Store
    /// used SHA-1 until 2023.
    public convenience init(
        roots: [[UInt8]], digests: [ReceiptDigest] = ReceiptDigest.allCases
    ) {
        self.init(roots: roots, digests: digests, rules: .all)
    }

    /// A verifier that applies only some of the rules.
    package init(
        roots: [[UInt8]], digests: [ReceiptDigest] = ReceiptDigest.allCases,
        rules: VerificationRules
    ) {
        self.roots = TrustedRoots(roots)
        self.digests = digests
        self.rules = rules
    }

    /// The number of cached chains.
    var provenCount: Int { proven.withLock { $0.count } }

    /// `environment` is the name in the receipt (`ProductionSandbox`,
    /// `Production`), `device` the device's identifier in bytes, `now` the
    /// store's time. A check is skipped if its value is nil.
    public func verify(
        _ bytes: [UInt8], bundleID: BundleID?, appID: Int64? = nil, environment: String? = nil,
        device: [UInt8]? = nil, now: Timestamp? = nil
    ) throws(VerificationFailure) -> AppReceipt {
        let (receipt, _) = try verifySigned(bytes, now: now)
        try check(receipt, bundleID: bundleID, appID: appID)
        try check(receipt, environment: environment, device: device)
        return receipt
    }

    /// Verifies a receipt of any app. Also returns the serial numbers of the leaf and
    /// the intermediate, as ``IssuedCertificate/serialText``, for a reader that knows
    /// which certificates were revoked. The contents are read only if the signature is
    /// valid, and an envelope with more than ``SignedDataLimits/receiptNodesMax`` parts
    /// is rejected before it is parsed, so that a forged receipt costs little.
    public func verifySigned(
        _ bytes: [UInt8], now: Timestamp? = nil
    ) throws(VerificationFailure) -> (receipt: AppReceipt, serials: [String]) {
        let envelope = try ReceiptEnvelope(bytes, rules: rules)
        try rules.check(
            .digest, digests.contains(envelope.digest),
            "receipts over \(envelope.digest) are not accepted here")
        let known = recall(envelope)
        let signer: ProvenSigner
        if let known {
            signer = known
        } else {
            signer = try ProvenSigner(envelope, roots: roots, rules: rules)
        }
        try signer.check(envelope, rules: rules)
        if known == nil { remember(signer) }
        let receipt = try AppReceipt(content: envelope.content)
        try signer.validity.check(receipt.creationDate, rules: rules)
        try SignedDate.checkFuture(receipt.creationDate, now: now, rules: rules)
        return (receipt, signer.serials)
    }

    private func recall(_ envelope: ReceiptEnvelope) -> ProvenSigner? {
        proven.withLock { $0.first { $0.certificates == envelope.certificates } }
    }

    private func remember(_ signer: ProvenSigner) {
        proven.withLock { proven in
            guard !proven.contains(where: { $0.certificates == signer.certificates }) else {
                return
            }
            if proven.count == SignedDataLimits.provenChainsMax { proven.removeFirst() }
            proven.append(signer)
        }
    }

    private func check(
        _ receipt: AppReceipt, bundleID: BundleID?, appID: Int64?
    ) throws(VerificationFailure) {
        if let bundleID {
            try rules.check(
                .bundleID, receipt.bundleID == bundleID,
                "attribute 2 is \(receipt.bundleID?.value ?? "absent"), not \(bundleID)")
        }
        if let appID {
            try rules.check(
                .appID, receipt.appItemID == appID,
                "attribute 1 is \(receipt.appItemID.map { "\($0)" } ?? "absent"), not \(appID)")
        }
    }

    private func check(
        _ receipt: AppReceipt, environment: String?, device: [UInt8]?
    ) throws(VerificationFailure) {
        if let environment {
            try rules.check(
                .environment, receipt.environment == environment,
                "attribute 0 is \(receipt.environment ?? "absent"), not \(environment)")
        }
        if let device {
            try rules.check(
                .device, receipt.isForDevice(device),
                "attribute 5 is the hash of another device; fetch the receipt again")
        }
    }
}

/// Proven certificates, and the key of their leaf.
struct ProvenSigner: Sendable {
    let certificates: [[UInt8]]
    let validity: ValidityInterval
    /// Of the leaf and the intermediate.
    let serials: [String]
    private let name: ReceiptEnvelope.SignerName?
    private let key: _RSA.Signing.PublicKey?

    init(
        _ envelope: ReceiptEnvelope, roots: TrustedRoots, rules: VerificationRules
    ) throws(VerificationFailure) {
        let chain = try CertificateChain.prove(envelope.certificates, roots: roots, rules: rules)
        self.init(certificates: envelope.certificates, leaf: chain.leaf, validity: chain.validity)
    }

    init(certificates: [[UInt8]], leaf: Certificate, validity: ValidityInterval) {
        self.certificates = certificates
        self.validity = validity
        serials = certificates.prefix(2).compactMap { try? Certificate(derEncoded: $0) }
            .map { hexadecimal(CertificateStatusResponder.serial($0)) }
        name = try? ReceiptEnvelope.SignerName(leaf)
        key = _RSA.Signing.PublicKey(leaf.publicKey)
    }

    func check(
        _ envelope: ReceiptEnvelope, rules: VerificationRules
    ) throws(VerificationFailure) {
        try rules.check(
            .signer, name == envelope.signer, "the signer is not the first certificate")
        guard let key else {
            throw VerificationFailure(breaking: .leafKey, "the leaf's key is not an RSA key")
        }
        try rules.check(
            .signature, envelope.digest.isValid(envelope.signature, of: envelope.content, key),
            "the signature does not match the receipt's content")
    }
}
