// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Purchases {
        static let columns = RealmSchema.purchases.list("p")

        /// Everything that the decision on a payment needs, behind the
        /// customer's line: the clock, the purchase if it exists, what the
        /// customer has already or has asked for, and the requesting session.
        static let facts = Statement(
            "purchases.facts", [.integer, .text, .text, .text, .text, .blob],
            """
            SELECT \(Lines.lineColumns),
                (SELECT t.transaction_id FROM transactions t
                    WHERE t.customer_id = $1 AND t.bundle_id = $2 AND t.product_id = $4
                        AND t.product_type = 'non-consumable' AND t.revoked_at IS NULL
                        AND t.original_transaction_id = t.transaction_id
                        AND t.ownership = 'purchased') AS owned,
                (SELECT t.transaction_id FROM transactions t
                    WHERE t.customer_id = $1 AND t.bundle_id = $2 AND t.finished_at IS NULL
                        AND t.product_id = $4 AND t.revoked_at IS NULL
                        AND t.product_type IN ('consumable', 'non-renewing')
                    ORDER BY t.transaction_id LIMIT 1) AS unfinished,
                (SELECT o.purchase_id FROM purchases o
                    WHERE o.customer_id = $1 AND o.bundle_id = $2 AND o.product_id = $4
                        AND o.state IN ('authorising', 'waiting')
                        AND (o.state = 'authorising' OR o.waiting_for = 'approval')
                    ORDER BY o.purchase_id LIMIT 1) AS open_purchase,
                (SELECT o.purchase_id FROM purchases o
                    WHERE o.customer_id = $1 AND o.bundle_id = $2 AND o.product_id = $4
                        AND o.state IN ('authorising', 'waiting')
                        AND o.state = 'waiting' AND o.waiting_for = 'attention'
                    ORDER BY o.purchase_id LIMIT 1) AS interrupted_purchase,
                (SELECT coalesce(d.state, q.state) FROM purchases q
                    LEFT JOIN purchases d ON d.customer_id = q.customer_id
                        AND d.bundle_id = q.bundle_id AND d.purchase_id = q.joins
                    WHERE q.customer_id = $1 AND q.bundle_id = $2
                        AND q.purchase_id = $5) AS replaced_state,
                s.expires_at AS session_expires_at, s.ended_at AS session_ended_at,
                \(columns)
            FROM \(Lines.withClocks)
            LEFT JOIN purchases p
                ON p.customer_id = $1 AND p.bundle_id = $2 AND p.purchase_id = $3
            LEFT JOIN sessions s ON s.customer_id = $1 AND s.token_hash = $6
            """)

        static let insert = Statement.insert("purchases.insert", into: RealmSchema.purchases)

        /// Moves a purchase on by an event. Returns no row if it is no longer in
        /// the state that the event began in. What earlier events stated stays,
        /// unless this one states it anew. If the clock was set back since the
        /// question, this corrects the question's date: no answer is dated
        /// before it.
        static let move = Statement(
            "purchases.move",
            [
                .integer, .text, .text, .text, .text, .text, .text, .integer, .integer, .text,
                .integer, .text, .integer, .integer,
            ],
            """
            UPDATE purchases SET state = $5, cause = $6, refusal = $7, transaction_id = $8,
                total_price = coalesce($9, total_price),
                processor_reference = coalesce($10, processor_reference),
                void_owed_at = $11, approval = coalesce($12, approval), decided_at = $13,
                asked_at = CASE WHEN $13 < asked_at THEN $13 ELSE asked_at END,
                revision = $14
            WHERE customer_id = $1 AND bundle_id = $2 AND purchase_id = $3 AND state = $4
            RETURNING revision
            """)

        /// Corrects the dates of questions that are later than possible, after a
        /// clock was set back.
        static let bringForward = Statement(
            "purchases.bringForward", [.integer, .integer, .integer],
            """
            UPDATE purchases SET asked_at = $2 WHERE state = 'waiting' AND asked_at > $1
                AND coalesce((SELECT c.clock_id FROM customers c
                    WHERE c.customer_id = purchases.customer_id), 0) = $3
            """)

        /// The dates of what has happened to a customer last.
        static let lastDates = Statement(
            "purchases.lastDates", [.integer, .integer],
            """
            SELECT (SELECT max(CASE WHEN t.changed_at < t.purchased_at THEN t.purchased_at
                        ELSE t.changed_at END)
                    FROM transactions t
                    WHERE t.customer_id = $1 AND t.purchased_at <= $2) AS transaction_at,
                (SELECT max(e.happened_at) FROM subscription_events e
                    WHERE e.customer_id = $1) AS event_at,
                (SELECT max(p.asked_at) FROM purchases p WHERE p.customer_id = $1) AS asked_at
            FROM realm
            """)

        static let one = Statement(
            "purchases.one", [.integer, .text, .text],
            """
            SELECT \(columns)
            FROM purchases p
            WHERE p.customer_id = $1 AND p.bundle_id = $2 AND p.purchase_id = $3
            """)

        /// The purchases that wait or waited for an answer, by the device's id
        /// alone.
        static let waitingByID = Statement(
            "purchases.waitingByID", [.text],
            """
            SELECT \(columns)
            FROM purchases p WHERE p.purchase_id = $1 AND p.waiting_for IS NOT NULL
            ORDER BY p.customer_id, p.bundle_id LIMIT 10
            """)

        static let waitingPage = Statement(
            "purchases.waitingPage", [.integer, .text, .text, .integer],
            """
            SELECT \(columns)
            FROM purchases p
            WHERE p.state = 'waiting' AND (p.customer_id, p.bundle_id, p.purchase_id) > ($1, $2, $3)
            ORDER BY p.customer_id, p.bundle_id, p.purchase_id LIMIT $4
            """)

        /// The purchases of a customer that wait for a parent's answer.
        static let waitingOf = Statement(
            "purchases.waitingOf", [.integer, .integer],
            """
            SELECT \(columns)
            FROM purchases p
            WHERE p.customer_id = $1 AND p.state = 'waiting' AND p.waiting_for = 'approval'
            ORDER BY p.bundle_id, p.purchase_id LIMIT $2
            """)

        static let page = Statement(
            "purchases.page", [.integer, .text, .text, .integer],
            """
            SELECT \(columns)
            FROM purchases p WHERE (p.customer_id, p.bundle_id, p.purchase_id) > ($1, $2, $3)
            ORDER BY p.customer_id, p.bundle_id, p.purchase_id LIMIT $4
            """)

        /// The purchases that have received their awaited answer since a
        /// revision.
        static let answeredSince = Statement(
            "purchases.answeredSince", [.integer, .text, .integer, .integer],
            """
            SELECT purchase_id FROM purchases
            WHERE customer_id = $1 AND bundle_id = $2 AND revision > $3 AND revision <= $4
                AND approval IS NOT NULL
            ORDER BY revision
            """)

        /// One row if a device has news after a revision, otherwise none.
        static let news = Statement(
            "purchases.news", [.integer, .text, .integer],
            """
            SELECT 1 AS news FROM realm WHERE EXISTS (
                    SELECT t.revision FROM transactions t
                    WHERE t.customer_id = $1 AND t.bundle_id = $2 AND t.revision > $3)
                OR EXISTS (
                    SELECT p.revision FROM purchases p
                    WHERE p.customer_id = $1 AND p.bundle_id = $2 AND p.revision > $3
                        AND p.approval IS NOT NULL)
                OR EXISTS (
                    SELECT c.revision FROM customers c
                    WHERE c.customer_id = $1 AND c.cleared_revision > $3)
                OR EXISTS (
                    SELECT i.revision FROM purchase_intents i
                    WHERE i.customer_id = $1 AND i.bundle_id = $2 AND i.revision > $3
                        AND i.state = 'waiting')
            """)

        static let setVoided = Statement(
            "purchases.setVoided", [.integer, .text, .text, .integer],
            """
            UPDATE purchases SET void_owed_at = NULL, voided_at = $4
            WHERE customer_id = $1 AND bundle_id = $2 AND purchase_id = $3
                AND voided_at IS NULL
            """)

        static let setCaptured = Statement(
            "purchases.setCaptured", [.integer, .text, .text, .integer],
            """
            UPDATE purchases SET captured_at = $4
            WHERE customer_id = $1 AND bundle_id = $2 AND purchase_id = $3
                AND captured_at IS NULL
            """)

        /// How many other payments for a product have reached the authoriser.
        static let attempts = Statement(
            "purchases.attempts", [.integer, .text, .text, .text],
            """
            SELECT count(*) AS attempts FROM purchases
            WHERE customer_id = $1 AND bundle_id = $2 AND product_id = $3
                AND purchase_id <> $4
                AND (refusal = 'declined' OR (state = 'sold' AND total_price IS NOT NULL))
            """)

        static let appAccount = Statement(
            "purchases.appAccount", [.integer, .text],
            """
            SELECT app_transaction_id FROM app_accounts
            WHERE customer_id = $1 AND bundle_id = $2
            """)

        /// How many purchases a customer has asked for in an app.
        static let count = Statement(
            "purchases.count", [.integer, .text],
            "SELECT count(*) AS purchases FROM purchases WHERE customer_id = $1 AND bundle_id = $2")

        /// The products of an app that a customer owns, so that a payment for one of
        /// them charges nothing.
        static let owned = Statement(
            "purchases.owned", [.integer, .text],
            """
            SELECT DISTINCT t.product_id FROM transactions t
            WHERE t.customer_id = $1 AND t.bundle_id = $2
                AND t.product_type = 'non-consumable' AND t.revoked_at IS NULL
                AND t.original_transaction_id = t.transaction_id
                AND t.ownership = 'purchased'
            """)

        static let all = [
            owned, facts, insert, move, bringForward, lastDates, one, waitingByID, waitingPage,
            waitingOf,
            page,
            answeredSince,
            news, attempts, setVoided, setCaptured, appAccount, count,
        ]
    }
}
