// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Customers {
        static let insert = Statement.insert("customers.insert", into: RealmSchema.customers)

        /// Null values leave a column unchanged. An empty address removes the
        /// address.
        static let change = Statement(
            "customers.change", [.integer, .boolean, .boolean, .text, .boolean, .text],
            """
            UPDATE customers SET may_buy = COALESCE($2, may_buy),
                asks_to_buy = COALESCE($3, asks_to_buy), storefront = COALESCE($4, storefront),
                interrupts_purchases = COALESCE($5, interrupts_purchases),
                email = NULLIF(COALESCE($6, email), '')
            WHERE customer_id = $1
            """)

        static let setPassword = Statement.set(
            "customers.setPassword", ["password_hash"], of: RealmSchema.customers)

        /// Only if the hash is still the one that was read.
        static let renewPassword = Statement(
            "customers.renewPassword", [.integer, .text, .text],
            """
            UPDATE customers SET password_hash = $2
            WHERE customer_id = $1 AND password_hash = $3
            """)

        /// The hash of the first customer with a password from a place on. The
        /// place is in thousandths of all numbers.
        static let someHash = Statement(
            "customers.someHash", [.integer],
            """
            SELECT password_hash FROM customers
            WHERE password_hash IS NOT NULL AND customer_id >= (
                SELECT min(customer_id) + (max(customer_id) - min(customer_id)) / 1000 * $1
                FROM customers)
            ORDER BY customer_id LIMIT 1
            """)

        static let byID = Statement.one("customers.byID", of: RealmSchema.customers)

        /// Returns the customer if the name was free.
        static let claimName = Statement.insert(
            "customers.claimName", into: RealmSchema.signInNames,
            "ON CONFLICT (name) DO NOTHING RETURNING customer_id")

        static let byName = Statement(
            "customers.byName", [.text],
            """
            SELECT \(RealmSchema.customers.list("c"))
            FROM sign_in_names n JOIN customers c ON c.customer_id = n.customer_id
            WHERE n.name = $1
            """)

        static let page = Statement(
            "customers.page", [.integer, .integer],
            """
            SELECT \(RealmSchema.customers.list()) FROM customers
            WHERE customer_id > $1 ORDER BY customer_id LIMIT $2
            """)

        static let revision = Statement(
            "customers.revision", [.integer, .text],
            """
            SELECT c.revision, c.cleared_revision, (
                SELECT max(i.revision) FROM purchase_intents i
                WHERE i.customer_id = c.customer_id AND i.bundle_id = $2
                    AND i.state = 'waiting') AS chosen_revision
            FROM customers c WHERE c.customer_id = $1
            """)

        static let all = [
            insert, change, setPassword, renewPassword, someHash, claimName, byID, byName,
            page,
            revision,
        ]
    }
}
