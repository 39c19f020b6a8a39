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
}

extension MerchantRoom {
    /// Verifies the token of a merchant's server. `bearer` is the text after
    /// `Bearer ` in the `Authorization` header. The token is verified by wall
    /// time, so that a jump of the realm's clock does not invalidate it. Throws
    /// ``AppleRefusal/unauthorised``.
    public func admit(bearer: String?) async throws -> Merchant {
        guard let bearer, let token = try? BearerToken.parse(bearer),
            !token.keyID.utf8.contains(0), token.keyID.utf8.count <= Edge.textBytesMax
        else { throw AppleRefusal.unauthorised }
        let isSandbox = !realm.isProduction
        let (row, clock, limits) = try await realm.readHouse { reading in
            (
                try reading.first(Statement.ServerKeys.byID, [.text(token.keyID)]),
                try reading.first(Statement.Realms.clock),
                isSandbox ? try FaultRoom.read(.rateLimits, reading) : nil
            )
        }
        let wall = realm.ports.wall.now
        guard let row,
            let claims = try? token.verify(publicKey: try row.blob("public_key"), now: wall),
            claims.issuerID == (try row.text("issuer_id")),
            claims.bundleID.value == (try row.text("bundle_id"))
        else { throw AppleRefusal.unauthorised }
        guard let clock else { throw StorageFault(.malformedRow, "the realm has no row") }
        return Merchant(
            realm: realm, bundleID: claims.bundleID, keyID: token.keyID,
            now: try ClockRow(clock, hasLastEvent: false).now(wall: wall), limits: limits)
    }
}
