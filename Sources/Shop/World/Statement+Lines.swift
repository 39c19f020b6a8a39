// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// The customer's line.
    enum Lines {
        /// A customer's line: the first statement of every write for a
        /// customer. It locks the row and raises the revision.
        static let line = Statement(
            "customers.line", [.integer],
            """
            UPDATE customers SET revision = revision + 1 WHERE customer_id = $1
            RETURNING revision, history_revision, storefront, may_buy, asks_to_buy,
                interrupts_purchases
            """)

        /// What is read behind every customer's line: the realm's clock, the
        /// date of the customer's last event, and when the customer's next work
        /// falls due.
        static let lineColumns = """
            \(Realms.clockColumns),
            (SELECT t.changed_at FROM transactions t WHERE t.customer_id = $1
                ORDER BY t.revision DESC LIMIT 1) AS last_event,
            (SELECT min(w.due_at) FROM due_work w WHERE w.customer_id = $1) AS first_due
            """

        static let now = Statement(
            "customers.now", [.integer], "SELECT \(lineColumns) FROM \(Realms.withClock)")

        static let all = [line, now]
    }
}
