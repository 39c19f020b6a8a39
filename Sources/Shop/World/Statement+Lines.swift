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
            RETURNING revision, \(basis)
            """)

        /// The row that ``line`` would return now.
        static let foreseen = Statement(
            "customers.foreseen", [.integer],
            """
            SELECT revision + 1 AS revision, \(basis) FROM customers WHERE customer_id = $1
            """)

        private static let basis = """
            history_revision, family_revision, storefront, may_buy, asks_to_buy,
                interrupts_purchases, clock_id
            """

        /// What is read behind every customer's line: the customer's clock, the
        /// realm's, the date of the customer's last event, and when the customer's next work
        /// falls due.
        static let lineColumns = """
            \(Realms.clockColumns),
            z.clock_ahead AS realm_ahead, z.clock_stands_at AS realm_stands_at,
            z.clock_rate AS realm_rate, z.clock_since AS realm_since,
            (SELECT t.changed_at FROM transactions t WHERE t.customer_id = $1
                ORDER BY t.revision DESC LIMIT 1) AS last_event,
            (SELECT min(w.due_at) FROM due_work w WHERE w.customer_id = $1) AS first_due
            """

        static let now = Statement(
            "customers.now", [.integer], "SELECT \(lineColumns) FROM \(withClocks)")

        /// What ``lineColumns`` are from. The first value is the customer.
        static let withClocks = "\(Realms.withClock(of: "$1")) JOIN clocks z ON z.clock_id = 0"

        static let all = [line, foreseen, now]
    }
}
