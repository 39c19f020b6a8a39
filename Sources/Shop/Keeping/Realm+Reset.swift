// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Store {
    /// Deletes what happened to a sandbox's customers: purchases, transactions,
    /// sessions, devices, notifications, errands and due work. Accounts, apps,
    /// catalogue, server keys, settings, clock and audit stay. The realm gets a
    /// new generation, so that devices read everything again, and no number is
    /// reused.
    ///
    /// This is one commit, so every other request runs before or after it. Rows
    /// on other clusters are deleted a moment later, in one commit for each
    /// cluster. The realm's audit entry is in the commit. The store's audit
    /// entry follows, at the next start at the latest (``ResetNote``).
    /// Refusals, in order: `realmNotFound`, `realmIsProduction`,
    /// `processorIsOwed`.
    public func resetRealm(
        named name: String, _ context: RequestContext
    ) async throws -> RealmReset {
        let realm = try await realm(named: name)
        await auditResetsQuietly(of: realm, context)
        let registry = registry
        let reset = try await realm.keeping.reset(context) { note in
            try await registry.write { try note.write($0) }
        }
        await auditResetsQuietly(of: realm, context)
        return reset
    }
}

extension KeepingRoom {
    /// `announce` is called with a note before anything is written.
    func reset(
        _ context: RequestContext, announce: (ResetNote) async throws -> Void
    ) async throws -> RealmReset {
        guard !realm.isProduction else {
            throw Refusal(
                .conflict, code: "realmIsProduction",
                "A production realm cannot be reset.", field: "realm",
                rule: "only a sandbox is reset",
                remedy: "name a sandbox; `realm list` shows the realms")
        }
        let elsewhere = try await clearedElsewhere()
        let reset = try await resetHome(elsewhere, context, announce)
        await realm.bringHouse()
        realm.recentSessions.forgetAll()
        realm.wakeEverybody()
        realm.ports.log(
            .info, "realm reset", context,
            ["realm": realm.description.id, "generation": "\(reset.generation)"])
        return reset
    }

    /// Makes the home's commit with a new generation. If another reset was
    /// faster, tries again with another generation.
    private func resetHome(
        _ elsewhere: ClearedRows, _ context: RequestContext,
        _ announce: (ResetNote) async throws -> Void
    ) async throws -> RealmReset {
        while true {
            let wall = realm.ports.wall.now
            let start = FreshStart(wall: wall, randomness: realm.ports.randomness)
            let last = try await realm.readHouse {
                try $0.first(Statement.Restores.generation)?.integer("generation") ?? 0
            }
            let generation = start.generation(after: last)
            try await announce(ResetNote(realm: realm.description.id, generation: generation))
            let commit = ResetCommit(
                realm: realm.description.name, generation: generation, who: context.actor,
                wall: wall,
                drawn: realm.seededNext, elsewhere: elsewhere)
            let reset = try await realm.home.writeOrLeave { try commit.write($0) }
            // Another reset was first, so this one must be announced again.
            if let reset = reset.answer { return reset }
        }
    }

    /// Counts the rows on other clusters. Those are deleted by the commits that
    /// bring the new generation to them. Before it is made, all clusters must
    /// answer and must not owe the processor anything. The counts are those of
    /// this moment.
    private func clearedElsewhere() async throws -> ClearedRows {
        guard !realm.clusters.isOne else { return ClearedRows() }
        let counts = try await realm.clusters.readAll { reading in
            if try reading.first(Statement.Resets.processorErrand) != nil {
                throw Self.processorIsOwed
            }
            return try ClearedRows(counting: reading)
        }
        return counts.dropFirst().reduce(ClearedRows(), +)
    }

    fileprivate static let processorIsOwed = Refusal(
        .conflict, code: "processorIsOwed",
        "The payment processor is still to be asked about payments of this realm.",
        field: "realm", rule: "payments with an open charge are not deleted",
        remedy: "try again when the processor has answered, or create another realm")
}

/// The writes of a reset. Runs in one commit, possibly twice.
private struct ResetCommit: Sendable {
    let realm: String
    let generation: Int64
    let who: String
    let wall: Timestamp
    /// The next counts of a seeded realm in this process.
    let drawn: [IDKind: Int64]
    /// What other clusters are about to lose.
    let elsewhere: ClearedRows

    /// Nil if another reset has made this generation or a later one.
    func write(_ writing: any Writing) throws -> Ending<RealmReset?> {
        let cleared = try ClearedRows.clear(writing, drawn: drawn) + elsewhere
        guard
            try writing.first(Statement.Resets.newGeneration, [.integer(generation)]) != nil
        else { return .leave(nil) }
        let reset = RealmReset(
            realm: realm, generation: generation,
            purchases: cleared.purchases, transactions: cleared.transactions,
            sessions: cleared.sessions)
        try AuditEntry(
            who: who, wall: wall, deed: "realm.reset", subject: realm,
            before: reset.words, after: ResetNote.words(generation)
        ).write(writing)
        return .commit(reset)
    }
}

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
        try writing.execute(Statement.Resets.takeLines, [])
        if try writing.first(Statement.Resets.processorErrand) != nil {
            throw KeepingRoom.processorIsOwed
        }
        try markNumbers(writing, drawn)
        let cleared = try ClearedRows(counting: writing)
        for statement in Statement.Resets.clear { try writing.execute(statement, []) }
        return cleared
    }

    /// Stores the next numbers, so that those of deleted rows are not reused. A
    /// seeded realm otherwise determines its next numbers from its rows.
    private static func markNumbers(
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

        static let processorErrand = Statement(
            "resets.processorErrand", [],
            "SELECT 1 AS owed FROM errands WHERE lane = 'processor' LIMIT 1")

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
            clear + [takeLines, processorErrand, counts, newGeneration, markNumber, marks]
    }
}

extension RealmReset {
    /// The text for the audit about the deleted rows.
    fileprivate var words: String { "\(purchases) purchases, \(transactions) transactions" }
}
