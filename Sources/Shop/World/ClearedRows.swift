// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// What a reset deletes from one database.
struct ClearedRows: Sendable {
    var purchases: Int64 = 0
    var transactions: Int64 = 0
    var sessions: Int64 = 0

    init() {}

    init(counting reading: any Reading) throws {
        guard let counts = try reading.first(Statement.Resets.counts) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        purchases = try counts.integer("purchases")
        transactions = try counts.integer("transactions")
        sessions = try counts.integer("sessions")
    }

    static func + (one: ClearedRows, other: ClearedRows) -> ClearedRows {
        var sum = one
        sum.purchases += other.purchases
        sum.transactions += other.transactions
        sum.sessions += other.sessions
        return sum
    }

    /// Deletes, unless a charge is owed. `drawn`: the next counts of a seeded
    /// realm in this process.
    static func clear(
        _ writing: any Writing, drawn: [IDKind: Int64] = [:]
    ) throws -> ClearedRows {
        // Waits for running writes for customers, and makes later ones wait.
        try writing.execute(Statement.Resets.beginHistories, [])
        if try writing.first(Statement.Resets.processorErrand) != nil {
            throw processorIsOwed
        }
        try markNumbers(writing, drawn)
        let cleared = try ClearedRows(counting: writing)
        for statement in Statement.Resets.clear { try writing.execute(statement, []) }
        return cleared
    }

    /// Stores the next numbers, so that those of deleted rows are not reused. A
    /// seeded realm otherwise determines its next numbers from its rows.
    static func markNumbers(
        _ writing: any Writing, _ drawn: [IDKind: Int64]
    ) throws {
        guard let row = try writing.first(Statement.Realms.open) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        let next = try Realm.nextCounts(row).merging(drawn) { max($0, $1) }
        for (kind, count) in next.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            try writing.execute(
                Statement.Resets.markNumber, [.integer(kind.rawValue), .integer(count)])
        }
    }

    static let processorIsOwed = Refusal(
        .conflict, code: "processorIsOwed",
        "The payment processor is still to be asked about payments of this realm.",
        field: "realm", rule: "payments with an open charge are not deleted",
        remedy: "try again when the processor has answered, or create another realm")
}

extension Statement {
    /// Statements of a reset.
    enum Resets {
        /// Statements that clear the tables for a reset.
        static let clear = RealmSchema.tables.filter(\.isCleared).map(\.table.name).map {
            Statement("resets.\($0)", "DELETE FROM \($0)")
        }

        /// Locks every customer's line.
        static let takeLines = Statement(
            "resets.takeLines", [], "UPDATE customers SET revision = revision + 1")

        /// Locks every customer's line, and makes the charge keys of later
        /// purchases differ from those of the deleted ones.
        static let beginHistories = Statement(
            "resets.beginHistories", [],
            "UPDATE customers SET revision = revision + 1, history_revision = revision + 1")

        static let processorErrand = Statement(
            "resets.processorErrand", [],
            "SELECT 1 AS owed FROM errands WHERE lane = 'processor' LIMIT 1")

        static let endSessions = Statement(
            "resets.endSessions", [], "DELETE FROM sessions")

        static let counts = Statement(
            "resets.counts", [],
            """
            SELECT (SELECT count(*) FROM purchases) AS purchases,
                (SELECT count(*) FROM transactions) AS transactions,
                (SELECT count(*) FROM sessions) AS sessions
            """)

        /// Returns a row if no other reset was faster.
        static let newGeneration = Statement(
            "resets.newGeneration", [.integer],
            """
            UPDATE realm
            SET generation = $1, reset_generation = $1, house_revision = house_revision + 1
            WHERE generation < $1 RETURNING generation
            """)

        static let markNumber = Statement.insert(
            "resets.markNumber", into: RealmSchema.numberMarks,
            """
            ON CONFLICT (kind) DO UPDATE SET next_count = CASE
                WHEN excluded.next_count > number_marks.next_count THEN excluded.next_count
                ELSE number_marks.next_count END
            """)

        static let marks = Statement(
            "resets.marks", [], "SELECT kind, next_count FROM number_marks")

        static let all =
            clear + [
                takeLines, beginHistories, processorErrand, endSessions, counts, newGeneration,
                markNumber, marks,
            ]
    }
}
