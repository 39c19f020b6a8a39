// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage
import Work

/// What is owed: notifications, calls to other servers, and due work.
extension RealmSchema {
    private static func isJWS(_ text: String) -> Bool {
        (5...1_048_576).contains(text.utf8.count)
            && text.split(separator: ".", omittingEmptySubsequences: false).count == 3
            && text.utf8.allSatisfy { byte in
                (97...122).contains(byte) || (65...90).contains(byte)
                    || (48...57).contains(byte) || [45, 46, 95].contains(byte)
            }
    }

    private static let attempts = ValueRule.integer(0...1_000_000_000)

    /// One row for each owed notification. A cause owes only one.
    static let outbox = Table(
        "outbox", key: ["customer_id", "cause"], as: .tree,
        [
            "customer_id": .customerOrNone, "cause": .cause, "notification_uuid": .uuid,
            "notification_type": .notificationType, "bundle_id": .bundleID,
            "transaction_id": .number(.transaction).optional, "revision": .count,
            "created_at": .time,
        ])

    /// What was signed at the first attempt. Later attempts send the same
    /// bytes.
    static let notifications = Table(
        "notifications", key: ["customer_id", "cause"],
        [
            "customer_id": .customerOrNone, "cause": .cause, "notification_uuid": .uuid,
            "notification_type": .notificationType, "subtype": .constant.optional,
            "bundle_id": .bundleID,
            "signed_payload": .text("a compact JWS of at most 1 MiB", isJWS),
            "signed_at": .time, "delivered_at": .time.optional,
        ],
        indexes: [
            .init("notifications_by_date", on: ["bundle_id", "signed_at", "notification_uuid"])
        ])

    /// `status` is the answer's, if there was one.
    static let notificationAttempts = Table(
        "notification_attempts", key: ["customer_id", "cause", "attempt"], as: .tree,
        [
            "customer_id": .customerOrNone, "cause": .cause, "attempt": attempts,
            "attempted_at": .time, "result": .constant, "status": .integer(0...999).optional,
        ])

    static let errands = WorkSchema.errands(
        owner: .customerOrNone, kind: .word(WorkKind.errands), lane: .bundleID,
        time: .time)

    static let dueWork = WorkSchema.dueWork(
        customer: .customer, kind: .word([WorkKind.approval]), subject: .purchase, time: .time)
}
