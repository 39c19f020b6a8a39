// SPDX-License-Identifier: Apache-2.0

import Storage

/// Operators with keys of their own, and the audit of the store.
extension RegistrySchema {
    static let operatorTables = [operators, operatorsByKey, storeAudit, storeAuditCounts]

    /// Only the SHA-256 of a key is stored. A name can be used only once.
    private static let operators = """
        CREATE TABLE operators (
            name TEXT NOT NULL PRIMARY KEY,
            key_hash BLOB NOT NULL,
            made_at INTEGER NOT NULL,
            revoked_at INTEGER
        ) STRICT
        """

    private static let operatorsByKey = """
        CREATE UNIQUE INDEX operators_by_key ON operators (key_hash)
        """

    /// Like the realms' audits. `written_at` is wall time.
    private static let storeAudit = """
        CREATE TABLE store_audit (
            entry INTEGER NOT NULL PRIMARY KEY,
            written_at INTEGER NOT NULL,
            who TEXT NOT NULL,
            deed TEXT NOT NULL,
            subject TEXT NOT NULL,
            old_value TEXT,
            new_value TEXT
        ) STRICT
        """

    private static let storeAuditCounts = """
        CREATE TABLE store_audit_counts (
            singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
            written INTEGER NOT NULL
        ) STRICT
        """
}

extension Statement {
    enum Operators {
        /// Returns the name if it was never used.
        static let insert = Statement(
            "operators.insert", [.text, .blob, .integer],
            """
            INSERT INTO operators (name, key_hash, made_at) VALUES ($1, $2, $3)
            ON CONFLICT (name) DO NOTHING RETURNING name
            """)

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

        static let insertEntry = Statement(
            "storeAudit.insert", [.integer, .integer, .text, .text, .text, .text, .text],
            """
            INSERT INTO store_audit (entry, written_at, who, deed, subject, old_value, new_value)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """)

        static let page = Statement(
            "storeAudit.page", [.integer, .integer],
            """
            SELECT entry, written_at, who, deed, subject, old_value, new_value FROM store_audit
            WHERE entry > $1 ORDER BY entry LIMIT $2
            """)

        static let all = [insert, list, byKey, revoke, nextEntry, insertEntry, page]
    }
}
