// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import Synchronization

/// How long a ledger keeps what its books do not need.
public struct LedgerRetention: Hashable, Sendable {
    /// More than the 180 days for which a store lists its notifications. A notification
    /// that was read again from that list would else count as missed.
    public static let notificationDaysMin = 181
    public static let auditDaysMin = 30
    /// A century.
    public static let daysMax = 36_500

    /// The days after which a kept notification is deleted. 400 if not set.
    public let notificationDays: Int
    /// The days after which an entry of the audit is deleted. 1,100 if not set.
    public let auditDays: Int

    /// Throws ``WireError`` `retentionInvalid`.
    public init(notificationDays: Int = 400, auditDays: Int = 1_100) throws(WireError) {
        guard (Self.notificationDaysMin...Self.daysMax).contains(notificationDays) else {
            throw Self.invalid("notificationDays", Self.notificationDaysMin)
        }
        guard (Self.auditDaysMin...Self.daysMax).contains(auditDays) else {
            throw Self.invalid("auditDays", Self.auditDaysMin)
        }
        self.notificationDays = notificationDays
        self.auditDays = auditDays
    }

    /// 400 and 1,100 days.
    public static let usual = LedgerRetention(400, 1_100)

    private init(_ notificationDays: Int, _ auditDays: Int) {
        self.notificationDays = notificationDays
        self.auditDays = auditDays
    }

    private static func invalid(_ field: String, _ least: Int) -> WireError {
        WireError(
            code: "retentionInvalid", message: "It cannot be kept for that time.",
            field: field, rule: "\(least) to \(daysMax) days", remedy: "choose such a number")
    }
}

extension Ledger {
    /// The pause between two deletions.
    private static let forgetMilliseconds: Int64 = 3_600_000
    /// The most rows of a table that are deleted in a commit, and the most commits.
    static let forgottenPage: Int64 = 500
    private static let forgottenPagesMax = 40

    /// Once an hour, deletes what is not kept any longer: refused proofs and sent
    /// messages after 30 days, and notifications and entries of the audit by the
    /// configured ``LedgerRetention``.
    func forget() async throws {
        let now = ports.wall.now
        let isDue = figures.forgottenAt.withLock { last in
            guard let known = last, now.milliseconds(since: known) < Self.forgetMilliseconds else {
                last = now
                return true
            }
            return false
        }
        guard isDue else { return }
        func before(_ milliseconds: Int64) -> SQLValue {
            .integer(now.milliseconds - milliseconds)
        }
        func before(days: Int) -> SQLValue { before(Int64(days) * 86_400_000) }
        let proofs = before(WaitingProof.refusedMilliseconds)
        let messages = before(WebhookMessage.keptMilliseconds)
        try await storage.write {
            try $0.execute(Statement.Waiting.forget, [proofs])
            try $0.execute(Statement.Webhooks.forget, [messages])
        }
        let retention = configuration.retention
        let notifications = before(days: retention.notificationDays)
        try await storage.write { try $0.execute(Statement.Forwards.forget, [notifications]) }
        try await forget(Statement.News.forget, notifications)
        try await forget(Statement.Audit.forget, before(days: retention.auditDays))
    }

    /// Deletes page by page, so that no commit is long.
    private func forget(_ statement: Statement, _ before: SQLValue) async throws {
        for _ in 0..<Self.forgottenPagesMax {
            try Task.checkCancellation()
            let rows = try await storage.write {
                try $0.query(statement, [before, .integer(Self.forgottenPage)]).count
            }
            guard rows == Self.forgottenPage else { return }
        }
    }
}
