// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// Deletes what a realm keeps only for a limited time: signed notifications
/// with their attempts, ended sessions, and uploads that nobody continues. Sales, and what is owed, are kept
/// for ever.
///
/// This needs no lease, because a row is deleted once, by whichever process.
/// Each commit deletes few rows, so that other writes do not wait long.
extension KeepingRoom {
    /// Half a year of history and of test tokens, and a week more for late
    /// requests. In commercial time.
    static let notificationsKeptMilliseconds =
        max(Merchant.historyMilliseconds, Merchant.testTokenMilliseconds)
        + 7 * 86_400_000
    /// In wall time after a session's end.
    static let sessionsKeptMilliseconds: Int64 = 30 * 86_400_000
    /// How often a worker prunes, and how long after its start. In wall time.
    static let prunePauseSeconds: Int64 = 3600
    static let pruneStartSeconds: Int64 = 600

    /// Deletes notifications and sessions whose time is over. Returns how many
    /// rows.
    @discardableResult
    func prune(batch: Int = CommitSize.subjectsMax) async throws -> Int {
        var count = 0
        for index in realm.clusters.all.indices { count += try await prune(in: index, batch) }
        return count
    }

    private func prune(in index: Int, _ batch: Int = CommitSize.subjectsMax) async throws -> Int {
        let (wall, storage) = (realm.ports.wall.now, realm.clusters[index])
        let now = try await storage.read { try Realm.now($0, wall: wall) }
        let horizon = now.adding(milliseconds: -Self.notificationsKeptMilliseconds)
        var count = 0
        for app in try await realm.loadShelf(in: storage).apps.keys {
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
        if index == 0 {
            count += try await pruneNonces(batch, storage, wall)
            count += try await realm.content.expireUploads(batch: batch)
        }
        if count > 0 {
            realm.ports.log(.info, "what was past its time is gone", nil, ["rows": "\(count)"])
        }
        return count
    }

    /// Deletes nonces of signed offers that are too old to be used.
    private func pruneNonces(
        _ batch: Int, _ home: any Storage, _ wall: Timestamp
    ) async throws -> Int {
        let old: [SQLValue] = [
            .integer(wall.adding(milliseconds: -2 * OfferRoom.signedMilliseconds).milliseconds)
        ]
        guard try await isThere(Statement.Offers.anyNonce, old, home) else { return 0 }
        return try await removeAll(batch, home) {
            try $0.query(Statement.Offers.pruneNonces, old + [.integer(Int64(batch))]).count
        }
    }

    /// For a worker: like ``prune(batch:)``, but logs errors. The next round
    /// tries again.
    func pruneQuietly(in index: Int) async {
        do { _ = try await prune(in: index) } catch {
            guard !realm.isClosed else { return }
            realm.ports.log(.error, "nothing could be pruned", nil, ["fault": "\(error)"])
        }
    }

    /// Checks whether there is anything to delete, which costs no commit.
    private func isThere(
        _ statement: Statement, _ values: [SQLValue], _ storage: any Storage
    ) async throws -> Bool {
        try await storage.read { try $0.first(statement, values) != nil }
    }

    /// Makes commits until one deletes fewer rows than it may.
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

    /// Deletes signed notifications. The outbox row stays, because it keeps a
    /// cause from being owed twice. A test's row is deleted too, because its
    /// cause is random.
    private static func pruneNotifications(
        _ old: [SQLValue], _ batch: Int, _ writing: any Writing
    ) throws -> Int {
        let gone = try writing.query(
            Statement.Pruning.notifications,
            old + [.text(WorkKind.notification), .integer(Int64(batch))])
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
    /// Statements for deleting what is past its time.
    enum Pruning {
        /// A customer's own clock may be far behind the realm's. The notifications of
        /// such customers are kept as long as they have it.
        private static let hasRealmClock = """
            NOT EXISTS (SELECT 1 FROM customers o
                WHERE o.customer_id = n.customer_id AND o.clock_id IS NOT NULL)
            """

        static let anyNotification = Statement(
            "pruning.anyNotification", [.text, .integer],
            """
            SELECT n.cause FROM notifications n
            WHERE n.bundle_id = $1 AND n.signed_at < $2 AND \(hasRealmClock) LIMIT 1
            """)

        static let anySession = Statement(
            "pruning.anySession", [.integer],
            "SELECT s.customer_id FROM sessions s WHERE s.expires_at < $1 LIMIT 1")

        /// Does not delete a notification that is still to be sent.
        static let notifications = Statement(
            "pruning.notifications", [.text, .integer, .text, .integer],
            """
            DELETE FROM notifications WHERE (customer_id, cause) IN (
                SELECT n.customer_id, n.cause FROM notifications n
                WHERE n.bundle_id = $1 AND n.signed_at < $2 AND \(hasRealmClock)
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
