// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Refunds {
        private static let columns = RealmSchema.refunds.list("r")

        /// Inserts or replaces a refund, behind the customer's line.
        static let put = Statement.put("refunds.put", into: RealmSchema.refunds)

        /// Inserts an event. Its number is the key, so it happens once.
        static let addEvent = Statement.insert(
            "refunds.addEvent", into: RealmSchema.refundEvents)

        static let ofTransaction = Statement(
            "refunds.ofTransaction", [.integer, .integer],
            """
            SELECT \(columns) FROM refunds r
            WHERE r.customer_id = $1 AND r.transaction_id = $2 ORDER BY r.refund
            """)

        /// The charge of a transaction through a processor: of its purchase, or of the
        /// renewal.
        static let charge = Statement(
            "refunds.charge", [.integer, .integer],
            """
            SELECT p.processor_reference, p.voided_at, p.history_revision, c.period_end, c.attempt
            FROM transactions t
            LEFT JOIN purchases p ON p.customer_id = t.customer_id
                AND p.bundle_id = t.bundle_id AND p.purchase_id = t.purchase_id
            LEFT JOIN renewal_charges c ON c.customer_id = t.customer_id
                AND c.subscription_id = t.original_transaction_id
                AND c.transaction_id = t.transaction_id
            WHERE t.customer_id = $1 AND t.transaction_id = $2
            """)

        /// A transaction with what a decision on its refund needs: a later sale of the
        /// same product.
        static let sale = Statement(
            "refunds.sale", [.integer, .integer],
            """
            SELECT \(RealmSchema.transactions.list("t", without: ["record"])),
                (SELECT min(o.transaction_id) FROM transactions o
                    WHERE o.customer_id = t.customer_id AND o.bundle_id = t.bundle_id
                        AND o.product_id = t.product_id
                        AND o.product_type = 'non-consumable' AND o.revoked_at IS NULL
                        AND o.original_transaction_id = o.transaction_id
                        AND o.ownership = 'purchased'
                        AND o.transaction_id <> t.transaction_id) AS owned_again
            FROM transactions t
            WHERE t.customer_id = $1 AND t.transaction_id = $2
            """)

        /// A refund, and whether the processor has the sum of its sale.
        static let owed = Statement(
            "refunds.owed", [.integer, .integer, .integer],
            """
            SELECT \(columns), p.purchase_id, c.attempt AS renewal_attempt,
                coalesce(p.captured_at, c.captured_at) AS captured_at
            FROM refunds r
            JOIN transactions t ON t.customer_id = r.customer_id
                AND t.transaction_id = r.transaction_id
            LEFT JOIN purchases p ON p.customer_id = t.customer_id
                AND p.bundle_id = t.bundle_id AND p.purchase_id = t.purchase_id
            LEFT JOIN renewal_charges c ON c.customer_id = t.customer_id
                AND c.subscription_id = t.original_transaction_id
                AND c.transaction_id = t.transaction_id
            WHERE r.customer_id = $1 AND r.transaction_id = $2 AND r.refund = $3
            """)

        static let setReturned = Statement(
            "refunds.setReturned", [.integer, .integer, .integer, .integer],
            """
            UPDATE refunds SET returned_at = $4
            WHERE customer_id = $1 AND transaction_id = $2 AND refund = $3
                AND returned_at IS NULL
            """)

        static let setTakenBack = Statement(
            "refunds.setTakenBack", [.integer, .integer, .integer, .integer],
            """
            UPDATE refunds SET taken_back_at = $4
            WHERE customer_id = $1 AND transaction_id = $2 AND refund = $3
                AND taken_back_at IS NULL
            """)

        static let page = Statement(
            "refunds.page", [.integer, .integer, .integer, .integer, .text, .integer],
            """
            SELECT \(columns), t.product_id FROM refunds r
            JOIN transactions t ON t.customer_id = r.customer_id
                AND t.transaction_id = r.transaction_id
            WHERE (r.customer_id, r.transaction_id, r.refund) > ($1, $2, $3)
                AND (CAST($4 AS BIGINT) IS NULL OR r.customer_id = $4)
                AND (CAST($5 AS TEXT) IS NULL OR r.state = $5)
            ORDER BY r.customer_id, r.transaction_id, r.refund LIMIT $6
            """)

        static let all = [
            put, addEvent, ofTransaction, charge, sale, owed, setReturned, setTakenBack, page,
        ]
    }
}
