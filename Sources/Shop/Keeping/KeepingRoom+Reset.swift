// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

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
        let counts = try await realm.readAll { reading in
            if try reading.first(Statement.Resets.processorErrand) != nil {
                throw ClearedRows.processorIsOwed
            }
            return try ClearedRows(counting: reading)
        }
        return counts.dropFirst().reduce(ClearedRows(), +)
    }
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
            before: reset.audited,
            after: [
                "purchases": "0", "transactions": "0", "sessions": "0",
                ResetNote.field: "\(generation)",
            ]
        ).write(writing)
        return .commit(reset)
    }
}

extension RealmReset {
    /// The deleted rows, for the audit.
    fileprivate var audited: AuditFields {
        [
            "purchases": "\(purchases)", "transactions": "\(transactions)",
            "sessions": "\(sessions)",
        ]
    }
}
