// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// What keeps a ledger's database in order, and says nothing of purchases.
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

        /// Takes the room back in the same commit.
        static let leaveReadiness = Statement(
            "upkeep.leaveReadiness", [], "UPDATE readiness SET room = NULL")

        static let all = [unfinished, begin, finish, askReadiness, leaveReadiness]
    }
}
