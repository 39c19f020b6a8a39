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
            "notification_type": .notificationType, "subtype": .constant.optional,
            "bundle_id": .bundleID, "transaction_id": .number(.transaction).optional,
            "revision": .count,
            "created_at": .time,
        ],
        references: [
            ofCustomerIfAny, ofApp,
            // A transaction may be cleared once its notification is signed.
            .init(
                ["customer_id", "transaction_id"], to: "transactions",
                where: """
                    EXISTS (SELECT 1 FROM errands e WHERE e.customer_id = t.customer_id
                        AND e.kind = '\(WorkKind.notification)' AND e.subject = t.cause)
                    AND NOT EXISTS (SELECT 1 FROM notifications n
                        WHERE n.customer_id = t.customer_id AND n.cause = t.cause)
                    """),
        ])

    /// What was signed at the first attempt. Later attempts send the same
    /// bytes. `unsent_at`: when it was decided not to attempt it.
    static let notifications = Table(
        "notifications", key: ["customer_id", "cause"],
        [
            "customer_id": .customerOrNone, "cause": .cause, "notification_uuid": .uuid,
            "notification_type": .notificationType, "subtype": .constant.optional,
            "bundle_id": .bundleID,
            "signed_payload": .text("a compact JWS of at most 1 MiB", isJWS),
            "signed_at": .time, "delivered_at": .time.optional,
            "unsent_at": .time.optional,
        ],
        indexes: [
            .init("notifications_by_date", on: ["bundle_id", "signed_at", "notification_uuid"])
        ], references: [ofCustomerIfAny, ofApp])

    /// `status` is the answer's, if there was one.
    static let notificationAttempts = Table(
        "notification_attempts", key: ["customer_id", "cause", "attempt"], as: .tree,
        [
            "customer_id": .customerOrNone, "cause": .cause, "attempt": attempts,
            "attempted_at": .time, "result": .constant, "status": .integer(0...999).optional,
        ], references: [.init(["customer_id", "cause"], to: "notifications")])

    static let errands = WorkSchema.errands(
        owner: .customerOrNone, kind: .word(WorkKind.errands), lane: .lane,
        time: .time, references: [ofCustomerIfAny])

    static let dueWork = WorkSchema.dueWork(
        customer: .customer, kind: .word(WorkKind.inner), subject: .purchase, time: .time,
        references: [ofCustomer])
}
