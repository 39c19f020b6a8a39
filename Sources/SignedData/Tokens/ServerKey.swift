// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import Foundation
import StrictJSON

/// A merchant's key for the App Store Server API, as the store keeps it. The
/// private half is handed out once and never stored.
public struct ServerKey: Hashable, Sendable {
    /// ``prefix`` and six characters: as long as the App Store's, and never one
    /// of them.
    public let keyID: String
    /// A UUID in lower case.
    public let issuerID: String
    /// The P-256 point, uncompressed (65 bytes, X9.63).
    public let publicKey: [UInt8]

    public init(keyID: String, issuerID: String, publicKey: [UInt8]) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.publicKey = publicKey
    }

    /// Generates a key. Returns it with its private half as PKCS#8 PEM (a `.p8`
    /// file). `randomness` is only used for its names. The key itself comes
    /// from the system's generator, even if names are seeded, because it
    /// protects money. Without `issuerID` the key gets a new issuer.
    public static func make(
        issuerID: String? = nil, randomness: Randomness
    ) -> (key: ServerKey, privateKeyPEM: String) {
        let privateKey = P256.Signing.PrivateKey()
        let key = ServerKey(
            keyID: name(randomness), issuerID: issuerID ?? randomness.uuid(),
            publicKey: Array(privateKey.publicKey.x963Representation))
        return (key, privateKey.pemRepresentation)
    }

    /// How the id of each key of a store begins. An id of the App Store has no
    /// small letter.
    public static let prefix = "shop"

    /// Whether an id looks like one of the App Store's own keys: ten capital
    /// letters and digits. Such a key opens no store.
    public static func looksOfficial(_ keyID: String) -> Bool {
        keyID.utf8.count == 10
            && keyID.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
    }

    /// After the prefix, capital letters and digits that are not easily confused.
    private static func name(_ randomness: Randomness) -> String {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return prefix + String(randomness.bytes(6).map { letters[Int($0 & 31)] })
    }
}

/// Makes bearer tokens: the merchant's side of ``BearerToken``.
public struct BearerTokenSigner: Sendable {
    private let key: SharedKey<P256.Signing.PrivateKey>
    private let header: [UInt8]
    private let issuerID: String
    private let bundleID: BundleID

    /// Throws a ``VerificationFailure`` (`malformed`) if `privateKeyPEM` is not
    /// a P-256 key in PKCS#8 PEM.
    public init(
        privateKeyPEM: String, keyID: String, issuerID: String, bundleID: BundleID
    ) throws(VerificationFailure) {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM) else {
            throw VerificationFailure(
                .malformed, "the private key must be a P-256 key in PKCS#8 PEM (a .p8 file)")
        }
        guard let header = try? StrictJSON.encode(["alg": "ES256", "kid": keyID, "typ": "JWT"])
        else { throw VerificationFailure(.malformed, "the key id must be a text") }
        self.key = SharedKey(key)
        self.header = header
        self.issuerID = issuerID
        self.bundleID = bundleID
    }

    /// Returns a token that is valid for `lifetimeSeconds` from `now`, in wall
    /// time.
    public func token(now wall: Timestamp, lifetimeSeconds: Int64 = 300) throws -> String {
        let seconds = wall.milliseconds / 1000
        let claims = Claims(
            iss: issuerID, bid: bundleID.value, aud: BearerToken.audience, iat: seconds,
            exp: seconds + lifetimeSeconds)
        return try CompactJWS.sign(
            prefix: JWSPrefix(header: header),
            payload: StrictJSON.encode(claims), by: key.value)
    }

    private struct Claims: Encodable {
        let iss: String
        let bid: String
        let aud: String
        let iat: Int64
        let exp: Int64
    }
}
