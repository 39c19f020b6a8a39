// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// The tables of what accounts have to do with each other.
extension LedgerSchema {
    static let accountTables = [shares, merges]
    static let erasureTables = [erasures]

    /// The accounts that share what a purchase of another account grants. Of a
    /// subscription, one period stands for all, also later ones.
    static let shares = Table(
        "shares", key: ["account", "root", "environment", "bundle_id", "transaction_id"],
        ["account": .name] + purchaseKey + ["shared_at": .time],
        indexes: [
            .init(
                "shares_purchase", on: ["root", "environment", "bundle_id", "transaction_id"])
        ],
        references: [
            .init(["account"], to: "accounts"),
            .init(["root", "environment", "bundle_id", "transaction_id"], to: "purchases"),
        ])

    /// The accounts that became part of another one. `into_account` is never one of
    /// them itself.
    static let merges = Table(
        "account_merges", key: ["account"],
        ["account": .name, "into_account": .name, "merged_at": .time],
        indexes: [.init("account_merges_into", on: ["into_account"])],
        references: [
            .init(["account"], to: "accounts"),
            .init(["into_account"], to: "accounts", ["account"]),
        ])
}

extension LedgerSchema {
    /// The opaque names of erased accounts about whose purchases notifications may still be
    /// kept with their contents.
    static let erasures = Table(
        "erasures", key: ["account"], ["account": .name],
        references: [.init(["account"], to: "accounts")])
}

extension Statement {
    /// Statements that move purchases between accounts.
    enum Moves {
        private static let isKey = """
            root = $1 AND environment = $2 AND bundle_id = $3 AND transaction_id = $4
            """

        /// Gives a purchase of the account `$5` to `$6`. Returns no row if it is not
        /// that account's any more.
        static let purchase = Statement(
            "moves.purchase", [.text, .text, .text, .text, .text, .text, .integer],
            """
            UPDATE purchases SET account = $6, revision = $7 WHERE \(isKey) AND account = $5
            RETURNING transaction_id
            """)

        static let grants = Statement(
            "moves.grants", [.text, .text, .text, .text, .text],
            "UPDATE grants SET account = $5 WHERE \(isKey)")

        private static let standing = """
            SELECT root, environment, bundle_id, transaction_id, kind, name, amount, consumed,
                is_reversed, on_reversal
            FROM grants
            """

        /// What a purchase has granted.
        static let granted = Statement(
            "moves.granted", [.text, .text, .text, .text],
            "\(standing) WHERE \(isKey) ORDER BY kind, name")

        /// All credits that an account was granted.
        static let credits = Statement(
            "moves.credits", [.text],
            """
            \(standing) WHERE account = $1 AND kind = 'credits'
            ORDER BY environment, name, transaction_id, root, bundle_id
            """)

        static let wallet = Statement(
            "moves.wallet", [.text, .text, .text],
            """
            SELECT wallet FROM credit_books
            WHERE account = $1 AND environment = $2 AND currency = $3
            """)

        static let allPurchases = Statement(
            "moves.allPurchases", [.text, .text, .integer],
            "UPDATE purchases SET account = $2, revision = $3 WHERE account = $1")

        static let allGrants = Statement(
            "moves.allGrants", [.text, .text],
            "UPDATE grants SET account = $2 WHERE account = $1")

        /// When the last of the units that an account has reserved at the time `$2` is given
        /// back. Null without one.
        static let held = Statement(
            "moves.held", [.text, .integer],
            """
            SELECT MAX(expires_at) AS expires_at FROM redemptions
            WHERE account = $1 AND unit IS NULL AND released_at IS NULL AND expires_at > $2
            """)

        static let all = [
            purchase, grants, granted, credits, wallet, allPurchases, allGrants, held,
        ]
    }

    /// Statements about shared purchases.
    enum Shares {
        /// Returns no row if the account shares the purchase already.
        static let insert = Statement.insert(
            "shares.insert", into: LedgerSchema.shares,
            """
            ON CONFLICT (account, root, environment, bundle_id, transaction_id) DO NOTHING
            RETURNING account
            """)

