// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Every statement of a ledger's database, for the test that prepares all
    /// of them.
    enum LedgerBook {
        static let all = Accounts.all + Booked.all + Redemptions.all + Upkeep.all
    }

    enum Accounts {
        /// Locks the account's line, and creates it if it does not exist. The
        /// first statement of every write for an account.
        static let takeLine = Statement(
            "accounts.takeLine", [.text],
            """
            INSERT INTO accounts (account, revision) VALUES ($1, 1)
            ON CONFLICT (account) DO UPDATE SET revision = accounts.revision + 1
            RETURNING revision
            """)

        /// Locks the line of an account that has purchases. Returns no row for
        /// an account without any.
        static let takeKnownLine = Statement(
            "accounts.takeKnownLine", [.text],
            "UPDATE accounts SET revision = revision + 1 WHERE account = $1 RETURNING revision")

        static let insertKey = Statement.insert(
            "keys.insert", into: LedgerSchema.keys, "ON CONFLICT (door) DO NOTHING")

        static let key = Statement.one("keys.one", of: LedgerSchema.keys)

        static let all = [takeLine, takeKnownLine, insertKey, key]
    }

    /// Statements about the purchases in the books.
    enum Booked {
        private static let columns = LedgerSchema.purchases.list("p")

        /// Which purchases can still be spent. The only place for this rule in
        /// SQL.
        private static let unspent = """
            p.revoked_at IS NULL AND p.spent < p.quantity
                AND p.product_type IN ('Consumable', 'Non-Renewing Subscription')
            """

        static let byKey = Statement.one("purchases.byKey", of: LedgerSchema.purchases)

        /// Returns no row if the purchase is in the books already.
        static let insert = Statement.insert(
            "purchases.insert", into: LedgerSchema.purchases,
            """
            ON CONFLICT (root, environment, bundle_id, transaction_id) DO NOTHING
            RETURNING transaction_id
            """)

        /// Assigns a purchase without an account to one. Returns no row if it
        /// has one already.
        static let claim = Statement(
            "purchases.claim", [.text, .text, .text, .text, .text, .integer],
            """
            UPDATE purchases SET account = $5, revision = $6
            WHERE root = $1 AND environment = $2 AND bundle_id = $3 AND transaction_id = $4
                AND account IS NULL
            RETURNING transaction_id
            """)

        /// Writes the fate of a purchase, if the row and its account have not
        /// changed since they were read.
        static let setFate = Statement(
            "purchases.setFate",
            [
                .text, .text, .text, .text, .text, .integer, .integer, .integer, .integer,
                .integer,
            ],
            """
            UPDATE purchases
            SET signed_at = $6, revoked_at = $7, revocation_reason = $8, revision = $9
            WHERE root = $1 AND environment = $2 AND bundle_id = $3 AND transaction_id = $4
                AND account IS NOT DISTINCT FROM CAST($5 AS TEXT) AND signed_at = $10
            RETURNING transaction_id
            """)

        static let unspentPage = Statement(
            "purchases.unspentPage",
            [.text, .text, .integer, .text, .text, .text, .integer],
            """
            SELECT \(columns) FROM purchases p
            WHERE p.account = $1 AND p.environment = $2
                AND (p.revision, p.transaction_id, p.root, p.bundle_id) > ($3, $4, $5, $6)
                AND \(unspent)
            ORDER BY p.revision, p.transaction_id, p.root, p.bundle_id LIMIT $7
            """)

        /// The purchases that a redemption may spend, beginning with the
        /// oldest.
        static let candidates = Statement(
            "purchases.candidates", [.text, .text, .text, .text, .text],
            """
            SELECT \(columns) FROM purchases p
            WHERE p.account = $1 AND p.environment = $2 AND p.bundle_id = $3
                AND (CAST($4 AS TEXT) IS NULL OR p.transaction_id = $4)
                AND (CAST($5 AS TEXT) IS NULL OR p.product_id = $5)
            ORDER BY CASE WHEN \(unspent) THEN 0 ELSE 1 END,
                p.purchased_at, p.transaction_id, p.root
            LIMIT 1
            """)

        /// Spends one unit. Returns no row if none is left, the purchase was
        /// revoked, or it belongs to another account.
        static let spend = Statement(
            "purchases.spend", [.text, .text, .text, .text, .text, .integer],
            """
            UPDATE purchases SET spent = spent + 1, revision = $6
            WHERE root = $1 AND environment = $2 AND bundle_id = $3 AND transaction_id = $4
                AND account = $5 AND spent < quantity AND revoked_at IS NULL
                AND product_type IN ('Consumable', 'Non-Renewing Subscription')
            RETURNING spent
            """)

        static let all = [
            byKey, insert, claim, setFate, unspentPage, candidates, spend,
        ]
    }

    enum Redemptions {
        static let byKey = Statement.one("redemptions.byKey", of: LedgerSchema.redemptions)

        static let insert = Statement.insert(
            "redemptions.insert", into: LedgerSchema.redemptions)

        static let all = [byKey, insert]
    }
}
