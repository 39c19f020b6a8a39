// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Notifications {
        static let setURL = Statement(
            "notifications.setURL", [.text, .text, .integer],
            """
            UPDATE apps SET notification_url = $2, notification_version = $3
            WHERE bundle_id = $1 RETURNING bundle_id
            """)

        static let url = Statement(
            "notifications.url", [.text],
            """
            SELECT notification_url, notification_version FROM apps WHERE bundle_id = $1
            """)

        /// Everything that an attempt needs: the owed notification, its URL,
        /// what was signed before, the number of attempts, and the clock.
        static let facts = Statement(
            "notifications.facts", [.integer, .text],
            """
            SELECT o.notification_uuid, o.notification_type, o.subtype, o.transaction_id, o.bundle_id,
                o.created_at, a.notification_url, a.notification_version, a.app_id, n.signed_payload, n.delivered_at,
                (SELECT count(*) FROM notification_attempts t
                    WHERE t.customer_id = $1 AND t.cause = $2
                        AND t.attempt <= \(attemptsMax)) AS attempts,
                \(Realms.clockColumns),
                (SELECT l.changed_at FROM transactions l WHERE l.customer_id = $1
                    ORDER BY l.revision DESC LIMIT 1) AS last_event
            FROM outbox o CROSS JOIN \(Realms.withClock(of: "$1"))
            LEFT JOIN apps a ON a.bundle_id = o.bundle_id
            LEFT JOIN notifications n ON n.customer_id = o.customer_id AND n.cause = o.cause
            WHERE o.customer_id = $1 AND o.cause = $2
            """)

        /// The highest number of an attempt of the store. Those by hand have higher ones,
        /// so that the store's timetable does not count them.
        static let attemptsMax = 1000

        /// The number of the next attempt by hand.
        static let nextByHand = Statement(
            "notifications.nextByHand", [.integer, .text],
            """
            SELECT CAST(COALESCE(MAX(t.attempt), \(attemptsMax)) + 1 AS BIGINT) AS attempt
            FROM notification_attempts t
            WHERE t.customer_id = $1 AND t.cause = $2 AND t.attempt > \(attemptsMax)
            """)

        /// Stores what was signed. Returns no row if another process was first.
        static let keep = Statement.insert(
            "notifications.keep", into: RealmSchema.notifications,
            "ON CONFLICT (customer_id, cause) DO NOTHING RETURNING signed_at")

        static let insertAttempt = Statement.insert(
            "notifications.insertAttempt", into: RealmSchema.notificationAttempts,
            "ON CONFLICT (customer_id, cause, attempt) DO NOTHING")

        static let setDelivered = Statement(
            "notifications.setDelivered", [.integer, .text, .integer],
            """
            UPDATE notifications SET delivered_at = $3
            WHERE customer_id = $1 AND cause = $2 AND delivered_at IS NULL
            """)

        static let setUnsent = Statement(
            "notifications.setUnsent", [.integer, .text, .integer],
            """
            UPDATE notifications SET unsent_at = $3
            WHERE customer_id = $1 AND cause = $2 AND delivered_at IS NULL
            """)

        /// One attempted notification of an app, with its attempts.
        static let one = Statement(
            "notifications.one", [.integer, .text, .text],
            """
            SELECT n.notification_uuid, n.signed_at, n.signed_payload, n.customer_id, n.cause,
                t.attempt, t.attempted_at, t.result
            FROM notifications n JOIN notification_attempts t
                ON t.customer_id = n.customer_id AND t.cause = n.cause
            WHERE n.customer_id = $1 AND n.cause = $2 AND n.bundle_id = $3
            ORDER BY t.attempt
            """)

        /// A notification of an app by its UUID, attempted or not.
        static let byUUID = Statement(
            "notifications.byUUID", [.text, .text],
            """
            SELECT n.notification_uuid, n.signed_at, n.signed_payload, n.customer_id, n.cause,
                t.attempt, t.attempted_at, t.result
            FROM notifications n LEFT JOIN notification_attempts t
                ON t.customer_id = n.customer_id AND t.cause = n.cause
            WHERE n.bundle_id = $1 AND n.notification_uuid = $2
            ORDER BY t.attempt
            """)

        /// An app's notifications after a cursor that were attempted, or that were
        /// recorded as unsent, oldest first: one row for each attempt. `$11`: the date
        /// after which those of customers with clocks of their own are left out, unless
        /// `$8` names the customer.
        static let history = Statement(
            "notifications.history",
            [
                .text, .integer, .integer, .integer, .text, .text, .text, .integer, .boolean,
                .integer, .integer,
            ],
            """
            WITH page AS (
                SELECT n.customer_id, n.cause, n.notification_uuid, n.signed_at,
                    n.signed_payload
                FROM notifications n
                WHERE n.bundle_id = $1 AND n.signed_at >= $2 AND n.signed_at <= $3
                    AND (n.signed_at, n.notification_uuid) > ($4, $5)
                    AND (CAST($6 AS TEXT) IS NULL OR n.notification_type = $6)
                    AND (CAST($7 AS TEXT) IS NULL OR n.subtype = $7)
                    AND (CAST($8 AS BIGINT) IS NULL OR n.customer_id = $8)
                    AND (n.signed_at <= $11 OR n.customer_id = $8 OR NOT EXISTS (
                        SELECT 1 FROM customers o
                        WHERE o.customer_id = n.customer_id AND o.clock_id IS NOT NULL))
                    AND (n.delivered_at IS NULL OR NOT $9)
                    AND (n.unsent_at IS NOT NULL OR EXISTS (
                        SELECT 1 FROM notification_attempts e
                        WHERE e.customer_id = n.customer_id AND e.cause = n.cause))
                ORDER BY n.signed_at, n.notification_uuid LIMIT $10)
            SELECT p.notification_uuid, p.signed_at, p.signed_payload, p.customer_id, p.cause,
                t.attempt, t.attempted_at, t.result
            FROM page p LEFT JOIN notification_attempts t
                ON t.customer_id = p.customer_id AND t.cause = p.cause
            ORDER BY p.signed_at, p.notification_uuid, t.attempt
            """)

        static let insertOutbox = Statement.insert("outbox.insert", into: RealmSchema.outbox)

        static let all = [
            insertOutbox,
            setURL, url, facts, keep, insertAttempt, setDelivered, setUnsent,
            one, history, byUUID, nextByHand,
        ]
    }
}
