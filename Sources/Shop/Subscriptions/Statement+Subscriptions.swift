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

        /// What happened to a customer's subscriptions, in the order of commits.
        static let history = Statement(
            "subscriptions.history", [.integer, .integer, .integer, .integer, .integer],
            """
            SELECT e.subscription_id, e.event, e.body, e.revision FROM subscription_events e
            WHERE e.customer_id = $1
                AND (e.revision, e.subscription_id, e.event) > ($2, $3, $4)
            ORDER BY e.revision, e.subscription_id, e.event LIMIT $5
            """)

        static let customer = Statement(
            "subscriptions.customer", [.integer],
            "SELECT customer_id FROM customers WHERE customer_id = $1")

        static let all = [
            customer, put, addEvent, one, ofApp, ofTransaction, page, history,
        ]
    }
}
