// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Operators {
        /// Returns the name if it was never used.
        static let insert = Statement.insert(
            "operators.insert", into: RegistrySchema.operators,
            "ON CONFLICT (name) DO NOTHING RETURNING name")

        static let list = Statement(
            "operators.list", [],
            "SELECT name, made_at, revoked_at FROM operators ORDER BY made_at, name")

        /// Returns the name of a key that is not revoked.
        static let byKey = Statement(
            "operators.byKey", [.blob],
            "SELECT name FROM operators WHERE key_hash = $1 AND revoked_at IS NULL")

        /// Returns the name if this call is the one that revokes the key.
        static let revoke = Statement(
            "operators.revoke", [.text, .integer],
            """
            UPDATE operators SET revoked_at = $2
            WHERE name = $1 AND revoked_at IS NULL RETURNING name
            """)

        static let nextEntry = Statement(
            "storeAudit.next", [],
            """
            INSERT INTO store_audit_counts (singleton, written) VALUES (1, 1)
            ON CONFLICT (singleton) DO UPDATE SET written = store_audit_counts.written + 1
            RETURNING written
            """)

        static let insertEntry = Statement.insert(
            "storeAudit.insert", into: RegistrySchema.audit)

        static let page = Statement(
            "storeAudit.page", [.integer, .integer],
            """
            SELECT \(RegistrySchema.audit.list()) FROM store_audit
            WHERE entry > $1 ORDER BY entry LIMIT $2
            """)

        static let all = [insert, list, byKey, revoke, nextEntry, insertEntry, page]
    }
}
