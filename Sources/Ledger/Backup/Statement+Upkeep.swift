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

        /// The references that a restore checks once all rows are loaded.
        static let references = references(after: LedgerSchema.migrations.count)

        /// Those of a backup that has only the first migrations.
        static func references(after migrations: Int) -> [Table.Missing] {
            LedgerSchema.tables(after: migrations).filter(\.isInBackup).flatMap(\.missing)
        }

        static let all =
            [unfinished, begin, finish, askReadiness, leaveReadiness]
            + references.map(\.statement)
    }
}
