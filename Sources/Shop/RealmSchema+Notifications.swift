// SPDX-License-Identifier: Apache-2.0

import Storage

/// The URL for each app's notifications, the signed notifications, and the
/// results of the attempts to send them.
extension RealmSchema {
    static let notificationTables = [
        "ALTER TABLE apps ADD COLUMN notification_url TEXT", notifications,
        notificationsByDate, notificationAttempts,
    ]

    /// Written at the first attempt. Later attempts send the same bytes. The
    /// table has row ids, because its rows are long.
    private static let notifications = """
        CREATE TABLE notifications (
            customer_id INTEGER NOT NULL,
            cause TEXT NOT NULL,
            notification_uuid TEXT NOT NULL,
            notification_type TEXT NOT NULL,
            subtype TEXT,
            bundle_id TEXT NOT NULL,
            signed_payload TEXT NOT NULL,
            signed_at INTEGER NOT NULL,
            delivered_at INTEGER,
            PRIMARY KEY (customer_id, cause)
        ) STRICT
        """

    private static let notificationsByDate = """
        CREATE INDEX notifications_by_date
        ON notifications (bundle_id, signed_at, notification_uuid)
        """

    /// `status` is the answer's, if there was one.
    private static let notificationAttempts = """
        CREATE TABLE notification_attempts (
            customer_id INTEGER NOT NULL,
            cause TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            attempted_at INTEGER NOT NULL,
            result TEXT NOT NULL,
            status INTEGER,
            PRIMARY KEY (customer_id, cause, attempt)
        ) WITHOUT ROWID, STRICT
        """
}
