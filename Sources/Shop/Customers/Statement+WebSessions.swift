// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Statements about the sessions of browsers.
    enum WebSessions {
        static let insert = Statement.insert("webSessions.insert", into: RealmSchema.webSessions)

        static let find = Statement(
            "webSessions.find", [.integer, .blob, .integer],
            """
            SELECT c.name, c.storefront, w.expires_at
            FROM web_sessions w JOIN customers c ON c.customer_id = w.customer_id
            WHERE w.customer_id = $1 AND w.token_hash = $2 AND w.expires_at > $3
            """)

        static let delete = Statement(
            "webSessions.delete", [.integer, .blob],
            "DELETE FROM web_sessions WHERE customer_id = $1 AND token_hash = $2")

        static let deleteAll = Statement(
            "webSessions.deleteAll", [.integer], "DELETE FROM web_sessions WHERE customer_id = $1")

        /// Deletes a customer's expired sessions, and the oldest above a number.
        static let deleteOld = Statement(
            "webSessions.deleteOld", [.integer, .integer, .integer],
            """
            DELETE FROM web_sessions WHERE customer_id = $1 AND (expires_at <= $2
                OR token_hash IN (SELECT w.token_hash FROM web_sessions w
                    WHERE w.customer_id = $1
                    ORDER BY w.made_at DESC, w.token_hash LIMIT 100000 OFFSET $3))
            """)

        static let all = [insert, find, delete, deleteAll, deleteOld]
    }
}
