// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// What a ledger reports to the merchant's servers.
public enum WebhookEvent: String, Hashable, Sendable, CaseIterable {
    /// A purchase was booked, or the store has signed something new about it.
    case purchaseBooked = "purchase.booked"
    case purchaseUpdated = "purchase.updated"
    /// A purchase went to another account, or is shared with it.
    case purchaseRestored = "purchase.restored"
    case unitRedeemed = "unit.redeemed"
    case creditsSpent = "credits.spent"
    case accountMerged = "account.merged"
}

extension LedgerSchema {
    static let webhookTables = [webhooks]

    /// The messages to the merchant's servers. A message is written in the commit of
    /// its event. `number` orders those of an account.
    static let webhooks = Table(
        "webhooks_out", key: ["url", "message_id"],
        [
            "url": .text(bytes: 1...2048), "message_id": .name,
            "event": .word(WebhookEvent.allCases.map(\.rawValue)),
            // Empty without an account.
            "account": .text(bytes: 0...255), "number": .count,
            "body": .text(bytes: 1...WebhookMessage.bytesMax), "created_at": .time,
            // When it was owed first, or again.
            "owed_at": .time, "due_at": .time, "attempt": .integer(0...1_000_000_000),
            "sent_at": .time.optional, "parked_at": .time.optional,
            "trouble": .text(bytes: 1...1024).optional,
        ],
        indexes: [
            .init("webhooks_due", on: ["url", "due_at"], where: "sent_at IS NULL"),
            .init("webhooks_account", on: ["account", "url", "number"]),
            .init("webhooks_created", on: ["created_at", "message_id"]),
        ],
        references: [.init(["account"], to: "accounts", where: "t.account <> ''")])
}

extension Statement {
    /// Statements about messages to the merchant's servers.
    enum Webhooks {
        private static let table = LedgerSchema.webhooks
        private static let isKey = "url = $1 AND message_id = $2"

        static let owe = Statement.insert(
            "webhooks.owe", into: table, "ON CONFLICT (url, message_id) DO NOTHING")

        /// The last number of an account at a URL. Its line is locked.
        static let last = Statement(
            "webhooks.last", [.text, .text],
            """
            SELECT MAX(number) AS number FROM webhooks_out WHERE account = $1 AND url = $2
            """)

        /// What is due at a URL. With `$3`, a message waits for the earlier ones of its
        /// account.
        static let due = Statement(
            "webhooks.due", [.text, .integer, .boolean, .integer],
            """
            SELECT \(table.list("w")) FROM webhooks_out w
            WHERE w.url = $1 AND w.sent_at IS NULL AND w.parked_at IS NULL AND w.due_at <= $2
                AND (NOT $3 OR w.account = '' OR NOT EXISTS (SELECT 1 FROM webhooks_out o
                    WHERE o.url = w.url AND o.account = w.account AND o.number < w.number
                        AND o.sent_at IS NULL AND o.parked_at IS NULL))
            ORDER BY w.due_at, w.created_at, w.number, w.message_id LIMIT $4
            """)

        /// Returns no row if another process sends it.
        static let lease = Statement(
            "webhooks.lease", [.text, .text, .integer, .integer],
            """
            UPDATE webhooks_out SET attempt = attempt + 1, due_at = $4
            WHERE \(isKey) AND attempt = $3 AND sent_at IS NULL AND parked_at IS NULL
            RETURNING attempt
            """)

        /// Notes that a message arrived, also if it was parked meanwhile.
        static let sent = Statement(
            "webhooks.sent", [.text, .text, .integer, .integer],
            """
            UPDATE webhooks_out SET sent_at = $4, parked_at = NULL, trouble = NULL
            WHERE \(isKey) AND attempt = $3
            """)

        /// Postpones a message, or parks it. One that was parked meanwhile stays parked.
        static let postpone = Statement(
            "webhooks.postpone", [.text, .text, .integer, .integer, .text, .integer],
            """
            UPDATE webhooks_out
            SET due_at = $4, trouble = $5, parked_at = COALESCE(parked_at, $6)
            WHERE \(isKey) AND attempt = $3 AND sent_at IS NULL
            """)

        /// A page, the newest first.
        static let page = Statement(
            "webhooks.page", [.integer, .text, .text, .text, .text, .integer],
            """
            SELECT \(table.list()) FROM webhooks_out
            WHERE (created_at, message_id, url) < ($1, $2, $3)
                AND (CAST($4 AS TEXT) IS NULL OR url = $4)
                AND (CAST($5 AS TEXT) IS NULL
                    OR $5 = CASE WHEN parked_at IS NOT NULL THEN 'parked'
                        WHEN sent_at IS NOT NULL THEN 'sent' ELSE 'waiting' END)
            ORDER BY created_at DESC, message_id DESC, url DESC LIMIT $6
            """)

        private static let again =
            "sent_at = NULL, parked_at = NULL, attempt = 0, owed_at = $2, due_at = $2"

        static let replayParked = Statement(
            "webhooks.replayParked", [.text, .integer],
            """
            UPDATE webhooks_out SET \(again) WHERE url = $1 AND parked_at IS NOT NULL
            RETURNING message_id
            """)

        static let replay = Statement(
            "webhooks.replay", [.text, .integer, .text],
            """
            UPDATE webhooks_out SET \(again) WHERE url = $1 AND message_id = $3
            RETURNING message_id
            """)

        static let park = Statement(
            "webhooks.park", [.text, .integer, .text],
            """
            UPDATE webhooks_out SET parked_at = $2
            WHERE url = $1 AND message_id = $3 AND sent_at IS NULL AND parked_at IS NULL
            RETURNING message_id
            """)

        static let forget = Statement(
            "webhooks.forget", [.integer], "DELETE FROM webhooks_out WHERE sent_at < $1")

        static let ofAccount = Statement(
            "webhooks.ofAccount", [.text], "DELETE FROM webhooks_out WHERE account = $1")

        static let all = [
            owe, last, due, lease, sent, postpone, page, replayParked, replay, park, forget,
            ofAccount,
        ]
    }
}
