// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

/// What a key opens.
public enum LedgerKeyScope: String, Hashable, Sendable, CaseIterable {
    /// With a token of an account: proofs of purchase, and what belongs to the account.
    case app
    /// Everything except the metrics.
    case server
}

/// A key that opens the ledger, without its secret.
public struct AdmittedKey: Hashable, Sendable {
    public let keyID: String
    public let name: String
    public let scope: LedgerKeyScope

    /// The key in the audit.
    public var actor: LedgerActor { LedgerActor("key \(keyID) \(name)") }
}

/// The texts of keys.
enum LedgerKeyText {
    /// The longest name of a key.
    static let nameBytesMax = 64
    /// The most keys, revoked ones included.
    static let keysMax: Int64 = 1000

    static func make(_ scope: LedgerKeyScope, _ randomness: Randomness) -> String {
        "ledger-\(scope.rawValue)-\(randomness.hex(32))"
    }

    static func digest(_ key: String) -> String {
        CertificateAuthority.fingerprint(of: Array(key.utf8))
    }
}

extension Ledger {
    /// Creates a key for the merchant's servers or apps. The answer is the only place
    /// that ever contains it: the database has its digest. Refusals: `textInvalid`,
    /// `scopeInvalid`, `keysTooMany`.
    public func createKey(_ request: CreateLedgerKeyRequest) async throws -> CreatedLedgerKey {
        let name = try Edge.label(
            request.name, "name", bytesMax: LedgerKeyText.nameBytesMax)
        guard let scope = LedgerKeyScope(rawValue: request.scope) else {
            throw LedgerRefusal(
                .badRequest, code: "scopeInvalid", "There is no such scope.", field: "scope",
                rule: "app or server", remedy: "name one of them")
        }
        let key = LedgerKeyText.make(scope, ports.randomness)
        let (id, now) = (ports.randomness.hex(8), ports.wall.now)
        let row = Self.keyRow(id, name, scope, key, now)
        let note = note(.keyCreated, "\(id) \(name), \(scope.rawValue)")
        let isRoom = try await storage.write { writing -> Bool in
            let count = try writing.first(Statement.APIKeys.count, [])?.integer("keys") ?? 0
            guard count < LedgerKeyText.keysMax else { return false }
            try writing.execute(Statement.APIKeys.insert, row)
            try note?.write(writing)
            return true
        }
        guard isRoom else {
            throw LedgerRefusal(
                .conflict, code: "keysTooMany", "There are too many keys.", field: "name",
                rule: "at most \(LedgerKeyText.keysMax), revoked ones included",
                remedy: "use an existing key")
        }
        ports.log("created a key", ["keyId": id, "scope": scope.rawValue])
        return CreatedLedgerKey(
            keyId: id, name: name, scope: scope.rawValue, key: key, createdDate: now)
    }

    private static func keyRow(
        _ id: String, _ name: String, _ scope: LedgerKeyScope, _ key: String, _ now: Timestamp
    ) -> [SQLValue] {
        LedgerSchema.apiKeys.row([
            "key_id": .text(id), "name": .text(name), "scope": .text(scope.rawValue),
            "digest": .text(LedgerKeyText.digest(key)),
            "created_at": .integer(now.milliseconds),
        ])
    }

    /// Returns all keys, the oldest first, without their secrets.
    public func keys() async throws -> LedgerKeys {
        let rows = try await storage.read { try $0.query(Statement.APIKeys.list, []) }
        return LedgerKeys(keys: try rows.map { try LedgerKeyRecord($0) })
    }

    /// Revokes a key. It opens nothing from the next request on, in every process. A
    /// repeat changes nothing. Refusals: `textInvalid`, `keyUnknown`.
    public func revokeKey(_ keyID: String) async throws -> LedgerKeyRecord {
        let id = try Edge.text(keyID, "keyId")
        let now = ports.wall.now
        let note = note(.keyRevoked, id)
        let record = try await storage.write { writing -> LedgerKeyRecord? in
            let values: [SQLValue] = [.text(id), .integer(now.milliseconds)]
            if try writing.first(Statement.APIKeys.revoke, values) != nil {
                try note?.write(writing)
            }
            return try writing.first(Statement.APIKeys.one, [.text(id)])
                .map { try LedgerKeyRecord($0) }
        }
        guard let record else {
            throw LedgerRefusal(
                .notFound, code: "keyUnknown", "There is no such key.", field: "keyId",
                rule: "the id of a key", remedy: "list the keys")
        }
        ports.log("revoked a key", ["keyId": id])
        return record
    }

    /// Returns the key that a text is, or nil. It is looked up by its digest, so that
    /// the time reveals nothing.
    public func admittedKey(_ key: String) async throws -> AdmittedKey? {
        let values: [SQLValue] = [.text(LedgerKeyText.digest(key))]
        let row = try await storage.find(Statement.APIKeys.byDigest, values).first
        return try row.map { try AdmittedKey($0) }
    }

    /// Converts the key of the door that earlier versions kept in the clear: its digest
    /// is kept, so that the merchant's servers that have it still come in.
    static func hashDoorKey(_ storage: any Storage, at now: Timestamp) async throws {
        let door: [SQLValue] = [.text("merchant")]
        guard let row = try await storage.read({ try $0.first(Statement.Accounts.key, door) })
        else { return }
        let secret = try row.text("secret")
        let id = String(LedgerKeyText.digest(secret).prefix(16))
        let values = keyRow(id, "first key", .server, secret, now)
        try await storage.write { writing in
            try writing.execute(Statement.APIKeys.insert, values)
            try writing.execute(Statement.APIKeys.removeDoor, door)
        }
    }
}

extension AdmittedKey {
    init(_ row: Row) throws {
        guard let scope = LedgerKeyScope(rawValue: try row.text("scope")) else {
            throw StorageFault(.malformedRow, "a key has no scope")
        }
        self.init(keyID: try row.text("key_id"), name: try row.text("name"), scope: scope)
    }
}

extension LedgerKeyRecord {
    fileprivate init(_ row: Row) throws {
        self.init(
            keyId: try row.text("key_id"), name: try row.text("name"),
            scope: try row.text("scope"),
            createdDate: Timestamp(milliseconds: try row.integer("created_at")),
            revokedDate: try row.optionalInteger("revoked_at")
                .map(Timestamp.init(milliseconds:)))
    }
}
