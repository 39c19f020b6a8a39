// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Store {
    /// Takes what happened to a sandbox's customers out of it: purchases,
    /// transactions, sessions, devices, notifications, what is owed and what
    /// falls due. Accounts, apps, catalogue, server keys, settings, clock and
    /// audit stay. The realm has a new generation, by which devices know that
    /// they must read anew, and no number comes again.
    ///
    /// One commit: whoever asks meanwhile is answered before it or after it.
    /// Customers of another cluster lose theirs a moment later, in one commit too.
    /// The realm's audit reports it in that commit, the store's after it, at the
    /// next start at the latest (``ResetNote``).
    /// Refusals, in order: `realmNotFound`, `realmIsProduction`,
    /// `processorIsOwed`.
    public func resetRealm(
        named name: String, _ context: RequestContext
    ) async throws -> RealmReset {
        let realm = try await realm(named: name)
        await auditResetsQuietly(of: realm, context)
        let registry = registry
        let reset = try await realm.reset(context) { note in
            try await registry.write { try note.write($0) }
        }
        await auditResetsQuietly(of: realm, context)
        return reset
    }
}

extension Realm {
    /// `announce` is called with a note before anything is written.
    func reset(
        _ context: RequestContext, announce: (ResetNote) async throws -> Void
    ) async throws -> RealmReset {
        guard !isProduction else {
            throw Refusal(
                .conflict, code: "realmIsProduction",
                "What was sold in a production realm is not taken back.", field: "realm",
                rule: "only a sandbox is reset",
                remedy: "name a sandbox; `realm list` tells which realms are")
        }
        let elsewhere = try await clearedElsewhere()
        let reset = try await resetHome(elsewhere, context, announce)
        await bringHouse()
        recentSessions.forgetAll()
        wakeEverybody()
        ports.log(
            .info, "realm reset", context,
            ["realm": description.id, "generation": "\(reset.generation)"])
        return reset
    }

    /// The home's commit, under a generation of its own. Where another reset
    /// was quicker, it is made again under another.
    private func resetHome(
        _ elsewhere: ClearedRows, _ context: RequestContext,
        _ announce: (ResetNote) async throws -> Void
    ) async throws -> RealmReset {
        while true {
            let wall = ports.wall.now
            let start = FreshStart(wall: wall, randomness: ports.randomness)
            let last = try await readHouse {
                try $0.first(Statement.Restores.generation)?.integer("generation") ?? 0
            }
            let generation = start.generation(after: last)
            try await announce(ResetNote(realm: description.id, generation: generation))
            let commit = ResetCommit(
                realm: description.name, generation: generation, who: context.actor, wall: wall,
                drawn: seededNext, elsewhere: elsewhere)
            let reset = try await home.writeOrLeave { try commit.write($0) }
            // Another reset was first: this one has to be announced again.
            if let reset = reset.answer { return reset }
        }
    }

    /// The other clusters are cleared by the commits that bring them the new
    /// generation. All must answer, and owe no processor, before it is made;
    /// counted is what is there at that moment.
    private func clearedElsewhere() async throws -> ClearedRows {
        guard !clusters.isOne else { return ClearedRows() }
        let counts = try await clusters.readAll { reading in
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
        field: "realm", rule: "nothing is forgotten that somebody may have paid for",
        remedy: "ask again when the processor has answered, or make another realm")
}

/// What a reset writes: runs inside one commit, perhaps twice.
private struct ResetCommit: Sendable {
    let realm: String
    let generation: Int64
    let who: String
    let wall: Timestamp
    /// Where a seeded realm goes on in this process.
    let drawn: [IDKind: Int64]
    /// What other clusters are about to lose.
    let elsewhere: ClearedRows

    /// Nil where another reset has made a generation that is not before this one.
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

/// What a reset took out of one database.
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

    /// Takes it out, but where a charge is owed. `drawn`: where a seeded
    /// realm goes on in this process.
    static func clear(
        _ writing: any Writing, drawn: [IDKind: Int64] = [:]
    ) throws -> ClearedRows {
        // Whoever writes for a customer now is waited for, or waits.
        try writing.execute(Statement.Resets.takeLines, [])
        if try writing.first(Statement.Resets.processorErrand) != nil {
            throw Realm.processorIsOwed
        }
        try markNumbers(writing, drawn)
        let cleared = try ClearedRows(counting: writing)
        for statement in Statement.Resets.clear { try writing.execute(statement, []) }
        return cleared
    }

    /// Numbers whose rows go are not given out again, also not by a seeded
    /// realm, which finds out from its rows where to go on.
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
    /// What a reset of a realm writes.
    enum Resets {
        /// What happened to customers, or is owed because of it. Every table
        /// of a realm is here or in ``kept``.
        static let clear = [
            Statement("resets.notificationAttempts", [], "DELETE FROM notification_attempts"),
            Statement("resets.notifications", [], "DELETE FROM notifications"),
            Statement("resets.outbox", [], "DELETE FROM outbox"),
            Statement("resets.errands", [], "DELETE FROM errands"),
            Statement("resets.dueWork", [], "DELETE FROM due_work"),
            Statement("resets.sessions", [], "DELETE FROM sessions"),
            Statement("resets.devices", [], "DELETE FROM devices"),
            Statement("resets.appAccounts", [], "DELETE FROM app_accounts"),
            Statement("resets.purchases", [], "DELETE FROM purchases"),
            Statement("resets.transactions", [], "DELETE FROM transactions"),
        ]

        /// What somebody has set up.
        static let kept = [
            "realm", "apps", "products", "catalogue_files", "catalogue_images", "audit",
            "server_keys", "customers", "sign_in_names", "number_marks", "subscription_groups",
            "app_versions", "clusters", "arrivals",
        ]

        static let cleared = clear.map { String($0.sql.dropFirst("DELETE FROM ".count)) }

        /// Every customer's line at once.
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

        /// Answers where no other reset was quicker.
        static let newGeneration = Statement(
            "resets.newGeneration", [.integer],
            """
            UPDATE realm
            SET generation = $1, reset_generation = $1, house_revision = house_revision + 1
            WHERE generation < $1 RETURNING generation
            """)

        static let markNumber = Statement(
            "resets.markNumber", [.integer, .integer],
            """
            INSERT INTO number_marks (kind, next_count) VALUES ($1, $2)
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

extension RealmSchema {
    /// The next number of each kind, where rows that told it are gone.
    static let numberMarks = """
        CREATE TABLE number_marks (
            kind INTEGER NOT NULL PRIMARY KEY,
            next_count INTEGER NOT NULL
        ) STRICT
        """
}

extension RealmReset {
    /// What the audit says there was.
    fileprivate var words: String { "\(purchases) purchases, \(transactions) transactions" }
}
