// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// The realm of each server key. If a merchant's server names no realm, the key
/// that signed its token determines it. A class, because all realms of a store
/// share its cache.
final class ServerKeyRealms: Sendable {
    private let registry: any Storage
    private let known = Mutex<[String: String]>([:])

    init(registry: any Storage) {
        self.registry = registry
    }

    /// Records the realm of a key before the realm has it. Returns false if
    /// another realm of the store has a key with this name.
    func claim(_ keyID: String, realm id: String) async throws -> Bool {
        let values: [SQLValue] = [.text(keyID), .text(id)]
        return try await registry.write { writing in
            if try writing.first(Statement.KeyRealms.claim, values) != nil { return true }
            return try writing.first(Statement.KeyRealms.realm, [.text(keyID)])?
                .text("realm_id") == id
        }
    }

    /// Records the keys that an older program made without this.
    func claim(all keyIDs: [String], realm id: String) async throws {
        let rows = try await registry.read {
            try $0.query(Statement.KeyRealms.ofRealm, [.text(id)])
        }
        let written = Set(try rows.map { try $0.text("key_id") })
        for keyID in keyIDs where !written.contains(keyID) {
            _ = try await claim(keyID, realm: id)
        }
    }

    /// Returns the name of the realm that has a key, or nil. A result is
    /// cached, because a key never changes its realm.
    func name(ofRealmWith keyID: String) async throws -> String? {
        if let name = known.withLock({ $0[keyID] }) { return name }
        let row = try await registry.read {
            try $0.first(Statement.KeyRealms.name, [.text(keyID)])
        }
        guard let name = try row?.text("name") else { return nil }
        known.withLock { $0[keyID] = name }
        return name
    }

    /// Forgets a deleted realm, because its name is free again.
    func forget(realm name: String) {
        known.withLock { known in known = known.filter { $0.value != name } }
    }
}

extension Statement {
    enum KeyRealms {
        /// Returns no row if the key is recorded already.
        static let claim = Statement.insert(
            "keyRealms.claim", into: RegistrySchema.serverKeyRealms,
            "ON CONFLICT (key_id) DO NOTHING RETURNING realm_id")

        static let realm = Statement(
            "keyRealms.realm", [.text],
            "SELECT realm_id FROM server_key_realms WHERE key_id = $1")

        static let ofRealm = Statement(
            "keyRealms.ofRealm", [.text],
            "SELECT key_id FROM server_key_realms WHERE realm_id = $1")

        static let name = Statement(
            "keyRealms.name", [.text],
            """
            SELECT r.name FROM server_key_realms k JOIN realms r ON r.id = k.realm_id
            WHERE k.key_id = $1 AND r.deleted_at IS NULL
            """)

        static let all = [claim, realm, ofRealm, name]
    }
}