        /// Whether two purchases are of one app. The columns of `m` are no key here, because
        /// SQLite would look through all purchases of the app by it, in place of the few
        /// of a subscription.
        static func isSameApp(_ m: String, _ f: String) -> String {
            ["root", "environment", "bundle_id"].map { "\(m).\($0) || '' = \(f).\($0)" }
                .joined(separator: " AND ")
        }

        /// How many accounts share a purchase or, of a subscription, any period, and
        /// whether `$5` does.
        static let count = Statement(
            "shares.count", [.text, .text, .text, .text, .text],
            """
            SELECT COUNT(DISTINCT s.account) AS shares,
                COUNT(CASE WHEN s.account = $5 THEN 1 END) AS own
            FROM shares s
            WHERE s.root = $1 AND s.environment = $2 AND s.bundle_id = $3
                AND s.transaction_id IN (
                    SELECT CAST($4 AS TEXT)
                    UNION ALL
                    SELECT m.transaction_id FROM purchases f
                    JOIN purchases m ON m.original_transaction_id = f.original_transaction_id
                        AND m.product_type = '\(BookedFacts.subscription)'
                        AND \(isSameApp("m", "f"))
                    WHERE f.root = $1 AND f.environment = $2 AND f.bundle_id = $3
                        AND f.transaction_id = $4
                        AND f.product_type = '\(BookedFacts.subscription)')
            """)

        static let remove = Statement.remove("shares.remove", from: LedgerSchema.shares)

        /// Gives the shares of `$1` to `$2`, except those of what `$2` owns or shares.
        static let move = Statement(
            "shares.move", [.text, .text],
            """
            UPDATE shares SET account = $2 WHERE account = $1
                AND NOT EXISTS (SELECT 1 FROM shares o WHERE o.account = $2
                    AND o.root = shares.root AND o.environment = shares.environment
                    AND o.bundle_id = shares.bundle_id
                    AND o.transaction_id = shares.transaction_id)
            """)

        static let removeAll = Statement(
            "shares.removeAll", [.text], "DELETE FROM shares WHERE account = $1")

        /// Deletes shares of what the account owns itself.
        static let removeOwn = Statement(
            "shares.removeOwn", [.text],
            """
            DELETE FROM shares WHERE account = $1
                AND EXISTS (SELECT 1 FROM purchases p WHERE p.account = $1
                    AND p.root = shares.root AND p.environment = shares.environment
                    AND p.bundle_id = shares.bundle_id
                    AND p.transaction_id = shares.transaction_id)
            """)

        static let all = [insert, count, remove, move, removeAll, removeOwn]
    }

    /// Statements about merged accounts.
    enum Merges {
        static let into = Statement(
            "merges.into", [.text],
            "SELECT into_account, merged_at FROM account_merges WHERE account = $1")

        static let insert = Statement.insert(
            "merges.insert", into: LedgerSchema.merges,
            "ON CONFLICT (account) DO NOTHING RETURNING account")

        /// What became part of `$1` becomes part of `$2`.
        static let move = Statement(
            "merges.move", [.text, .text],
            "UPDATE account_merges SET into_account = $2 WHERE into_account = $1")

        /// The accounts that became part of another one.
        static let parts = Statement(
            "merges.parts", [.text],
            "SELECT account FROM account_merges WHERE into_account = $1 ORDER BY account")

        static let remove = Statement(
            "merges.remove", [.text],
            "DELETE FROM account_merges WHERE account = $1 OR into_account = $1")

        static let moveProofs = Statement(
            "merges.moveProofs", [.text, .text],
            """
            UPDATE proofs_waiting SET account = $2 WHERE account = $1
                AND NOT EXISTS (SELECT 1 FROM proofs_waiting o
                    WHERE o.account = $2 AND o.digest = proofs_waiting.digest)
            """)

        static let removeProofs = Statement(
            "merges.removeProofs", [.text], "DELETE FROM proofs_waiting WHERE account = $1")

        static let all = [into, insert, move, parts, remove, moveProofs, removeProofs]
    }
}
