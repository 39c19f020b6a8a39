// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// The history of an account.
    enum History {
        /// A page, the newest first, before (`$3`, `$4`, `$5`, `$6`). `place` orders
        /// what one commit has recorded.
        static let page = Statement(
            "history.page", [.text, .text, .integer, .integer, .text, .integer, .integer],
            """
            SELECT h.happened_at, h.place, h.id, h.number, h.product_id, h.transaction_id,
                h.amount, h.balance, h.name, h.idempotency_key, h.purpose
            FROM (\([purchases, revocations, redemptions, entitlements, credits]
                .joined(separator: " UNION ALL "))) h
            WHERE (h.happened_at, h.place, h.id, h.number) < ($3, $4, $5, $6)
            ORDER BY h.happened_at DESC, h.place DESC, h.id DESC, h.number DESC LIMIT $7
            """)

        private static let purchases = """
            SELECT p.recorded_at AS happened_at, 0 AS place,
                p.transaction_id || ' ' || p.root || ' ' || p.bundle_id AS id, 0 AS number,
                p.product_id, p.transaction_id, p.quantity AS amount,
                CAST(NULL AS BIGINT) AS balance, CAST(NULL AS TEXT) AS name,
                CAST(NULL AS TEXT) AS idempotency_key, CAST(NULL AS TEXT) AS purpose
            FROM purchases p WHERE p.account = $1 AND p.environment = $2
            """

        private static let revocations = """
            SELECT p.revoked_at, 4, p.transaction_id || ' ' || p.root || ' ' || p.bundle_id, 0,
                p.product_id, p.transaction_id, p.quantity, CAST(NULL AS BIGINT),
                CAST(NULL AS TEXT), CAST(NULL AS TEXT), CAST(NULL AS TEXT)
            FROM purchases p
            WHERE p.account = $1 AND p.environment = $2 AND p.revoked_at IS NOT NULL
            """

        private static let redemptions = """
            SELECT r.redeemed_at, 2, r.idempotency_key, 0, r.product_id, r.transaction_id,
                r.unit, CAST(NULL AS BIGINT), CAST(NULL AS TEXT), r.idempotency_key, r.purpose
            FROM redemptions r
            WHERE r.account = $1 AND r.environment = $2 AND r.unit IS NOT NULL
            """

        private static let entitlements = """
            SELECT g.granted_at, 1,
                g.transaction_id || ' ' || g.root || ' ' || g.bundle_id || ' ' || g.name, 0,
                CAST(NULL AS TEXT), g.transaction_id, CAST(NULL AS BIGINT),
                CAST(NULL AS BIGINT), g.name, CAST(NULL AS TEXT), CAST(NULL AS TEXT)
            FROM grants g
            WHERE g.account = $1 AND g.environment = $2 AND g.kind = 'entitlement'
            """

        private static let credits = """
            SELECT e.recorded_at, CASE e.kind WHEN 'grant' THEN 10 WHEN 'spending' THEN 11
                    WHEN 'reversal' THEN 12
                    WHEN 'restoration' THEN 13 ELSE 14 END,
                e.currency, e.number, CAST(NULL AS TEXT), e.transaction_id, e.wallet,
                e.balance, e.currency, e.idempotency_key, e.purpose
            FROM credit_entries e WHERE e.account = $1 AND e.environment = $2
            """

        static let all = [page]
    }
}
