// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage
import Work

/// What is owed: notifications, calls to other servers, and due work.
extension RealmSchema {
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
            "signed_payload": .text("a compact JWS of at most 1 MiB", StoreArchiveRules.isJWS),
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
        owner: .customerOrNone, kind: .word(StoreArchiveRules.errands), lane: .bundleID,
        time: .time, check: StoreArchiveRules.errand)

    static let dueWork = WorkSchema.dueWork(
        customer: .customer, kind: .word([ApprovalTimeout.kind]), subject: .purchase, time: .time)
}
