// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

extension MerchantRoom {
    /// Generates a key with which a merchant's server can make requests for one
    /// app. The private half is only in this answer and is not stored.
    /// Refusals: `textInvalid`, `bundleIdUnknown`.
    public func createServerKey(
        bundleID: String, _ context: RequestContext = RequestContext(requestID: "none")
    ) async throws -> CreatedServerKey {
        try Edge.text(bundleID, "bundleId")
        guard try await realm.loadShelf().apps[BundleID(bundleID)] != nil else {
            throw CatalogueRoom.unknownApp
        }
        let wall = realm.ports.wall.now
        // A realm has one merchant, so all its keys have the same issuer.
        let issuer = try await serverKeys().first?.issuerId
        var (key, pem) = ServerKey.make(issuerID: issuer, randomness: realm.ports.randomness)
        var tries = 1
        while try await !realm.keyRealms.claim(key.keyID, realm: realm.description.id) {
            guard tries < 8 else { throw StorageFault(.busy, "every drawn key id is in use") }
            tries += 1
            (key, pem) = ServerKey.make(issuerID: issuer, randomness: realm.ports.randomness)
        }
        let keyID = key.keyID
        let values = RealmSchema.serverKeys.row([
            "key_id": .text(key.keyID), "issuer_id": .text(key.issuerID),
            "bundle_id": .text(bundleID), "public_key": .blob(key.publicKey),
            "created_at": .integer(wall.milliseconds),
        ])
        try await realm.house(.rows, context) { house in
            try house.writing.execute(Statement.ServerKeys.insert, values)
            try house.audit("key.create", keyID, before: nil, after: ["bundleId": bundleID])
            return .commit(())
        }
        return CreatedServerKey(
            keyId: keyID, issuerId: key.issuerID, bundleId: bundleID, privateKey: pem)
    }

    /// Returns the realm's server keys without their private halves, oldest
    /// first.
    public func serverKeys() async throws -> [ServerKeySummary] {
        let rows = try await realm.readHouse { try $0.query(Statement.ServerKeys.list, []) }
        return try rows.map { row in
            ServerKeySummary(
                keyId: try row.text("key_id"), issuerId: try row.text("issuer_id"),
                bundleId: try row.text("bundle_id"),
                createdDate: Timestamp(milliseconds: try row.integer("created_at")),
                revokedDate: try row.optionalInteger("revoked_at")
                    .map(Timestamp.init(milliseconds:)))
        }
    }

    /// Revokes a server key. Tokens that it signed are invalid from then on.
    /// Its issuer remains the realm's. Refusals: `textInvalid`,
    /// `serverKeyUnknown`.
    public func revokeServerKey(_ keyID: String, _ context: RequestContext) async throws {
        try Edge.text(keyID, "keyId")
        let isRevoked = try await realm.house(.rows, context) { house in
            let values: [SQLValue] = [.text(keyID), .integer(house.wall.milliseconds)]
            guard try house.writing.first(Statement.ServerKeys.revoke, values) != nil else {
                return .leave(false)
            }
            try house.audit(
                "key.revoke", keyID, before: ["state": "in use"], after: ["state": "revoked"])
            return .commit(true)
        }
        guard isRevoked else {
            throw Refusal(
                .notFound, code: "serverKeyUnknown", "No such key is in use.", field: "keyId",
                rule: "a server key that was not revoked", remedy: "list the keys")
        }
    }
}
