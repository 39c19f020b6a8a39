// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Statements about notifications that came in.
    enum News {
        private static let cursors = LedgerSchema.newsCursors
        private static let isCursor = "root = $1 AND environment = $2 AND bundle_id = $3"

        static let find = Statement(
            "news.find", [.text, .text],
            """
            SELECT refusal FROM notifications_in WHERE root = $1 AND notification_id = $2
            """)

        /// Keeps a notification. Returns no row if it is known.
        static let keep = Statement.insert(
            "news.keep", into: LedgerSchema.notifications,
            "ON CONFLICT (root, notification_id) DO NOTHING RETURNING notification_id")

        /// A notification is refused, or applied in the end.
        static let judge = Statement(
            "news.judge", [.text, .text, .text],
            """
            UPDATE notifications_in SET refusal = $3 WHERE root = $1 AND notification_id = $2
            """)

        /// When the newest notification of an app was signed.
        static let newest = Statement(
            "news.newest", [.text, .text, .text],
            """
            SELECT MAX(n.signed_at) AS signed_at FROM notifications_in n
            WHERE n.root = $1 AND n.environment = $2 AND n.bundle_id = $3
            """)

        static let insertCursor = Statement.insert(
            "news.insertCursor", into: cursors,
            "ON CONFLICT (root, environment, bundle_id) DO NOTHING")

        static let begunAt = Statement(
            "news.begunAt", [.text, .text, .text],
            "SELECT begun_at FROM news_cursors WHERE \(isCursor)")

        /// Begins a reading, if none was begun since `$5`. Takes it from a process that
        /// may still be reading, whose fence is not current any more.
        static let begin = Statement(
            "news.begin", [.text, .text, .text, .integer, .integer],
            """
            UPDATE news_cursors SET begun_at = $4, fence = fence + 1
            WHERE \(isCursor) AND begun_at <= $5
            RETURNING \(cursors.list())
            """)

        /// Records a page that was read. Returns no row if another process reads.
        static let turn = Statement(
            "news.turn",
            [.text, .text, .text, .integer, .integer, .integer, .integer, .text],
            """
            UPDATE news_cursors
            SET begun_at = $5, sweep_from = $6, sweep_seen = $7, page_token = $8
            WHERE \(isCursor) AND fence = $4
            RETURNING fence
            """)

        /// Ends a reading.
        static let end = Statement(
            "news.end", [.text, .text, .text, .integer, .integer],
            """
            UPDATE news_cursors
            SET read_through = $5, sweep_from = NULL, sweep_seen = NULL, page_token = NULL
            WHERE \(isCursor) AND fence = $4
            RETURNING fence
            """)

        /// Deletes at most `$2` that came in before `$1`, except those of which a copy is
        /// still owed.
        static let forget = Statement(
            "news.forget", [.integer, .integer],
            """
            DELETE FROM notifications_in WHERE (root, notification_id) IN (
                SELECT n.root, n.notification_id FROM notifications_in n
                WHERE n.received_at < $1 AND (n.root, n.notification_id) NOT IN (
                    SELECT f.root, f.notification_id FROM forwards f)
                ORDER BY n.received_at, n.notification_id LIMIT $2)
            RETURNING notification_id
            """)

        static let all = [
            find, keep, judge, newest, insertCursor, begunAt, begin, turn, end, forget,
        ]
    }

    /// Statements about copies of notifications for other servers.
    enum Forwards {
        private static let table = LedgerSchema.forwards
        private static let isKey = "url = $1 AND root = $2 AND notification_id = $3"

        static let owe = Statement.insert(
            "forwards.owe", into: table,
            "ON CONFLICT (url, root, notification_id) DO NOTHING")

        /// The oldest copy for a URL, which goes before all others.
        static let head = Statement(
            "forwards.head", [.text],
            """
            SELECT \(table.list("f")), n.payload FROM forwards f
            JOIN notifications_in n
                ON n.root = f.root AND n.notification_id = f.notification_id
            WHERE f.url = $1 AND f.parked_at IS NULL
            ORDER BY f.received_at, f.notification_id, f.root LIMIT 1
            """)

        /// When the oldest copy for a URL is due.
        static let nextDue = Statement(
            "forwards.nextDue", [.text],
            """
            SELECT due_at FROM forwards WHERE url = $1 AND parked_at IS NULL
            ORDER BY received_at, notification_id, root LIMIT 1
            """)

        static let lease = Statement(
            "forwards.lease", [.text, .text, .text, .integer, .integer],
            """
            UPDATE forwards SET attempt = attempt + 1, due_at = $5
            WHERE \(isKey) AND attempt = $4 AND parked_at IS NULL
            RETURNING attempt
            """)

        static let sent = Statement(
            "forwards.sent", [.text, .text, .text, .integer],
            "DELETE FROM forwards WHERE \(isKey) AND attempt = $4")

        /// Postpones a copy, or parks it.
        static let postpone = Statement(
            "forwards.postpone",
            [.text, .text, .text, .integer, .integer, .text, .integer],
            """
            UPDATE forwards SET due_at = $5, trouble = $6, parked_at = $7
            WHERE \(isKey) AND attempt = $4
            """)

        static let counts = Statement(
            "forwards.counts", [],
            """
            SELECT f.url AS url, COUNT(*) FILTER (WHERE f.parked_at IS NULL) AS waiting,
                COUNT(*) FILTER (WHERE f.parked_at IS NOT NULL) AS parked,
                MIN(f.received_at) AS oldest, MAX(f.trouble) AS trouble
            FROM forwards f GROUP BY f.url ORDER BY f.url
            """)

        /// Makes what was parked for a URL due again.
        static let unpark = Statement(
            "forwards.unpark", [.text, .integer],
            """
            UPDATE forwards SET parked_at = NULL, received_at = $2, due_at = $2
            WHERE url = $1 AND parked_at IS NOT NULL
            """)

        /// Deletes copies that were parked for as long as notifications are kept.
        static let forget = Statement(
            "forwards.forget", [.integer], "DELETE FROM forwards WHERE parked_at < $1")

        static let all = [owe, head, nextDue, lease, sent, postpone, counts, unpark, forget]
    }
}
