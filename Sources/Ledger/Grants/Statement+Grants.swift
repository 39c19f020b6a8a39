// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Statements about what purchases grant.
    enum Grants {
        private static let isKey = """
            root = $1 AND environment = $2 AND bundle_id = $3 AND transaction_id = $4
            """

        /// Returns no row if the purchase has this grant already.
        static let insert = Statement.insert(
            "grants.insert", into: LedgerSchema.grants,
            """
            ON CONFLICT (root, environment, bundle_id, transaction_id, kind, name) DO NOTHING
            RETURNING name
            """)

        /// Reverses the credits of a purchase, or restores them. Returns the grants
        /// that were not in that state.
        static let turn = Statement(
            "grants.turn", [.text, .text, .text, .text, .boolean],
            """
            UPDATE grants SET is_reversed = $5
            WHERE \(isKey) AND kind = 'credits' AND is_reversed <> $5
            RETURNING name, on_reversal, amount, consumed
            """)

        static let putTerms = Statement.put("terms.put", into: LedgerSchema.terms)

        /// Keeps what was signed last. Of two with one date, the earlier end.
        static let putRenewal = Statement.insert(
            "renewals.put", into: LedgerSchema.renewals,
            """
            ON CONFLICT (root, environment, bundle_id, original_transaction_id) DO UPDATE
            SET signed_at = excluded.signed_at, grace_until = excluded.grace_until
            WHERE renewals.signed_at < excluded.signed_at
                OR renewals.signed_at = excluded.signed_at
                AND COALESCE(renewals.grace_until, 0) > COALESCE(excluded.grace_until, 0)
            RETURNING signed_at
            """)

        static let renewal = Statement.one("renewals.one", of: LedgerSchema.renewals)

        private static let shared = """
            o.root, o.environment, o.bundle_id, o.transaction_id, o.name, o.lasting,
                o.period, o.on_reversal
            """

        /// Each subscription of which a period grants the account `$1` something for as long as
        /// it is subscribed, named by the first such grant of the oldest such period, and each
        /// of which a period is shared with it, named by each of these.
        private static let subscriptions = """
            SELECT f.root, f.environment, f.bundle_id, f.original_transaction_id
            FROM grants o
            JOIN purchases f ON \(isPurchase("f", "o"))
            WHERE o.account = $1 AND o.environment = $2 AND o.kind = 'entitlement'
                AND \(isSubscribed("o"))
                AND NOT EXISTS (
                    SELECT 1 FROM purchases e
                    JOIN grants h ON \(isPurchase("h", "e")) AND h.kind = 'entitlement'
                        AND \(isSubscribed("h"))
                    WHERE e.original_transaction_id = f.original_transaction_id
                        AND e.product_type = '\(BookedFacts.subscription)'
                        AND \(Shares.isSameApp("e", "f")) AND h.account = $1
                        AND (e.purchased_at, e.transaction_id, h.name)
                            < (f.purchased_at, f.transaction_id, o.name))
            UNION ALL
            SELECT f.root, f.environment, f.bundle_id, f.original_transaction_id
            FROM shares s
            JOIN purchases f ON \(isPurchase("f", "s"))
                AND f.product_type = '\(BookedFacts.subscription)'
            WHERE s.account = $1 AND s.environment = $2
            """

        private static func isSubscribed(_ grant: String) -> String {
            "\(grant).lasting IN ('grace', 'subscription')"
        }

        private static func isPurchase(_ one: String, _ other: String) -> String {
            ["root", "environment", "bundle_id", "transaction_id"]
                .map { "\(one).\($0) = \(other).\($0)" }.joined(separator: " AND ")
        }

        /// All facts of an account's entitlements, shared ones included. Of a subscription
        /// every period is shared once one is. A subscription of which several periods were
        /// shared is listed for each of them.
        ///
        /// Rows without a name follow: all periods of the account's subscriptions, also
        /// those that belong to another account or to none, or that grant nothing. A period
        /// may come twice.
        ///
        /// It needs no temporary table. SQLite takes 80 kB for each, and with several threads
        /// that costs more than the rest.
        static let entitlements = Statement(
            "grants.entitlements", [.text, .text],
            """
            SELECT g.name, g.lasting, g.period, g.on_reversal, g.root, g.environment,
                g.bundle_id, g.transaction_id, p.original_transaction_id, p.product_id, p.quantity,
                p.purchased_at, p.signed_at, p.revoked_at, t.expires_at, t.is_upgraded,
                r.grace_until
            FROM (
                SELECT \(shared) FROM grants o
                WHERE o.account = $1 AND o.environment = $2 AND o.kind = 'entitlement'
                UNION ALL
                SELECT \(shared) FROM shares s
                JOIN grants o ON \(isPurchase("o", "s")) AND o.kind = 'entitlement'
                WHERE s.account = $1 AND s.environment = $2
                UNION ALL
                SELECT \(shared) FROM shares s
                JOIN purchases f ON \(isPurchase("f", "s"))
                    AND f.product_type = '\(BookedFacts.subscription)'
                JOIN purchases m ON m.original_transaction_id = f.original_transaction_id
                    AND m.product_type = '\(BookedFacts.subscription)'
                    AND \(Shares.isSameApp("m", "f")) AND m.transaction_id <> f.transaction_id
                JOIN grants o ON \(isPurchase("o", "m")) AND o.kind = 'entitlement'
                WHERE s.account = $1 AND s.environment = $2 AND o.account <> $1
            ) g
            JOIN purchases p ON \(isPurchase("p", "g"))
            LEFT JOIN terms t ON \(isPurchase("t", "g"))
            LEFT JOIN renewals r ON r.root = g.root AND r.environment = g.environment
                AND r.bundle_id = g.bundle_id
                AND r.original_transaction_id = p.original_transaction_id
            UNION ALL
            SELECT NULL, NULL, NULL, NULL, p.root, p.environment, p.bundle_id,
                p.transaction_id, p.original_transaction_id, p.product_id, p.quantity,
                p.purchased_at, p.signed_at, p.revoked_at, t.expires_at, t.is_upgraded, NULL
            FROM (\(subscriptions)) s
            JOIN purchases p ON p.original_transaction_id = s.original_transaction_id
                AND p.product_type = '\(BookedFacts.subscription)'
                AND \(Shares.isSameApp("p", "s"))
            LEFT JOIN terms t ON \(isPurchase("t", "p"))
            """)

        /// A page of the purchases of a product that accounts have and that have granted
        /// nothing. What one of them has granted keeps its terms, and nothing is added to it.
        static let lacking = Statement(
            "grants.lacking", [.text, .text, .text, .text, .text, .integer],
            """
            SELECT p.root, p.environment, p.bundle_id, p.transaction_id FROM purchases p
            WHERE p.product_id = $1
                AND (p.transaction_id, p.root, p.environment, p.bundle_id) > ($2, $3, $4, $5)
                AND p.account IS NOT NULL AND p.spent = 0
                AND NOT EXISTS (SELECT 1 FROM grants g
                    WHERE g.root = p.root AND g.environment = p.environment
                        AND g.bundle_id = p.bundle_id AND g.transaction_id = p.transaction_id)
            ORDER BY p.transaction_id, p.root, p.environment, p.bundle_id LIMIT $6
            """)

        /// How many purchases of each product have a grant, and how many have none.
        static let products = Statement(
            "grants.products", [],
            """
            SELECT p.product_id, p.environment, COUNT(*) AS purchases,
                COUNT(p.account) AS claimed,
                COUNT(CASE WHEN EXISTS (SELECT 1 FROM grants g
                    WHERE g.root = p.root AND g.environment = p.environment
                        AND g.bundle_id = p.bundle_id AND g.transaction_id = p.transaction_id)
                    THEN 1 END) AS granted
            FROM purchases p GROUP BY p.product_id, p.environment
            ORDER BY p.product_id, p.environment
            """)

        static let all = [
            insert, turn, putTerms, putRenewal, renewal, entitlements, lacking, products,
        ]
    }

    /// Statements about books of credits.
    enum Credits {
        /// Adds the legs of an entry to its book.
        static let post = Statement.insert(
            "credits.post", into: LedgerSchema.creditBooks,
            """
            ON CONFLICT (account, environment, currency) DO UPDATE
            SET wallet = credit_books.wallet + excluded.wallet,
                issued = credit_books.issued + excluded.issued,
                spent = credit_books.spent + excluded.spent,
                written_off = credit_books.written_off + excluded.written_off,
                entries = credit_books.entries + 1
            RETURNING wallet, entries
            """)

        /// Spends from a book, unless the idempotency key `$5` was used before. Returns no row
        /// if it was, or if the book has less.
        static let spend = Statement(
            "credits.spend", [.text, .text, .text, .integer, .text],
            """
            UPDATE credit_books
            SET wallet = wallet - $4, spent = spent + $4, entries = entries + 1
            WHERE account = $1 AND environment = $2 AND currency = $3 AND wallet >= $4
                AND NOT EXISTS (SELECT 1 FROM credit_entries e
                    WHERE e.account = $1 AND e.idempotency_key = $5)
            RETURNING wallet, entries
            """)

        /// Takes what was spent from the grants, beginning with the oldest purchase.
        static let consume = Statement(
            "credits.consume", [.text, .text, .text, .integer],
            """
            UPDATE grants SET consumed = grants.consumed
                + CASE WHEN lots.reach <= $4 THEN lots.unspent
                    ELSE lots.unspent - (lots.reach - $4) END
            FROM (
                SELECT g.root, g.bundle_id, g.transaction_id, g.amount - g.consumed AS unspent,
                    CAST(SUM(g.amount - g.consumed) OVER (
                        ORDER BY g.purchased_at, g.transaction_id, g.root, g.bundle_id
                        ROWS UNBOUNDED PRECEDING) AS BIGINT) AS reach
                FROM grants g
                WHERE g.account = $1 AND g.environment = $2 AND g.name = $3
                    AND g.kind = 'credits' AND g.consumed < g.amount
                    AND (NOT g.is_reversed OR g.on_reversal = 'keep')
            ) lots
            WHERE grants.root = lots.root AND grants.environment = $2
                AND grants.bundle_id = lots.bundle_id
                AND grants.transaction_id = lots.transaction_id
                AND grants.kind = 'credits' AND grants.name = $3
                AND lots.reach - lots.unspent < $4
            """)

        static let insertEntry = Statement.insert(
            "credits.insertEntry", into: LedgerSchema.creditEntries)

        static let byKey = Statement(
            "credits.byKey", [.text, .text],
            """
            SELECT \(LedgerSchema.creditEntries.list()) FROM credit_entries
            WHERE account = $1 AND idempotency_key = $2
            """)

        static let balances = Statement(
            "credits.balances", [.text, .text],
            """
            SELECT \(LedgerSchema.creditBooks.list()) FROM credit_books
            WHERE account = $1 AND environment = $2 ORDER BY currency
            """)

        static let all = [post, spend, consume, insertEntry, byKey, balances]
    }
}
