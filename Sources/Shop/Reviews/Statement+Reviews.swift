// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// All of them at the home.
    enum Reviews {
        private static let table = RealmSchema.reviews

        /// Locks the row of a customer's requests, and makes it if there is none, so
        /// that each request sees those before it.
        static let lockRequests = Statement(
            "reviews.lockRequests", [.text, .integer],
            """
            INSERT INTO review_requests (bundle_id, customer_id) VALUES ($1, $2)
            ON CONFLICT (bundle_id, customer_id) DO UPDATE SET asked_at = review_requests.asked_at
            RETURNING asked_at, asked_before, asked_first
            """)

        static let countRequest = Statement(
            "reviews.countRequest", [.text, .integer, .integer],
            """
            UPDATE review_requests
            SET asked_at = $3, asked_before = asked_at, asked_first = asked_before
            WHERE bundle_id = $1 AND customer_id = $2
            """)

        static let refusal = Statement.one("reviews.refusal", of: RealmSchema.reviewRefusals)

        static let refuse = Statement.insert(
            "reviews.refuse", into: RealmSchema.reviewRefusals,
            "ON CONFLICT (customer_id) DO NOTHING")

        static let allow = Statement.remove("reviews.allow", from: RealmSchema.reviewRefusals)

        static let one = Statement.one("reviews.one", of: table)

        static let put = Statement.put("reviews.put", into: table)

        /// Answers the review of a date. Returns no row if there is none any more.
        static let answer = Statement(
            "reviews.answer", [.text, .integer, .integer, .text, .integer],
            """
            UPDATE reviews SET answer = $4, answered_at = $5
            WHERE bundle_id = $1 AND customer_id = $2 AND reviewed_at = $3
            RETURNING customer_id
            """)

        /// Removes the review of a date. Returns no row if there is none any more.
        static let remove = Statement(
            "reviews.remove", [.text, .integer, .integer, .integer],
            """
            UPDATE reviews SET removed_at = $4
            WHERE bundle_id = $1 AND customer_id = $2 AND reviewed_at = $3
                AND removed_at IS NULL
            RETURNING customer_id
            """)

        /// A page, the newest first, before (`$2`, `$3`). `$5`: whether removed ones
        /// are in it.
        static let page = Statement(
            "reviews.page", [.text, .integer, .integer, .integer, .boolean],
            """
            SELECT \(table.list()) FROM reviews
            WHERE bundle_id = $1 AND (reviewed_at, customer_id) < ($2, $3)
                AND ($5 OR removed_at IS NULL)
            ORDER BY reviewed_at DESC, customer_id DESC LIMIT $4
            """)

        static let summary = Statement(
            "reviews.summary", [.text],
            """
            SELECT count(*) AS reviews, CAST(COALESCE(SUM(stars), 0) AS BIGINT) AS stars
            FROM reviews WHERE bundle_id = $1 AND removed_at IS NULL
            """)

        static let all = [
            lockRequests, countRequest, refusal, refuse, allow, one, put, answer, remove, page,
            summary,
        ]
    }
}
