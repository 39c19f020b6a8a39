// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Customers' choices of products on the store's page.
    enum Intents {
        private static let table = RealmSchema.purchaseIntents
        private static let isOpen = "(state = 'waiting' OR state = 'asked')"

        /// A choice, and the purchase that came of it.
        static let one = Statement(
            "intents.one", [.integer, .text],
            """
            SELECT \(table.list("i")), p.purchase_id AS bought
            FROM purchase_intents i LEFT JOIN purchases p ON p.customer_id = i.customer_id
                AND p.bundle_id = i.bundle_id AND p.purchase_id = i.intent_id
            WHERE i.customer_id = $1 AND i.intent_id = $2
            """)

        static let open = Statement(
            "intents.open", [.integer, .text, .text],
            """
            SELECT \(table.list()) FROM purchase_intents
            WHERE customer_id = $1 AND bundle_id = $2 AND product_id = $3 AND \(isOpen)
            """)

        static let add = Statement.insert("intents.add", into: table)

        /// Ends choices that no app has taken up in time.
        static let expire = Statement(
            "intents.expire", [.integer, .integer],
            """
            UPDATE purchase_intents SET state = 'expired', settled_at = expires_at
            WHERE customer_id = $1 AND expires_at <= $2 AND \(isOpen)
            """)

        /// Deletes choices that were settled before a date.
        static let forget = Statement(
            "intents.forget", [.integer, .integer],
            "DELETE FROM purchase_intents WHERE customer_id = $1 AND settled_at < $2")

        /// Takes a choice from a device that was asked before a date.
        static let release = Statement(
            "intents.release", [.integer, .text, .integer, .integer],
            """
            UPDATE purchase_intents
            SET state = 'waiting', device_uuid = NULL, asked_at = NULL, revision = $4
            WHERE customer_id = $1 AND intent_id = $2 AND state = 'asked' AND asked_at <= $3
            """)

        /// The choices that a device may take up: those that wait, and its own.
        static let claimable = Statement(
            "intents.claimable", [.integer, .text, .text],
            """
            SELECT \(table.list("i")), s.came_with, s.state AS product_state,
                p.purchase_id AS bought
            FROM purchase_intents i JOIN products s
                ON s.bundle_id = i.bundle_id AND s.product_id = i.product_id
            LEFT JOIN purchases p ON p.customer_id = i.customer_id
                AND p.bundle_id = i.bundle_id AND p.purchase_id = i.intent_id
            WHERE i.customer_id = $1 AND i.bundle_id = $2
                AND (i.state = 'waiting' OR (i.state = 'asked' AND i.device_uuid = $3))
            ORDER BY i.made_at, i.intent_id
            """)

        static let claim = Statement(
            "intents.claim", [.integer, .text, .text, .integer],
            """
            UPDATE purchase_intents SET state = 'asked', device_uuid = $3, asked_at = $4
            WHERE customer_id = $1 AND intent_id = $2 AND state = 'waiting'
            """)

        /// Returns the choice if this call is the one that settles it.
        static let settle = Statement(
            "intents.settle", [.integer, .text, .text, .integer],
            """
            UPDATE purchase_intents SET state = $3, settled_at = $4
            WHERE customer_id = $1 AND intent_id = $2 AND \(isOpen)
            RETURNING intent_id
            """)

        /// The same for a choice that no device has taken up.
        static let settleWaiting = Statement(
            "intents.settleWaiting", [.integer, .text, .text, .integer],
            """
            UPDATE purchase_intents SET state = $3, settled_at = $4
            WHERE customer_id = $1 AND intent_id = $2 AND state = 'waiting'
            RETURNING intent_id
            """)

        /// One row if a device may take up a choice that is newer than a revision.
        static let news = Statement(
            "intents.news", [.integer, .text, .integer],
            """
            SELECT intent_id FROM purchase_intents
            WHERE customer_id = $1 AND bundle_id = $2 AND revision > $3 AND state = 'waiting'
            LIMIT 1
            """)

        static let all = [
            one, open, add, expire, forget, release, claimable, claim, settle,
            settleWaiting, news,
        ]
    }
}
