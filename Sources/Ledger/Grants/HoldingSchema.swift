// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// The tables by which a process sees whether what it knows of an account's entitlements is
/// still true. They follow from the other tables, so a backup does not contain them.
///
/// An *original* is what an original transaction stands for: a subscription with all its
/// periods, or a single purchase. A *holding* is an account's part in one.
extension LedgerSchema {
    static let holdingTables = [originals, holdings]

    /// How often an original has changed: its purchases, what was signed about them and their
    /// renewal, what they grant, and to whom. It is written in the same commit, and the row
    /// is never deleted.
    static let originals = Table(
        "originals", key: originalKey, as: .tree,
        store + ["original_transaction_id": .name, "revision": .count], isInBackup: false)

    /// The originals that grant, have granted or share an entitlement to an account. Too many
    /// rows do no harm.
    static let holdings = Table(
        "holdings",
        key: ["account", "environment", "root", "bundle_id", "original_transaction_id"],
        as: .tree, ["account": .name] + store + ["original_transaction_id": .name],
        isInBackup: false)

    /// In the order in which few steps find a row.
    private static let originalKey = [
        "original_transaction_id", "root", "environment", "bundle_id",
    ]

    /// Write both tables for the purchases of a database that had no such tables. A repeat
    /// changes nothing.
    static let holdingRows = [
        """
        INSERT INTO originals (root, environment, bundle_id, original_transaction_id, revision)
        SELECT DISTINCT p.root, p.environment, p.bundle_id, p.original_transaction_id, 1
        FROM purchases p WHERE 1 = 1
        ON CONFLICT (root, environment, bundle_id, original_transaction_id) DO NOTHING
        """,
        """
        INSERT INTO holdings (account, root, environment, bundle_id, original_transaction_id)
        SELECT DISTINCT h.account, p.root, p.environment, p.bundle_id, p.original_transaction_id
        FROM (
            SELECT account, root, environment, bundle_id, transaction_id FROM grants
            WHERE kind = 'entitlement'
            UNION ALL
            SELECT account, root, environment, bundle_id, transaction_id FROM shares
        ) h
        JOIN purchases p ON p.root = h.root AND p.environment = h.environment
            AND p.bundle_id = h.bundle_id AND p.transaction_id = h.transaction_id
        WHERE 1 = 1
        ON CONFLICT (account, environment, root, bundle_id, original_transaction_id) DO NOTHING
        """,
    ]
}

extension Statement {
    /// Statements about the changes of originals.
    enum Originals {
        private static let increases = """
            ON CONFLICT (root, environment, bundle_id, original_transaction_id) DO UPDATE
            SET revision = originals.revision + 1
            """

        /// Counts a change. The last lock of a commit, after those of purchases.
        static let touch = Statement(
            "originals.touch", [.text, .text, .text, .text],
            """
            INSERT INTO originals (root, environment, bundle_id, original_transaction_id, revision)
            VALUES ($1, $2, $3, $4, 1) \(increases)
            """)

        /// Counts a change of each original in which an account has a part, in one order for
        /// every process.
        static let touchAll = Statement(
            "originals.touchAll", [.text],
            """
            INSERT INTO originals (root, environment, bundle_id, original_transaction_id, revision)
            SELECT h.root, h.environment, h.bundle_id, h.original_transaction_id, 1
            FROM holdings h WHERE h.account = $1
            ORDER BY h.root, h.environment, h.bundle_id, h.original_transaction_id
            \(increases)
            """)

        static let all = [touch, touchAll]
    }

    /// Statements about what accounts have of originals.
    enum Holdings {
        private static let table = LedgerSchema.holdings
        private static let once = "ON CONFLICT (\(table.key.joined(separator: ", "))) DO NOTHING"

        static let insert = Statement.insert("holdings.insert", into: table, once)

        /// Gives the account `$2` a part in what `$1` has a part in.
        static let copy = Statement(
            "holdings.copy", [.text, .text],
            """
            INSERT INTO holdings (account, root, environment, bundle_id, original_transaction_id)
            SELECT CAST($2 AS TEXT), h.root, h.environment, h.bundle_id, h.original_transaction_id
            FROM holdings h WHERE h.account = $1 \(once)
            """)

        static let removeAll = Statement(
            "holdings.removeAll", [.text], "DELETE FROM holdings WHERE account = $1")

        private static func marks(_ account: String, _ environment: String) -> String {
            """
            h.root || ' ' || h.bundle_id || ' ' || h.original_transaction_id AS original,
                o.revision
            FROM holdings h
            JOIN originals o ON o.root = h.root AND o.environment = h.environment
                AND o.bundle_id = h.bundle_id
                AND o.original_transaction_id = h.original_transaction_id
            WHERE h.account = \(account) AND h.environment = \(environment)
            """
        }

        /// The originals of an account in one environment, with their revisions.
        static let marks = Statement(
            "holdings.marks", [.text, .text], "SELECT \(marks("$1", "$2"))")

        /// The key with the digest `$3` and, in rows without a key, the marks of an account:
        /// one look-up for a call.
        static let opened = Statement(
            "holdings.opened", [.text, .text, .text],
            """
            SELECT k.key_id, k.name, k.scope, CAST(NULL AS TEXT) AS original,
                CAST(NULL AS BIGINT) AS revision
            FROM api_keys k WHERE k.digest = $3 AND k.revoked_at IS NULL
            UNION ALL
            SELECT NULL, NULL, NULL, \(marks("$1", "$2"))
            """)

        static let all = [insert, copy, removeAll, marks, opened]
    }
}

/// An original by its key.
struct Original: Hashable, Sendable {
    let root: String
    let environment: Environment
    let bundleID: String
    let transactionID: String

    init(_ key: PurchaseKey, _ facts: BookedFacts) {
        root = key.root
        environment = key.environment
        bundleID = key.bundleID
        transactionID = facts.originalTransactionID
    }

    private var values: [SQLValue] {
        [.text(root), .text(environment.rawValue), .text(bundleID), .text(transactionID)]
    }

    /// Counts a change of it, at the end of the commit that writes the change.
    func touch(_ writing: any Writing) throws {
        try writing.execute(Statement.Originals.touch, values)
    }

    /// Gives an account a part in it. ``touch(_:)`` follows in the same commit.
    func add(to account: String, _ writing: any Writing) throws {
        try writing.execute(
            Statement.Holdings.insert,
            LedgerSchema.holdings.row([
                "account": .text(account), "root": .text(root),
                "environment": .text(environment.rawValue), "bundle_id": .text(bundleID),
                "original_transaction_id": .text(transactionID),
            ]))
    }
}
