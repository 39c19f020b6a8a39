// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import Foundation
import StrictJSON

/// A merchant's key for the App Store Server API, as the store keeps it: the
/// private half is handed out once and never stored.
public struct ServerKey: Hashable, Sendable {
    /// Ten characters, as the App Store's.
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

    /// A new key and its private half as PKCS#8 PEM (a `.p8` file).
    /// `randomness` names it; the key itself comes from the system, for it
    /// guards money also where names are seeded. Without `issuerID` the key
    /// gets an issuer of its own.
    public static func make(
        issuerID: String? = nil, randomness: Randomness
    ) -> (key: ServerKey, privateKeyPEM: String) {
        let privateKey = P256.Signing.PrivateKey()
        let key = ServerKey(
            keyID: name(randomness), issuerID: issuerID ?? randomness.uuid(),
            publicKey: Array(privateKey.publicKey.x963Representation))
        return (key, privateKey.pemRepresentation)
    }

    /// Capital letters and digits that nobody takes for one another.
    private static func name(_ randomness: Randomness) -> String {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return String(randomness.bytes(10).map { letters[Int($0 & 31)] })
    }
}

/// Makes bearer tokens: the merchant's side of ``BearerToken``.
public struct BearerTokenSigner: Sendable {
    private let key: SharedKey<P256.Signing.PrivateKey>
    private let header: [UInt8]
    private let issuerID: String
    private let bundleID: BundleID

    /// Throws a ``VerificationFailure`` (`malformed`) when `privateKeyPEM` is
    /// not a P-256 key in PKCS#8 PEM.
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

    /// A token that lives `lifetimeSeconds` from `now`, the wall's.
    public func token(now wall: Timestamp, lifetimeSeconds: Int64 = 300) throws -> String {
        let seconds = wall.milliseconds / 1000
        let claims = Claims(
            iss: issuerID, bid: bundleID.value, aud: BearerToken.audience, iat: seconds,
            exp: seconds + lifetimeSeconds)
        return try CompactJWS.sign(
            prefix: Base64.encodeURL(header) + [UInt8(ascii: ".")],
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
