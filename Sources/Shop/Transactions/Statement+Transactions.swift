// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Transactions {
        private static let columns = RealmSchema.transactions.list("t", without: ["record"])

        static let insert = Statement.insert(
            "transactions.insert", into: RealmSchema.transactions)

        /// One of a customer's transactions.
        static let one = Statement(
            "transactions.one", [.integer, .integer],
            """
            SELECT \(columns) FROM transactions t
            WHERE t.customer_id = $1 AND t.transaction_id = $2
            """)

        /// A transaction by its number alone, for requests by operators and by
        /// a merchant's server.
        static let byID = Statement(
            "transactions.byID", [.integer],
            """
            SELECT \(columns), \(Realms.clockColumns),
                (SELECT l.changed_at FROM transactions l WHERE l.customer_id = t.customer_id
                    ORDER BY l.revision DESC LIMIT 1) AS last_event
            FROM transactions t CROSS JOIN \(Realms.withClock(of: "t.customer_id"))
            WHERE t.transaction_id = $1
            """)

        /// The transactions that are new or changed after a revision and one of
        /// its transactions, in the order of commits.
        static let since = Statement(
            "transactions.since", [.integer, .text, .integer, .integer, .integer],
            """
            SELECT \(columns) FROM transactions t
            WHERE t.customer_id = $1 AND t.bundle_id = $2
                AND (t.revision, t.transaction_id) > ($3, $4)
            ORDER BY t.revision, t.transaction_id LIMIT $5
            """)

        /// A realm's transactions, ordered by customer and then by commit.
        static let page = Statement(
            "transactions.page", [.integer, .integer, .integer, .text, .integer, .integer],
            """
            SELECT \(columns) FROM transactions t
            WHERE (t.customer_id, t.revision, t.transaction_id) > ($1, $2, $3)
                AND (CAST($4 AS TEXT) IS NULL OR t.bundle_id = $4)
                AND (CAST($5 AS BIGINT) IS NULL OR t.customer_id = $5)
            ORDER BY t.customer_id, t.revision, t.transaction_id LIMIT $6
            """)

        /// Returns the row's revision if this call finished it.
        static let finish = Statement(
            "transactions.finish", [.integer, .text, .integer, .integer, .integer],
            """
            UPDATE transactions SET finished_at = $4, changed_at = $4, revision = $5
            WHERE customer_id = $1 AND bundle_id = $2 AND transaction_id = $3
                AND finished_at IS NULL
            RETURNING revision
            """)

        /// Revokes a transaction, with the record that says so. Returns the row's
        /// revision if this call revoked it.
        static let revoke = Statement(
            "transactions.revoke",
            [.integer, .integer, .integer, .integer, .blob, .integer, .text, .integer],
            """
            UPDATE transactions SET revoked_at = $3, revocation_reason = $4, record = $5,
                changed_at = $3, revision = $6, revocation_type = $7,
                revocation_percentage = $8
            WHERE customer_id = $1 AND transaction_id = $2 AND revoked_at IS NULL
            RETURNING revision
            """)

        /// Records that the customer has changed to a better product meanwhile.
        static let upgrade = Statement(
            "transactions.upgrade", [.integer, .integer, .integer, .integer],
            """
            UPDATE transactions SET is_upgraded = TRUE, changed_at = $3, revision = $4
            WHERE customer_id = $1 AND transaction_id = $2
            """)

        /// Moves the end of a subscription's period, with the record that says so.
        static let extend = Statement(
            "transactions.extend",
            [.integer, .integer, .integer, .blob, .integer, .integer, .text],
            """
            UPDATE transactions SET expires_at = $3, record = $4, changed_at = $5, revision = $6,
                commitment = $7
            WHERE customer_id = $1 AND transaction_id = $2
            """)

        /// Takes back a revocation, with the record that says so.
        static let reinstate = Statement(
            "transactions.reinstate", [.integer, .integer, .blob, .integer, .integer],
            """
            UPDATE transactions SET revoked_at = NULL, revocation_reason = NULL,
                revocation_type = NULL, revocation_percentage = NULL, record = $3,
                changed_at = $4, revision = $5
            WHERE customer_id = $1 AND transaction_id = $2
            """)

        /// The contents of a receipt: consumables only until they are finished. What was
        /// refunded, or is not shared any more, stays with the date of its cancellation.
        /// [Apple's page](https://developer.apple.com/documentation/appstorereceipts/cancellation_date_ms)
        /// If there are none, one row without a record, which contains the
        /// revision.
        static let records = Statement(
            "transactions.records", [.integer, .text],
            """
            SELECT c.revision, t.record FROM customers c
            LEFT JOIN transactions t
                ON t.customer_id = c.customer_id AND t.bundle_id = $2
                    AND (t.finished_at IS NULL OR t.product_type <> 'consumable')
            WHERE c.customer_id = $1 ORDER BY t.transaction_id NULLS FIRST
            """)

        static let all = [
            insert, one, byID, since, page, finish, revoke, upgrade, extend, reinstate, records,
        ]
    }
}
