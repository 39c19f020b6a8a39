// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import StrictJSON

/// Signs compact JWS (ES256) with a key that its readers know by its id, without
/// certificates.
public struct PlainKeySigner: Sendable {
    private let key: SharedKey<P256.Signing.PrivateKey>
    private let prefix: JWSPrefix
    /// The first 16 hexadecimal digits of the public key's SHA-256.
    public let keyID: String
    /// The coordinates of the public point in Base64url, as in a JSON Web Key.
    public let point: (x: String, y: String)

    /// `secret`: the private scalar, 64 hexadecimal digits. Throws a
    /// ``VerificationFailure`` (`malformed`) if it is none.
    public init(secret: String) throws(VerificationFailure) {
        let digits = Array(secret.utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
        }
        guard digits.count == 64, bytes.count == 32,
            let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
        else {
            throw VerificationFailure(
                .malformed, "the private key must be a P-256 scalar of 64 hexadecimal digits")
        }
        let point = Array(key.publicKey.rawRepresentation)
        let id = SHA256.hash(data: point).prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
        let header = "{\"alg\":\"ES256\",\"kid\":\"\(id)\",\"typ\":\"JWT\"}"
        self.key = SharedKey(key)
        keyID = id
        self.point = (Self.text(point[..<32]), Self.text(point[32...]))
        prefix = JWSPrefix(header: Array(header.utf8))
    }

    var publicKey: SharedKey<P256.Signing.PublicKey> { SharedKey(key.value.publicKey) }

    /// Returns a new secret, from the system's generator.
    public static func makeSecret() -> String {
        P256.Signing.PrivateKey().rawRepresentation.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// Signs a value as JSON with sorted keys and without absent values.
    public func sign(_ payload: some Encodable) throws -> String {
        try CompactJWS.sign(
            prefix: prefix, payload: StrictJSON.encode(payload), by: key.value)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: Base64.encodeURL(Array(bytes)), as: UTF8.self)
    }
}
