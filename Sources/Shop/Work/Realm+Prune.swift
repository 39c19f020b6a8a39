// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// What a realm keeps for a time only: what was signed for merchants with its
/// attempts, and sessions that have ended. What is sold, and what is owed, is
/// kept for ever.
///
/// Removing needs no lease: a row goes once, whoever removes it, and each
/// commit takes few, so that nobody waits long behind it.
extension Realm {
    /// Half a year of history and of test tokens, and a week for those who
    /// ask late. Commercial time.
    static let notificationsKeptMilliseconds =
        max(historyMilliseconds, testTokenMilliseconds)
        + 7 * 86_400_000
    /// Wall time after a session's end.
    static let sessionsKeptMilliseconds: Int64 = 30 * 86_400_000
    /// Rows that one commit removes.
    static let pruneBatch = 200
    /// How often a worker looks, and how long after its start; wall time.
    static let prunePauseSeconds: Int64 = 3600
    static let pruneStartSeconds: Int64 = 600

    /// Removes what is past its time, and answers how many rows: notifications
    /// and sessions.
    @discardableResult
    func prune(batch: Int = pruneBatch) async throws -> Int {
        var count = 0
        for index in clusters.all.indices { count += try await prune(in: index, batch) }
        return count
    }

    private func prune(in index: Int, _ batch: Int = pruneBatch) async throws -> Int {
        let (wall, storage) = (ports.wall.now, clusters[index])
        let now = try await storage.read { try Self.now($0, wall: wall) }
        let horizon = now.adding(milliseconds: -Self.notificationsKeptMilliseconds)
        var count = 0
        for app in try await loadShelf(in: storage).apps.keys {
            let old: [SQLValue] = [.text(app.value), .integer(horizon.milliseconds)]
            guard try await isThere(Statement.Pruning.anyNotification, old, storage) else {
                continue
            }
            count += try await removeAll(batch, storage) {
                try Self.pruneNotifications(old, batch, $0)
            }
        }
        let ended: [SQLValue] = [
            .integer(wall.adding(milliseconds: -Self.sessionsKeptMilliseconds).milliseconds)
        ]
        if try await isThere(Statement.Pruning.anySession, ended, storage) {
            count += try await removeAll(batch, storage) {
                try $0.query(Statement.Pruning.sessions, ended + [.integer(Int64(batch))]).count
            }
        }
        if count > 0 {
            ports.log(.info, "what was past its time is gone", nil, ["rows": "\(count)"])
        }
        return count
    }

    /// As ``prune(batch:)``, for a worker: what goes wrong is logged, and
    /// looked at again with the next round.
    func pruneQuietly(in index: Int) async {
        do { _ = try await prune(in: index) } catch {
            guard !isClosed else { return }
            ports.log(.error, "nothing could be pruned", nil, ["fault": "\(error)"])
        }
    }

    /// Looking costs no commit.
    private func isThere(
        _ statement: Statement, _ values: [SQLValue], _ storage: any Storage
    ) async throws -> Bool {
        try await storage.read { try $0.first(statement, values) != nil }
    }

    /// One commit after another until one finds less than it may take.
    private func removeAll(
        _ batch: Int, _ storage: any Storage,
        _ body: @escaping @Sendable (any Writing) throws -> Int
    ) async throws -> Int {
        var count = 0
        while !Task.isCancelled {
            let removed = try await storage.write { try body($0) }
            count += removed
            if removed < batch { break }
        }
        return count
    }

    /// The row of the outbox stays, for it is what keeps a cause from being
    /// owed twice; a test's goes too, for its cause is drawn by lot.
    private static func pruneNotifications(
        _ old: [SQLValue], _ batch: Int, _ writing: any Writing
    ) throws -> Int {
        let gone = try writing.query(
            Statement.Pruning.notifications,
            old + [.text(NotificationErrands.kind), .integer(Int64(batch))])
        for row in gone {
            let customer = try row.integer("customer_id")
            let key: [SQLValue] = [.integer(customer), .text(try row.text("cause"))]
            try writing.execute(Statement.Pruning.attempts, key)
            if customer == OwedNotification.nobody.value {
                try writing.execute(Statement.Pruning.owed, key)
            }
        }
        return gone.count
    }
}

extension Statement {
    /// What is removed when its time is over.
    enum Pruning {
        static let anyNotification = Statement(
            "pruning.anyNotification", [.text, .integer],
            """
            SELECT n.cause FROM notifications n
            WHERE n.bundle_id = $1 AND n.signed_at < $2 LIMIT 1
            """)

        static let anySession = Statement(
            "pruning.anySession", [.integer],
            "SELECT s.customer_id FROM sessions s WHERE s.expires_at < $1 LIMIT 1")

        /// Never one that is still to be sent.
        static let notifications = Statement(
            "pruning.notifications", [.text, .integer, .text, .integer],
            """
            DELETE FROM notifications WHERE (customer_id, cause) IN (
                SELECT n.customer_id, n.cause FROM notifications n
                WHERE n.bundle_id = $1 AND n.signed_at < $2
                    AND NOT EXISTS (SELECT 1 FROM errands e
                        WHERE e.customer_id = n.customer_id AND e.kind = $3
                            AND e.subject = n.cause)
                ORDER BY n.signed_at, n.notification_uuid LIMIT $4)
            RETURNING customer_id, cause
            """)

        static let attempts = Statement(
            "pruning.attempts", [.integer, .text],
            "DELETE FROM notification_attempts WHERE customer_id = $1 AND cause = $2")

        static let owed = Statement(
            "pruning.owed", [.integer, .text],
            "DELETE FROM outbox WHERE customer_id = $1 AND cause = $2")

        static let sessions = Statement(
            "pruning.sessions", [.integer, .integer],
            """
            DELETE FROM sessions WHERE (customer_id, token_hash) IN (
                SELECT s.customer_id, s.token_hash FROM sessions s
                WHERE s.expires_at < $1 ORDER BY s.expires_at LIMIT $2)
            RETURNING customer_id
            """)

        static let all = [
            anyNotification, anySession, notifications, attempts, owed, sessions,
        ]
    }
}
