// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import X509

/// Verifies data that Xcode signs on a developer's machine: data of the
/// environment `Xcode` with a self-signed certificate. It proves only that a
/// certain machine made it. So it has a verifier of its own: the others reject
/// such data, and this one rejects theirs.
///
/// The rules, in order, are ``VerificationRule/xcode``.
public struct XcodeVerifier: Sendable {
    private let certificates: TrustedRoots

    /// `certificates`: those to trust, in DER, as Xcode exports them.
    public init(certificates: [[UInt8]]) {
        self.certificates = TrustedRoots(certificates)
    }

    /// Verifies and decodes signed data. `environment` and `signedDate` return
    /// the payload's own.
    public func verify<Payload: Decodable & Sendable>(
        _ compact: String, as type: Payload.Type, environment: (Payload) -> String?,
        signedDate: (Payload) -> Timestamp?
    ) throws(VerificationFailure) -> Verified<Payload> {
        let jws = try CompactJWS(compact, bytesMax: SignedDataLimits.jwsBytesMax)
        let leaf = try leaf(jws.header(JWSHeader.self).certificates(count: 1))
        guard let key = P256.Signing.PublicKey(leaf.publicKey) else {
            throw VerificationFailure(breaking: .leafKey, "the certificate's key is not P-256")
        }
        try jws.checkSignature(by: key)
        let payload = try JWSVerifier.decode(type, from: jws.payload)
        guard let date = signedDate(payload) else {
            throw VerificationFailure(breaking: .payload, "the payload has no signed date")
        }
        try ValidityInterval([leaf]).check(date)
        try Self.check(environment(payload))
        return Verified(payload: payload, compact: compact)
    }

    /// Verifies a receipt, which Xcode writes in BER.
    public func verify(receipt bytes: [UInt8]) throws(VerificationFailure) -> AppReceipt {
        let envelope = try ReceiptEnvelope(ber: bytes)
        let leaf = try leaf(envelope.certificates)
        let validity = ValidityInterval([leaf])
        try ProvenSigner(certificates: envelope.certificates, leaf: leaf, validity: validity)
            .check(envelope, rules: .all)
        let receipt = try AppReceipt(content: envelope.content)
        try validity.check(receipt.creationDate)
        try Self.check(receipt.environment)
        return receipt
    }

    private func leaf(_ der: [[UInt8]]) throws(VerificationFailure) -> Certificate {
        guard der.count == 1, let only = der.first else {
            throw VerificationFailure(
                breaking: .chainLength, "Xcode signs with one certificate, not \(der.count)")
        }
        try VerificationRules.all.check(
            .root, certificates.holds(only),
            "the certificate is none of those trusted; trust the one that Xcode exports")
        return try CertificateChain.parse(only, "certificate")
    }

    private static func check(_ environment: String?) throws(VerificationFailure) {
        try VerificationRules.all.check(
            .environment, environment == Environment.xcode.rawValue,
            "the environment is \(environment ?? "absent"), not \(Environment.xcode)")
    }
}
