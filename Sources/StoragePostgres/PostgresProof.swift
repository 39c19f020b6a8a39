// SPDX-License-Identifier: Apache-2.0

import Storage

/// Proves that what a transaction saw is durable on a server whose commits
/// wait for a standby, before anything is answered from it.
///
/// Such a server shows a commit that its standby lacks once nobody waits with
/// it any more: the server process that waited was ended, or the server
/// crashed and recovered it from its own log. If the standby takes over, that
/// commit is gone.
///
/// What this process committed itself, with all that was committed before, is
/// known to be durable. Where a snapshot sees more, one commit that the
/// standby confirms makes all durable that came before it; callers that wait
/// at the same time share it. A server without a standby is asked for nothing.
///
/// `@unchecked`: everything that changes is guarded by the condition.
final class PostgresProof: @unchecked Sendable {
    /// How often a caller that waits for another's commit looks whether it
    /// was cancelled.
    private static let glanceMilliseconds = 100

    private let condition = MonotonicCondition()
    private var durable: PostgresSnapshot?
    private var isUnderWay = false

    /// The numbers of another server would mean other commits.
    func forget() { condition.withLock { durable = nil } }

    /// A commit that the standby confirmed, with what it saw before.
    func add(_ commit: PostgresSight) {
        guard let own = commit.own, let seen = commit.snapshot,
            let proven = PostgresSnapshot(committed: own, seeing: seen)
        else { return }
        condition.withLock { durable = durable.map { $0.union(proven) } ?? proven }
    }

    /// Returns when all that a snapshot sees is durable. `commit` makes a
    /// commit, which it adds here; `check` throws when the caller was cancelled.
    func wait(
        for snapshot: PostgresSnapshot, until deadline: Deadline, check: () throws -> Void,
        commit: () throws -> Void
    ) throws {
        condition.lock()
        defer { condition.unlock() }
        while durable.map({ !snapshot.isWithin($0) }) ?? true {
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
            // It came after the snapshot and is durable, and so is what that saw.
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

/// What a transaction saw, where its server waits for a standby, and its own
/// number if it wrote.
struct PostgresSight {
    var snapshot: PostgresSnapshot?
    var own: UInt64?

    /// Asked at the end of each transaction, together with what ends it.
    static let question = Statement(
        "transaction.sight",
        """
        SELECT CASE WHEN current_setting('synchronous_standby_names') <> ''
                AND current_setting('synchronous_commit') NOT IN ('off', 'local')
                AND NOT pg_is_in_recovery()
            THEN CAST(pg_current_snapshot() AS TEXT) END AS snapshot,
            CAST(pg_current_xact_id_if_assigned() AS TEXT) AS own
        """)

    /// Writes into the server's log, so that its commit waits for the standby.
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
