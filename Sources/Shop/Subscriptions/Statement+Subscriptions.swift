// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Subscriptions {
        private static let columns = RealmSchema.subscriptions.list("s")

        /// Inserts or replaces a subscription, behind the customer's line.
        static let put = Statement.put("subscriptions.put", into: RealmSchema.subscriptions)

        static let addEvent = Statement.insert(
            "subscriptions.addEvent", into: RealmSchema.subscriptionEvents)

        static let one = Statement(
            "subscriptions.one", [.integer, .integer],
            """
            SELECT \(columns) FROM subscriptions s
            WHERE s.customer_id = $1 AND s.subscription_id = $2
            """)

        static let ofApp = Statement(
            "subscriptions.ofApp", [.integer, .text],
            """
            SELECT \(columns) FROM subscriptions s
            WHERE s.customer_id = $1 AND s.bundle_id = $2 ORDER BY s.subscription_id
            """)

        /// The subscription that a transaction belongs to, by its number alone.
        static let ofTransaction = Statement(
            "subscriptions.ofTransaction", [.integer],
            """
            SELECT \(columns) FROM transactions t JOIN subscriptions s
                ON s.customer_id = t.customer_id
                    AND s.subscription_id = t.original_transaction_id
            WHERE t.transaction_id = $1
            """)

        static let page = Statement(
            "subscriptions.page", [.integer, .integer, .text, .integer, .integer, .integer],
            """
            SELECT \(columns) FROM subscriptions s
            WHERE (s.customer_id, s.subscription_id) > ($1, $2)
                AND (CAST($3 AS TEXT) IS NULL OR s.bundle_id = $3)
                AND (CAST($4 AS BIGINT) IS NULL OR s.customer_id = $4)
                AND (CAST($5 AS BIGINT) IS NULL OR s.status = $5)
            ORDER BY s.customer_id, s.subscription_id LIMIT $6
            """)

        /// The `source` of a refund's event in ``history``. It is before what the
        /// refund does to a subscription.
        static let refundSource: Int64 = 0
        /// That of an event in a family.
        static let familySource: Int64 = 2
        /// The columns that order ``history``.
        static let historyPlace = ["revision", "source", "subject", "refund", "event"]

        /// What happened to a customer's subscriptions and refunds, and in families, in
        /// the order of commits.
        static let history = Statement(
            "subscriptions.history",
            [.integer, .integer, .integer, .integer, .integer, .integer, .integer],
            """
            SELECT h.revision, h.source, h.subject, h.refund, h.event, h.body FROM (
                SELECT r.revision, CAST(\(refundSource) AS BIGINT) AS source,
                    r.transaction_id AS subject, r.refund, r.event, r.body
                FROM refund_events r WHERE r.customer_id = $1
                UNION ALL
                SELECT e.revision, CAST(1 AS BIGINT), e.subscription_id, CAST(0 AS BIGINT),
                    e.event, e.body
                FROM subscription_events e WHERE e.customer_id = $1
                UNION ALL
                SELECT f.revision, CAST(\(familySource) AS BIGINT), CAST(0 AS BIGINT),
                    CAST(0 AS BIGINT), f.event, f.body
                FROM family_events f WHERE f.customer_id = $1) h
            WHERE (h.revision, h.source, h.subject, h.refund, h.event) > ($2, $3, $4, $5, $6)
            ORDER BY h.revision, h.source, h.subject, h.refund, h.event LIMIT $7
            """)

        /// The events of a subscription after one of them.
        static let eventsAfter = Statement(
            "subscriptions.eventsAfter", [.integer, .integer, .integer],
            """
            SELECT e.event, e.body FROM subscription_events e
            WHERE e.customer_id = $1 AND e.subscription_id = $2 AND e.event > $3
            ORDER BY e.event
            """)

        /// The events of a subscription up to a commit.
        static let eventsUpTo = Statement(
            "subscriptions.eventsUpTo", [.integer, .integer, .integer],
            """
            SELECT e.revision, e.body FROM subscription_events e
            WHERE e.customer_id = $1 AND e.subscription_id = $2 AND e.revision <= $3
            ORDER BY e.event
            """)

        static let customer = Statement(
            "subscriptions.customer", [.integer],
            "SELECT customer_id, storefront FROM customers WHERE customer_id = $1")

        static let all = [
            customer, put, addEvent, one, ofApp, ofTransaction, page, history, eventsAfter,
            eventsUpTo,
        ]
    }
}
