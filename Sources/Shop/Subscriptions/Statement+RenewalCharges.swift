// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum RenewalCharges {
        private static let columns = RealmSchema.renewalCharges.list("c")

        static let insert = Statement.insert(
            "renewalCharges.insert", into: RealmSchema.renewalCharges)

        static let one = Statement(
            "renewalCharges.one", [.integer, .integer, .integer, .integer],
            """
            SELECT \(columns) FROM renewal_charges c
            WHERE c.customer_id = $1 AND c.subscription_id = $2 AND c.period_end = $3
                AND c.attempt = $4
            """)

        /// The charges of a subscription without an answer.
        static let asked = Statement(
            "renewalCharges.asked", [.integer, .integer],
            """
            SELECT \(columns) FROM renewal_charges c
            WHERE c.customer_id = $1 AND c.subscription_id = $2 AND c.state = 'asked'
            ORDER BY c.period_end, c.attempt
            """)

        static let attempts = Statement(
            "renewalCharges.attempts", [.integer, .integer, .integer],
            """
            SELECT coalesce(max(c.attempt), 0) AS attempts FROM renewal_charges c
            WHERE c.customer_id = $1 AND c.subscription_id = $2 AND c.period_end = $3
            """)

        /// Writes an answer, once.
        static let settle = Statement(
            "renewalCharges.settle",
            [.integer, .integer, .integer, .integer, .text, .integer, .integer, .text],
            """
            UPDATE renewal_charges
            SET state = $5, settled_at = $6, transaction_id = $7, processor_reference = $8
            WHERE customer_id = $1 AND subscription_id = $2 AND period_end = $3
                AND attempt = $4 AND state = 'asked'
            """)

        static let setCaptured = Statement(
            "renewalCharges.setCaptured", [.integer, .integer, .integer, .integer, .integer],
            """
            UPDATE renewal_charges SET captured_at = $5
            WHERE customer_id = $1 AND subscription_id = $2 AND period_end = $3 AND attempt = $4
            """)

        static let setVoided = Statement(
            "renewalCharges.setVoided", [.integer, .integer, .integer, .integer, .integer],
            """
            UPDATE renewal_charges SET voided_at = $5
            WHERE customer_id = $1 AND subscription_id = $2 AND period_end = $3 AND attempt = $4
            """)

        static let all = [insert, one, asked, attempts, settle, setCaptured, setVoided]
    }
}
