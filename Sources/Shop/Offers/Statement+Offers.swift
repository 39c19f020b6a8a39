// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// All of them at the home, except ``purchase``.
    enum Offers {
        private static let columns = RealmSchema.offerCodes.list("c")
        private static let claims = """
            (SELECT count(*) FROM offer_claims k
                WHERE k.bundle_id = c.bundle_id AND k.code = c.code) AS claims
            """

        static let insertCode = Statement.insert("offers.code", into: RealmSchema.offerCodes)

        static let code = Statement(
            "offers.codeByText", [.text, .text],
            """
            SELECT \(columns), \(claims) FROM offer_codes c
            WHERE c.bundle_id = $1 AND c.code = $2
            """)

        /// Locks a code against other claims.
        static let lock = Statement(
            "offers.lock", [.text, .text, .integer],
            """
            UPDATE offer_codes SET claimed_at = $3 WHERE bundle_id = $1 AND code = $2
            RETURNING code
            """)

        static let page = Statement(
            "offers.page", [.text, .text, .integer],
            """
            SELECT \(columns), \(claims) FROM offer_codes c
            WHERE c.bundle_id = $1 AND c.code > $2 ORDER BY c.code LIMIT $3
            """)

        /// Returns the codes that this call switches off: one, or a batch.
        static let deactivate = Statement(
            "offers.deactivate", [.text, .text, .integer],
            """
            UPDATE offer_codes SET deactivated_at = $3
            WHERE bundle_id = $1 AND deactivated_at IS NULL AND (code = $2 OR batch = $2)
            RETURNING code
            """)

        static let isKnown = Statement(
            "offers.isKnown", [.text, .text],
            """
            SELECT 1 AS known FROM offer_codes WHERE bundle_id = $1 AND (code = $2 OR batch = $2)
            LIMIT 1
            """)

        /// How many codes an app has, also switched off.
        static let count = Statement(
            "offers.count", [.text],
            "SELECT count(*) AS codes FROM offer_codes WHERE bundle_id = $1")

        static let claim = Statement(
            "offers.claim",
            [.text, .text, .text, .integer, .integer, .text, .text, .integer],
            """
            INSERT INTO offer_claims
                (bundle_id, kind, subject, holder, claimant_id, purchase_id, code, claimed_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (bundle_id, kind, subject, holder) DO NOTHING RETURNING purchase_id
            """)

        static let claimed = Statement(
            "offers.claimed", [.text, .text, .text, .integer],
            """
            SELECT claimant_id, purchase_id, claimed_at FROM offer_claims
            WHERE bundle_id = $1 AND kind = $2 AND subject = $3 AND holder = $4
            """)

        static let passOn = Statement(
            "offers.passOn", [.text, .text, .text, .integer, .text, .text],
            """
            UPDATE offer_claims SET purchase_id = $6
            WHERE bundle_id = $1 AND kind = $2 AND subject = $3 AND holder = $4
                AND purchase_id = $5
            RETURNING purchase_id
            """)

        /// The code that a payment has claimed.
        static let ofPurchase = Statement(
            "offers.ofPurchase", [.integer, .text, .text],
            """
            SELECT c.product_id, c.offer_name FROM offer_claims k
            JOIN offer_codes c ON c.bundle_id = k.bundle_id AND c.code = k.code
            WHERE k.claimant_id = $1 AND k.bundle_id = $2 AND k.purchase_id = $3
                AND k.kind = 'code'
            """)

        static let release = Statement(
            "offers.release", [.integer, .text, .text],
            """
            DELETE FROM offer_claims
            WHERE claimant_id = $1 AND bundle_id = $2 AND purchase_id = $3 AND kind = 'code'
            """)

        /// What a customer has claimed, when the customer's history is cleared.
        static let forget = Statement(
            "offers.forget", [.integer], "DELETE FROM offer_claims WHERE claimant_id = $1")

        /// Nonces of offers that are too old to be used.
        static let anyNonce = Statement(
            "offers.anyNonce", [.integer],
            """
            SELECT 1 AS old FROM offer_claims WHERE kind = 'nonce' AND claimed_at < $1 LIMIT 1
            """)

        static let pruneNonces = Statement(
            "offers.pruneNonces", [.integer, .integer],
            """
            DELETE FROM offer_claims WHERE (bundle_id, kind, subject, holder) IN (
                SELECT bundle_id, kind, subject, holder FROM offer_claims
                WHERE kind = 'nonce' AND claimed_at < $1 LIMIT $2)
            RETURNING subject
            """)

        /// The state of an earlier payment, in its customer's cluster.
        static let purchase = Statement(
            "offers.purchase", [.integer, .text, .text],
            """
            SELECT state FROM purchases
            WHERE customer_id = $1 AND bundle_id = $2 AND purchase_id = $3
            """)

        static let all = [
            insertCode, code, lock, page, deactivate, isKnown, count, claim, claimed, passOn,
            ofPurchase, release, forget, anyNonce, pruneNonces, purchase,
        ]
    }
}
