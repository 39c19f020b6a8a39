// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Changes of many subscriptions.
    enum Bulk {
        static let insert = Statement.insert(
            "bulk.insert", into: RealmSchema.bulkChanges,
            "ON CONFLICT (bundle_id, request_id) DO NOTHING RETURNING request_id")

        static let one = Statement.one("bulk.one", of: RealmSchema.bulkChanges)

        static let page = Statement(
            "bulk.page", [.text, .text, .integer],
            """
            SELECT \(RealmSchema.bulkChanges.list("b")) FROM bulk_changes b
            WHERE b.bundle_id = $1 AND b.request_id > $2 ORDER BY b.request_id LIMIT $3
            """)

        static let setCursor = Statement(
            "bulk.setCursor", [.text, .text, .text],
            "UPDATE bulk_changes SET cursor = $3 WHERE bundle_id = $1 AND request_id = $2")

        static let complete = Statement(
            "bulk.complete", [.text, .text, .integer, .integer, .integer],
            """
            UPDATE bulk_changes SET completed_at = $3, succeeded = $4, failed = $5
            WHERE bundle_id = $1 AND request_id = $2 AND completed_at IS NULL
            RETURNING request_id
            """)

        /// The subscriptions to a product, by customer.
        static let subscriptions = Statement(
            "bulk.subscriptions", [.integer, .integer, .text, .text, .integer],
            """
            SELECT \(RealmSchema.subscriptions.list("s")) FROM subscriptions s
            WHERE (s.customer_id, s.subscription_id) > ($1, $2)
                AND s.bundle_id = $3 AND s.product_id = $4
            ORDER BY s.customer_id, s.subscription_id LIMIT $5
            """)

        /// Marks a subscription, behind the customer's line. Returns no row if it was
        /// marked before.
        static let mark = Statement.insert(
            "bulk.mark", into: RealmSchema.bulkMarks,
            """
            ON CONFLICT (customer_id, bundle_id, request_id, subscription_id) DO NOTHING
            RETURNING customer_id
            """)

        /// The commit in which a subscription was changed.
        static let marked = Statement(
            "bulk.marked", [.integer, .text, .text, .integer],
            """
            SELECT revision FROM bulk_marks
            WHERE customer_id = $1 AND bundle_id = $2 AND request_id = $3
                AND subscription_id = $4 AND is_done
            """)

        static let count = Statement(
            "bulk.count", [.text, .text],
            """
            SELECT count(CASE WHEN is_done THEN 1 END) AS succeeded,
                count(CASE WHEN NOT is_done THEN 1 END) AS failed
            FROM bulk_marks WHERE bundle_id = $1 AND request_id = $2
            """)

        /// How many changes an app has had.
        static let countOfApp = Statement(
            "bulk.countOfApp", [.text],
            "SELECT count(*) AS changes FROM bulk_changes WHERE bundle_id = $1")

        static let all = [
            insert, one, page, setCursor, complete, subscriptions, mark, marked, count,
            countOfApp,
        ]
    }
}
