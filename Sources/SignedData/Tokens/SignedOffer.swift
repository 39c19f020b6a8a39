// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import Foundation

/// A promotional offer in the older signed form: a signature over the facts of
/// one payment, joined by U+2063.
/// [Apple's page](https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers)
public struct SignedOffer: Hashable, Sendable {
    public let bundleID: BundleID
    public let keyID: String
    public let productID: ProductID
    public let offerID: String
    /// The app's own name for its user. Empty without one. A UUID is signed in lower
    /// case.
    public let username: String
    public let nonce: UUIDText
    public let signedAt: Timestamp

    /// The longest signature in Base64: more than an ES256 signature in DER needs.
    public static let signatureBytesMax = 256

    public init(
        bundleID: BundleID, keyID: String, productID: ProductID, offerID: String,
        username: String?, nonce: UUIDText, signedAt: Timestamp
    ) {
        self.bundleID = bundleID
        self.keyID = keyID
        self.productID = productID
        self.offerID = offerID
        self.username = username.map { UUIDText($0)?.text ?? $0 } ?? ""
        self.nonce = nonce
        self.signedAt = signedAt
    }

    /// The text that is signed.
    public var text: String {
        [
            bundleID.value, keyID, productID.value, offerID, username, nonce.text,
            String(signedAt.milliseconds),
        ].joined(separator: "\u{2063}")
    }

    /// Whether `signature` (DER in Base64) is one of the key's over this offer.
    /// `publicKey` is a ``ServerKey/publicKey``.
    public func isSigned(_ signature: String, by publicKey: [UInt8]) -> Bool {
        guard signature.utf8.count <= Self.signatureBytesMax,
            let bytes = Data(base64Encoded: signature),
            let parsed = try? P256.Signing.ECDSASignature(derRepresentation: bytes),
            let key = try? P256.Signing.PublicKey(x963Representation: publicKey)
        else { return false }
        return key.isValidSignature(parsed, for: Data(text.utf8))
    }

    /// Signs it, as a merchant's server does. Throws a ``VerificationFailure``
    /// (`malformed`) if `privateKeyPEM` is not a P-256 key in PKCS#8 PEM.
    public func signature(privateKeyPEM: String) throws -> String {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM) else {
            throw VerificationFailure(
                .malformed, "the private key must be a P-256 key in PKCS#8 PEM (a .p8 file)")
        }
        return try key.signature(for: Data(text.utf8)).derRepresentation.base64EncodedString()
    }
}
