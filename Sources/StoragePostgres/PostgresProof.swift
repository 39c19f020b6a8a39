// SPDX-License-Identifier: Apache-2.0

import Storage

/// Makes what a transaction saw durable before it is answered, on a server
/// whose commits wait for a standby.
///
/// Such a server shows a commit that its standby lacks as soon as no server
/// process waits for that commit any more: because the waiting process was
/// ended, or because the server crashed and recovered the commit from its own
/// log. If the standby then takes over, the commit is lost.
///
/// This process's own commits, and everything committed before them, are known
/// to be durable. If a snapshot sees more, one more commit that the standby
/// confirms makes everything before it durable. Callers that wait at the same
/// time share this commit. A server without a standby is not asked.
///
/// `@unchecked`: the condition guards everything that changes.
final class PostgresProof: @unchecked Sendable {
    /// How often a caller that waits for another caller's commit checks whether
    /// it was cancelled.
    private static let glanceMilliseconds = 100

    private let condition = MonotonicCondition()
    private var durable: PostgresSnapshot?
    private var isUnderWay = false
    private var era = 0

    /// Forgets what is known to be durable, because another server numbers its
    /// transactions differently.
    func forget() {
        condition.withLock {
            durable = nil
            era += 1
        }
    }

    /// One caller's use of a connection. If another server may have been
    /// connected since it began, its numbers and those that are known are not
    /// compared.
    struct Turn {
        fileprivate let proof: PostgresProof
        fileprivate let era: Int

        /// Records a commit that the standby confirmed, with what it saw before.
        func add(_ commit: PostgresSight) { proof.add(commit, in: era) }

        /// Returns when everything that a snapshot sees is durable. `commit` makes
        /// a commit and adds it here. `check` throws if the caller was cancelled.
        func wait(
            for snapshot: PostgresSnapshot, until deadline: Deadline, check: () throws -> Void,
            commit: () throws -> Void
        ) throws {
            try proof.wait(
                for: snapshot, in: era, until: deadline, check: check, commit: commit)
        }
    }

    /// Begins after the caller's connection was opened.
    func turn() -> Turn { Turn(proof: self, era: condition.withLock { era }) }

    private func add(_ commit: PostgresSight, in era: Int) {
        guard let own = commit.own, let seen = commit.snapshot,
            let proven = PostgresSnapshot(committed: own, seeing: seen)
        else { return }
        condition.withLock {
            guard era == self.era else { return }
            durable = durable.map { $0.union(proven) } ?? proven
        }
    }

    private func wait(
        for snapshot: PostgresSnapshot, in era: Int, until deadline: Deadline,
        check: () throws -> Void, commit: () throws -> Void
    ) throws {
        condition.lock()
        defer { condition.unlock() }
        while era != self.era || (durable.map { !snapshot.isWithin($0) } ?? true) {
            if isUnderWay {
                guard !deadline.isPast else { throw Self.fault("another caller waits for it") }
                _ = condition.wait(
                    until: min(deadline, .after(milliseconds: Self.glanceMilliseconds)))
                try check()
                continue
            }
            isUnderWay = true
            condition.unlock()
            let outcome = Result { try commit() }
            condition.lock()
            isUnderWay = false
            condition.broadcast()
            try outcome.get()
            // That commit came after the snapshot and is durable. So is
            // everything that the snapshot sees.
            return
        }
    }

    static func fault(_ reason: String) -> StorageFault {
        StorageFault(
            .unavailable,
            "the standby has not confirmed what this answer rests on (\(reason)); ask again when "
                + "the standby is there")
    }
}

/// What a transaction saw, if its server waits for a standby, and its own
/// number if it wrote.
struct PostgresSight {
    var snapshot: PostgresSnapshot?
    var own: UInt64?

    /// Sent at the end of each transaction, together with the statement that
    /// ends it.
    static let question = Statement(
        "transaction.sight",
        """
        SELECT CASE WHEN current_setting('synchronous_standby_names') <> ''
                AND current_setting('synchronous_commit') NOT IN ('off', 'local')
                AND NOT pg_is_in_recovery()
            THEN CAST(pg_current_snapshot() AS TEXT) END AS snapshot,
            CAST(pg_current_xact_id_if_assigned() AS TEXT) AS own
        """)

    /// Writes to the server's log, so that the commit waits for the standby.
    static let mark = Statement(
        "transaction.mark",
        "SELECT CAST(pg_logical_emit_message(TRUE, 'shopkeeper', '') AS TEXT) AS place")

    init(_ row: Row) throws {
        own = try row.optionalText("own").flatMap(UInt64.init)
        guard let text = try row.optionalText("snapshot") else { return }
        guard let snapshot = PostgresSnapshot(text) else {
            throw StorageFault(.malformedRow, "a snapshot that cannot be read")
        }
        self.snapshot = snapshot
    }
}
