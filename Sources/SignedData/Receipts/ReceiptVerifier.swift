// SPDX-License-Identifier: Apache-2.0

public import Commerce
import CryptoExtras
import X509

/// Verifies app receipts against a set of roots.
///
/// The rules, in the order in which the first broken one is reported:
/// 1. PKCS#7 SignedData in DER with one signer, RSA over SHA-256 or SHA-1
///    (`malformed`, `algorithm`);
/// 2. exactly three certificates, leaf, intermediate, root (`chainLength`),
///    the last a trusted root (`root`), and the chain holds (`chain`,
///    `purpose`);
/// 3. the signer is the leaf (`chain`), its key RSA (`purpose`), and it
///    signed the content (`signature`);
/// 4. the content is a receipt with a creation date (`malformed`);
/// 5. the certificates were valid at that date (`notYetValid`, `expired`);
/// 6. that date is not in the future (`signedInFuture`);
/// 7. bundle id, environment and device, where asked for (`bundleID`,
///    `environment`, `device`).
public final class ReceiptVerifier: Sendable {
    private let roots: TrustedRoots

    /// `roots`: certificates in DER.
    public init(roots: [[UInt8]]) {
        self.roots = TrustedRoots(roots)
    }

    /// `environment` is the receipt's own word (`ProductionSandbox`,
    /// `Production`), `device` the device's identifier in bytes, `now` the
    /// store's time; nil leaves the check out.
    public func verify(
        _ bytes: [UInt8], bundleID: BundleID?, environment: String? = nil,
        device: [UInt8]? = nil, now: Timestamp? = nil
    ) throws(VerificationFailure) -> AppReceipt {
        let envelope = try ReceiptEnvelope(bytes)
        let chain = try CertificateChain.prove(envelope.certificates, roots: roots)
        try Self.checkSignature(envelope, by: chain.leaf)
        let receipt = try AppReceipt(content: envelope.content)
        try chain.validity.check(receipt.creationDate)
        try SignedDate.checkFuture(receipt.creationDate, now: now)
        try Self.check(receipt, bundleID: bundleID, environment: environment, device: device)
        return receipt
    }

    private static func checkSignature(
        _ envelope: ReceiptEnvelope, by leaf: Certificate
    ) throws(VerificationFailure) {
        guard let name = try? ReceiptEnvelope.SignerName(leaf), name == envelope.signer else {
            throw VerificationFailure(.chain, "the signer is not the first certificate")
        }
        guard let key = _RSA.Signing.PublicKey(leaf.publicKey) else {
            throw VerificationFailure(.purpose, "the leaf's key is not an RSA key")
        }
        guard envelope.digest.isValid(envelope.signature, of: envelope.content, key) else {
            throw VerificationFailure(
                .signature, "the signature does not match the receipt's content")
        }
    }

    private static func check(
        _ receipt: AppReceipt, bundleID: BundleID?, environment: String?, device: [UInt8]?
    ) throws(VerificationFailure) {
        if let bundleID, receipt.bundleID != bundleID {
            throw VerificationFailure(
                .bundleID,
                "attribute 2 is \(receipt.bundleID?.value ?? "absent"), not \(bundleID)")
        }
        if let environment, receipt.environment != environment {
            throw VerificationFailure(
                .environment,
                "attribute 0 is \(receipt.environment ?? "absent"), not \(environment)")
        }
        if let device, !receipt.isForDevice(device) {
            throw VerificationFailure(
                .device, "attribute 5 is the hash of another device; fetch the receipt again")
        }
    }
}
