// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import Foundation
import StrictJSON

/// A bearer token of the App Store Server API, parsed but not verified before
/// ``verify(publicKey:now:)``: ES256, with `kid`, `iss`, `bid`, `aud` and
/// `exp`. `iat` is optional, and checked if present.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests)
public struct BearerToken: Sendable {
    /// The id of the key with which it claims to be signed.
    public let keyID: String
    private let jws: CompactJWS
    private let claims: Claims

    /// The audience that every such token must name.
    public static let audience = "appstoreconnect-v1"
    /// The longest lifetime of a token, in seconds.
    public static let lifetimeSecondsMax: Int64 = 3600
    /// How far the clocks of client and store may differ, in seconds.
    public static let clockToleranceSeconds: Int64 = 60
    /// Bytes of a token.
    public static let bytesMax = 8192

    /// Parses the token after `Bearer `. Checks in this order: three segments
    /// of JSON (`malformed`), ES256 without `crit` (`algorithm`), a `kid` and
    /// claims of the right types (`malformed`).
    public static func parse(_ text: String) throws(VerificationFailure) -> BearerToken {
        let jws = try CompactJWS(text, bytesMax: bytesMax)
        let header = try jws.header(TokenHeader.self)
        guard header.alg == "ES256" else {
            throw VerificationFailure(
                .algorithm,
                "the token's alg must be ES256, not \(header.alg.map(shown) ?? "absent")")
        }
        guard !header.hasCritical else {
            throw VerificationFailure(
                .algorithm, "the token's header must not have crit: no extension is known here")
        }
        guard let keyID = header.kid, !keyID.isEmpty else {
            throw VerificationFailure(.malformed, "the token's header must name its key in kid")
        }
        guard let claims = try? StrictJSON.decode(Claims.self, from: jws.payload) else {
            throw VerificationFailure(
                .malformed,
                "the token's claims must be JSON with iss, bid, aud and exp "
                    + "(a number of seconds since 1970)")
        }
        return BearerToken(keyID: keyID, jws: jws, claims: claims)
    }

    /// The name of an algorithm for a message. All are short.
    private static func shown(_ algorithm: String) -> String {
        let isName =
            algorithm.utf8.count <= algorithmBytesMax
            && algorithm.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isName ? algorithm : "a text of \(algorithm.utf8.count) bytes"
    }

    private static let algorithmBytesMax = 16

    /// Verifies the signature (`signature`) and the audience (`audience`; in a
    /// list one match is enough), and that the token has not expired
    /// (`expired`), has a lifetime of at most an hour (`lifetime`), is already
    /// valid (`notYetValid`) and was not issued in the future
    /// (`signedInFuture`). `publicKey` is the ``ServerKey/publicKey`` of
    /// ``keyID``. `now` is wall time, because a jump of commercial time must
    /// not invalidate tokens.
    public func verify(
        publicKey: [UInt8], now wall: Timestamp
    ) throws(VerificationFailure) -> BearerClaims {
        try checkSignature(by: publicKey)
        return try claims(at: wall)
    }

    /// The part of ``verify(publicKey:now:)`` whose outcome never changes for a token and
    /// a key: `signature`.
    public func checkSignature(by publicKey: [UInt8]) throws(VerificationFailure) {
        guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey) else {
            throw VerificationFailure(.signature, "the stored public key is not a P-256 point")
        }
        try jws.checkSignature(by: key)
    }

    /// The rest of ``verify(publicKey:now:)``, for a token whose signature was checked.
    public func claims(at wall: Timestamp) throws(VerificationFailure) -> BearerClaims {
        guard claims.aud.names.contains(Self.audience) else {
            throw VerificationFailure(.audience, "the token's aud must be \(Self.audience)")
        }
        try checkTimes(Double(wall.milliseconds) / 1000)
        return BearerClaims(issuerID: claims.iss, bundleID: BundleID(claims.bid))
    }

    /// Uses seconds as `Double`, because a claim may be any number.
    private func checkTimes(_ now: Double) throws(VerificationFailure) {
        let lifetime = Double(Self.lifetimeSecondsMax)
        let tolerance = Double(Self.clockToleranceSeconds)
        guard claims.exp > now else {
            throw VerificationFailure(.expired, "the token has expired; make a new one")
        }
        guard claims.exp <= (claims.iat ?? now) + lifetime + (claims.iat == nil ? tolerance : 0)
        else {
            throw VerificationFailure(
                .lifetime,
                "the token's exp may lie at most \(Self.lifetimeSecondsMax) seconds "
                    + "after it was issued")
        }
        if let begins = claims.nbf, begins > now + tolerance {
            throw VerificationFailure(
                .notYetValid, "the token's nbf lies in the future; wait until then")
        }
        if let issued = claims.iat, issued > now + tolerance {
            throw VerificationFailure(.signedInFuture, "the token's iat lies in the future")
        }
    }

    private struct Claims: Decodable {
        let iss: String
        let bid: String
        let aud: Audience
        let exp: Double
        let iat: Double?
        let nbf: Double?
    }

    /// One name or a list of names (RFC 7519).
    private struct Audience: Decodable {
        let names: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let name = try? container.decode(String.self) {
                names = [name]
            } else {
                names = try container.decode([String].self)
            }
        }
    }
}

/// What a verified token contains about its sender.
public struct BearerClaims: Hashable, Sendable {
    /// `iss`. Must be compared with the key's own ``ServerKey/issuerID``.
    public let issuerID: String
    /// `bid`: the app for which the request is made.
    public let bundleID: BundleID
}
