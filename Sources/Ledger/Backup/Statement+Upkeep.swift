// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Statements for the maintenance of a ledger's database, which do not
    /// concern purchases.
    enum Upkeep {
        static let unfinished = Statement(
            "upkeep.unfinished", [], "SELECT begun_at FROM restores WHERE finished_at IS NULL")

        static let begin = Statement(
            "upkeep.begin", [.integer, .integer],
            "INSERT INTO restores (singleton, made_at, begun_at) VALUES (1, $1, $2)")

        static let finish = Statement(
            "upkeep.finish", [.integer], "UPDATE restores SET finished_at = $1")

        static let askReadiness = Statement(
            "upkeep.askReadiness", [.blob],
            """
            INSERT INTO readiness (singleton, asked, room) VALUES (1, 1, $1)
            ON CONFLICT (singleton) DO UPDATE
            SET asked = readiness.asked + 1, room = excluded.room
            """)

        /// Frees the space in the same commit.
        static let leaveReadiness = Statement(
            "upkeep.leaveReadiness", [], "UPDATE readiness SET room = NULL")

        /// Rows of a copy that name an account which the copy does not have.
        static let strangePurchase = Statement(
            "upkeep.strangePurchase", [],
            """
            SELECT p.account AS missing FROM purchases p
            WHERE p.account IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.account = p.account) LIMIT 1
            """)

        static let strangeRedemption = Statement(
            "upkeep.strangeRedemption", [],
            """
            SELECT r.account AS missing FROM redemptions r
            WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.account = r.account) LIMIT 1
            """)

        static let all = [
            strangePurchase, strangeRedemption, unfinished, begin, finish, askReadiness,
            leaveReadiness,
        ]
    }
}
