// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum ServerKeys {
        static let insert = Statement.insert("serverKeys.insert", into: RealmSchema.serverKeys)

        /// The realm's keys with their issuer. A realm has one merchant.
        static let list = Statement(
            "serverKeys.list", [],
            """
            SELECT \(RealmSchema.serverKeys.list()) FROM server_keys
            ORDER BY created_at, key_id
            """)

        /// A key that is not revoked.
        static let byID = Statement(
            "serverKeys.byID", [.text],
            """
            SELECT \(RealmSchema.serverKeys.list()) FROM server_keys
            WHERE key_id = $1 AND revoked_at IS NULL
            """)

        /// Returns the key if this call is the one that revokes it.
        static let revoke = Statement(
            "serverKeys.revoke", [.text, .integer],
            """
            UPDATE server_keys SET revoked_at = $2
            WHERE key_id = $1 AND revoked_at IS NULL RETURNING bundle_id
            """)

        static let all = [insert, list, byID, revoke]
    }
}
