// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// The tables of proofs that wait for a store, and of the notifications that came in.
extension LedgerSchema {
    static let roads = [proofsWaiting, notifications, newsCursors, forwards]

    private static let attempt = ValueRule.integer(0...1_000_000_000)
    /// A sentence of this program about a failure.
    private static let trouble = ValueRule.text(bytes: 1...1024)

    /// Proofs that were accepted while the store did not answer. `digest` is over the
    /// proof itself, so that a proof is kept once for an account. A row is deleted
    /// once the proof is booked; one with a `refusal` is kept some time to be shown.
    static let proofsWaiting = Table(
        "proofs_waiting", key: ["account", "digest"],
        [
            // Empty for a proof without an account.
            "account": .text(bytes: 0...255), "digest": .hex(64...64),
            "kind": .word(WaitingProof.Kind.allCases.map(\.rawValue)), "bundle_id": .name,
            "environment": environment.optional,
            "proof": .text(bytes: 1...WaitingProof.bytesMax), "kept_at": .time, "due_at": .time,
            "attempt": attempt, "trouble": trouble.optional,
            "refusal": .text(bytes: 1...64).optional,
        ],
        indexes: [.init("proofs_waiting_due", on: ["due_at"], where: "refusal IS NULL")],
        references: [.init(["account"], to: "accounts", where: "t.account <> ''")])

    /// Every verified notification, as the store sent it.
    static let notifications = Table(
        "notifications_in", key: ["root", "notification_id"],
        [
            "root": .hex(64...64),
            // The notificationUUID, or the digest of one without it.
            "notification_id": .name, "environment": environment.optional,
            "bundle_id": .name.optional, "notification_type": .name, "subtype": .name.optional,
            "signed_at": signedTime.optional, "received_at": .time,
            // Whether it was missed, and found in the store's history.
            "from_history": .flag, "payload": .text(bytes: 1...WaitingProof.bytesMax),
            // Why its purchase was not booked. Null once it is applied.
            "refusal": .text(bytes: 1...64).optional,
        ],
        indexes: [.init("notifications_in_received", on: ["received_at", "notification_id"])])

    /// How far the history of a store's notifications was read for an app. The last
    /// three columns describe a reading under way.
    static let newsCursors = Table(
        "news_cursors", key: ["root", "environment", "bundle_id"],
        [
            "root": .hex(64...64), "environment": environment, "bundle_id": .name,
            // In the store's time: all notifications signed before were read.
            "read_through": signedTime, "begun_at": .time,
            "fence": .integer(0...1_000_000_000_000), "sweep_from": signedTime.optional,
            "sweep_seen": signedTime.optional, "page_token": .text(bytes: 1...4096).optional,
        ])

    /// The copies of notifications that are still to be sent to a URL.
    static let forwards = Table(
        "forwards", key: ["url", "root", "notification_id"],
        [
            "url": .text(bytes: 1...2048), "root": .hex(64...64), "notification_id": .name,
            "received_at": .time, "due_at": .time, "attempt": attempt,
            // Set once it is not sent any more.
            "parked_at": .time.optional, "trouble": trouble.optional,
        ],
        indexes: [
            .init("forwards_in_order", on: ["url", "parked_at", "received_at", "notification_id"])
        ],
        references: [.init(["root", "notification_id"], to: "notifications_in")])
}
