// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// The tables of the keys to the ledger, and of the changes made with them.
extension LedgerSchema {
    static let access = [apiKeys, audit]

    /// The keys of the merchant's servers and apps. A key is a random text, so a plain
    /// SHA-256 hides it.
    static let apiKeys = Table(
        "api_keys", key: ["key_id"],
        [
            "key_id": .hex(16...16), "name": .text(bytes: 1...LedgerKeyText.nameBytesMax),
            "scope": .word(LedgerKeyScope.allCases.map(\.rawValue)), "digest": .hex(64...64),
            "created_at": .time, "revoked_at": .time.optional,
        ],
        indexes: [.unique("api_keys_digest", on: ["digest"])])

    /// Changes that were made through server keys and commands. An entry is written in
    /// the commit of its change. The id orders the entries of one instant.
    static let audit = Table(
        "audit", key: ["recorded_at", "entry_id"],
        [
            "recorded_at": .time, "entry_id": .hex(16...16), "actor": .name,
            "action": .word(AuditAction.allCases.map(\.rawValue)), "account": .name.optional,
            "subject": .text(bytes: 1...1024).optional,
        ],
        indexes: [.init("audit_account", on: ["account"], where: "account IS NOT NULL")],
        references: [.init(["account"], to: "accounts")])
}

extension Statement {
    /// Statements about keys of servers and apps.
    enum APIKeys {
        private static let table = LedgerSchema.apiKeys

        static let insert = Statement.insert(
            "apiKeys.insert", into: table, "ON CONFLICT (key_id) DO NOTHING")

        static let byDigest = Statement(
            "apiKeys.byDigest", [.text],
            "SELECT \(table.list()) FROM api_keys WHERE digest = $1 AND revoked_at IS NULL")

        static let all = [
            insert, byDigest, one, list, revoke, count, removeDoor,
        ]

        static let one = Statement.one("apiKeys.one", of: table)

        static let list = Statement(
            "apiKeys.list", [],
            "SELECT \(table.list()) FROM api_keys ORDER BY created_at, key_id")

        /// Returns no row if it is revoked already, or unknown.
        static let revoke = Statement(
            "apiKeys.revoke", [.text, .integer],
            """
            UPDATE api_keys SET revoked_at = $2 WHERE key_id = $1 AND revoked_at IS NULL
            RETURNING key_id
            """)

        static let count = Statement("apiKeys.count", [], "SELECT COUNT(*) AS keys FROM api_keys")

        static let removeDoor = Statement.remove("keys.remove", from: LedgerSchema.keys)
    }

    /// Statements about the audit.
    enum Audit {
        private static let table = LedgerSchema.audit

        static let insert = Statement.insert("audit.insert", into: table)

        /// A page, the newest first.
        static let page = Statement(
            "audit.page", [.integer, .text, .text, .integer],
            """
            SELECT \(table.list()) FROM audit
            WHERE (recorded_at, entry_id) < ($1, $2)
                AND (CAST($3 AS TEXT) IS NULL OR account = $3)
            ORDER BY recorded_at DESC, entry_id DESC LIMIT $4
            """)

        /// Deletes at most `$2` entries from before `$1`.
        static let forget = Statement(
            "audit.forget", [.integer, .integer],
            """
            DELETE FROM audit WHERE (recorded_at, entry_id) IN (
                SELECT a.recorded_at, a.entry_id FROM audit a WHERE a.recorded_at < $1
                ORDER BY a.recorded_at, a.entry_id LIMIT $2)
            RETURNING entry_id
            """)

        static let all = [insert, page, forget]
    }
}
