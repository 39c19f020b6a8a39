// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SignedData
import Storage

/// A merchant's server whose token was verified: what it may ask, for one app.
public struct Merchant: Sendable {
    let realm: Realm
    /// The app for which its key was created.
    public let bundleID: BundleID
    /// The key that signed its token.
    public let keyID: String
    /// The realm's commercial time when the token was verified.
    public let now: Timestamp
    /// The limits that a sandbox simulates.
    var limits: Fault?

    /// The same merchant in the environment that is not this realm's, where the
    /// app has sold nothing and has no server for notifications. A server key
    /// is valid in both environments, so the answers there are those for ids
    /// that do not exist.
    public var elsewhere: Merchant {
        // No app has an empty bundle id.
        Merchant(
            realm: realm, bundleID: BundleID(""), keyID: keyID, now: now, limits: limits)
    }
}

extension MerchantRoom {
    /// Verifies the token of a merchant's server. `bearer` is the text after
    /// `Bearer ` in the `Authorization` header. The token is verified by wall
    /// time, so that a jump of the realm's clock does not invalidate it. Throws
    /// ``AppleRefusal/unauthorised``, with the reason, which is logged.
    public func admit(
        bearer: String?, _ context: RequestContext = RequestContext(requestID: "none")
    ) async throws -> Merchant {
        do { return try await verified(bearer) } catch let refusal as AppleRefusal {
            if let reason = refusal.reason {
                realm.ports.log(.info, "token refused", context, ["reason": reason])
            }
            throw refusal
        }
    }

    private func verified(_ bearer: String?) async throws -> Merchant {
        guard let bearer else { throw AppleRefusal.unauthorised }
        let token = try Self.explained { () throws(VerificationFailure) in
            try realm.recentTokens.parse(bearer)
        }
        guard !token.keyID.utf8.contains(0), token.keyID.utf8.count <= Edge.textBytesMax else {
            throw AppleRefusal.unauthorised(TokenWords.unknown)
        }
        let isSandbox = !realm.isProduction
        let (row, clock, limits) = try await realm.lookUpHouse { reading in
            (
                try reading.first(Statement.ServerKeys.byID, [.text(token.keyID)]),
                try reading.first(Statement.Realms.clock),
                isSandbox ? try FaultRoom.read(.rateLimits, reading) : nil
            )
        }
        guard let row else {
            throw AppleRefusal.unauthorised(
                ServerKey.looksOfficial(token.keyID) ? TokenWords.official : TokenWords.unknown)
        }
        let wall = realm.ports.wall.now
        let key = try row.blob("public_key")
        let claims = try Self.explained { () throws(VerificationFailure) in
            try realm.recentTokens.verify(
                token, of: bearer, publicKey: key, now: wall)
        }
        guard claims.issuerID == (try row.text("issuer_id")) else {
            throw AppleRefusal.unauthorised(TokenWords.issuer)
        }
        guard claims.bundleID.value == (try row.text("bundle_id")) else {
            throw AppleRefusal.unauthorised(TokenWords.app)
        }
        guard let clock else { throw StorageFault(.malformedRow, "the realm has no row") }
        return Merchant(
            realm: realm, bundleID: claims.bundleID, keyID: token.keyID,
            now: try ClockRow(clock, hasLastEvent: false).now(wall: wall), limits: limits)
    }

    /// Makes the failure of a verification the reason of the refusal.
    private static func explained<Value>(
        _ body: () throws(VerificationFailure) -> Value
    ) throws(AppleRefusal) -> Value {
        do throws(VerificationFailure) { return try body() } catch {
            throw AppleRefusal.unauthorised(error.message)
        }
    }
}

/// Why a token is refused that is signed well in itself.
private enum TokenWords {
    static let unknown =
        "the token's kid is not the id of a server key in use in this realm; use a key of "
        + "`shopkeeper key list`"
    static let official =
        "the token's kid looks like the id of a key of the App Store, which opens no store of "
        + "Shopkeeper; use a key of `shopkeeper key create`, whose id begins with "
        + ServerKey.prefix
    static let issuer = "the token's iss is not the issuer of the key in kid"
    static let app = "the token's bid is not the app for which the key in kid was created"
}
