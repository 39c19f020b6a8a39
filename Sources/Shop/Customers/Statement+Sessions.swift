// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Statements about sessions. A session is valid while its row has not
    /// ended and its wall time is not over.
    enum Sessions {
        static let putDevice = Statement.insert(
            "sessions.putDevice", into: RealmSchema.devices,
            """
            ON CONFLICT (customer_id, bundle_id, device_uuid) DO UPDATE
            SET \(RealmSchema.devices.replaced(["name", "app_version", "seen_at"]))
            """)

        static let putAppAccount = Statement.insert(
            "sessions.putAppAccount", into: RealmSchema.appAccounts,
            "ON CONFLICT (customer_id, bundle_id) DO NOTHING")

        /// Like ``Customers/now``, with the numbers of device and account.
        static let arriving = Statement(
            "sessions.arriving", [.integer, .text, .text],
            """
            SELECT \(Lines.lineColumns),
                (SELECT d.device_id FROM devices d WHERE d.customer_id = $1
                    AND d.bundle_id = $2 AND d.device_uuid = $3) AS device_id,
                (SELECT a.app_transaction_id FROM app_accounts a
                    WHERE a.customer_id = $1 AND a.bundle_id = $2) AS app_transaction_id
            FROM \(Lines.withClocks)
            """)

        static let insert = Statement.insert("sessions.insert", into: RealmSchema.sessions)

        /// Deletes a customer's expired sessions, and those above a number:
        /// first ended ones, then those that were used longest ago.
        static let deleteOld = Statement(
            "sessions.deleteOld", [.integer, .integer, .integer],
            """
            DELETE FROM sessions WHERE customer_id = $1 AND (expires_at <= $2
                OR token_hash IN (SELECT s.token_hash FROM sessions s WHERE s.customer_id = $1
                    ORDER BY (s.ended_at IS NOT NULL), s.used_at DESC, s.token_hash
                    LIMIT 100000 OFFSET $3))
            """)

        /// Deletes a customer's devices in an app above a number, except the
        /// one that signs in: those that were seen longest ago.
        static let deleteOldDevices = Statement(
            "sessions.deleteOldDevices", [.integer, .text, .text, .integer],
            """
            DELETE FROM devices WHERE customer_id = $1 AND bundle_id = $2 AND device_uuid <> $3
                AND device_uuid IN (SELECT d.device_uuid FROM devices d
                    WHERE d.customer_id = $1 AND d.bundle_id = $2
                    ORDER BY d.seen_at DESC, d.device_uuid LIMIT 100000 OFFSET $4)
            """)

        /// One row if an installation has signed in to an account, otherwise
        /// none.
        static let knowsDevice = Statement(
            "sessions.knowsDevice", [.integer, .text],
            """
            SELECT 1 AS known FROM devices WHERE customer_id = $1 AND device_uuid = $2 LIMIT 1
            """)

        /// The session with everything that its use cases need, and the clock.
        static let find = Statement(
            "sessions.find", [.integer, .blob],
            """
            SELECT s.bundle_id, s.device_uuid, s.app_version, s.expires_at, s.used_at,
                s.ended_at,
                c.name, COALESCE(c.storefront, p.storefront) AS storefront, c.may_buy, c.revision,
                p.app_id, p.locale,
                a.app_transaction_id, a.original_purchased_at, a.original_version,
                \(Realms.clockColumns),
                (SELECT t.changed_at FROM transactions t WHERE t.customer_id = s.customer_id
                    ORDER BY t.revision DESC LIMIT 1) AS last_event
            FROM sessions s
            JOIN customers c ON c.customer_id = s.customer_id
            JOIN apps p ON p.bundle_id = s.bundle_id
            JOIN app_accounts a
                ON a.customer_id = s.customer_id AND a.bundle_id = s.bundle_id
            CROSS JOIN \(Realms.withClock(of: "$1"))
            WHERE s.customer_id = $1 AND s.token_hash = $2
            """)

        /// One row if a session is valid at a wall time, otherwise none.
        static let isValid = Statement(
            "sessions.isValid", [.integer, .blob, .integer],
            """
            SELECT 1 AS valid FROM sessions
            WHERE customer_id = $1 AND token_hash = $2 AND ended_at IS NULL AND expires_at > $3
            """)

        /// Written without a customer's line, because it raises no revision.
        static let touch = Statement(
            "sessions.touch", [.integer, .blob, .integer],
            """
            UPDATE sessions SET used_at = $3
            WHERE customer_id = $1 AND token_hash = $2
                AND (used_at < $3 OR used_at > $3 + 3600000)
            """)

        /// Ends the customer's sessions whose hashes lie between two values.
        static let end = Statement(
            "sessions.end", [.integer, .blob, .blob, .integer],
            """
            UPDATE sessions SET ended_at = $4
            WHERE customer_id = $1 AND token_hash >= $2 AND token_hash <= $3
                AND ended_at IS NULL AND expires_at > $4
            RETURNING customer_id
            """)

        static let between = Statement(
            "sessions.between", [.integer, .blob, .blob],
            """
            SELECT customer_id FROM sessions
            WHERE customer_id = $1 AND token_hash >= $2 AND token_hash <= $3 LIMIT 1
            """)

        static let page = Statement(
            "sessions.page", [.integer, .blob, .integer, .integer],
            """
            SELECT \(RealmSchema.sessions.list("s")), d.name
            FROM sessions s
            LEFT JOIN devices d ON d.customer_id = s.customer_id
                AND d.bundle_id = s.bundle_id AND d.device_uuid = s.device_uuid
            WHERE (s.customer_id > $1 OR (s.customer_id = $1 AND s.token_hash > $2))
                AND ($3 IS NULL OR s.customer_id = $3)
            ORDER BY s.customer_id, s.token_hash LIMIT $4
            """)

        static let all = [
            putDevice, putAppAccount, arriving, insert, deleteOld, deleteOldDevices, knowsDevice,
            find, isValid, touch, end, between, page,
        ]
    }
}
