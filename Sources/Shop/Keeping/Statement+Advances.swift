// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// The statements of an advance. The prefixes `registry` and `realm` name
    /// the database.
    enum Advances {
        static let unfinished = Statement(
            "advances.unfinished", [],
            "SELECT begun_at FROM advances WHERE finished_at IS NULL")

        static let begin = Statement(
            "advances.begin", [.integer],
            """
            INSERT INTO advances (singleton, begun_at) VALUES (1, $1)
            ON CONFLICT (singleton) DO UPDATE
            SET begun_at = excluded.begun_at, finished_at = NULL
            """)

        static let finish = Statement(
            "advances.finish", [.integer], "UPDATE advances SET finished_at = $1")

        static let home = Statement(
            "advances.home", [.integer, .integer],
            "UPDATE realm SET seed = NULL, generation = $1, house_revision = $2")

        /// The audit continues after the last entry that the home has.
        static let far = Statement(
            "advances.far", [.integer, .integer],
            """
            UPDATE realm SET seed = NULL, generation = $1,
                audit_count = CASE WHEN audit_count < $2 THEN $2 ELSE audit_count END
            """)

        static let endSessions = Statement("advances.endSessions", [], "DELETE FROM sessions")

        static let customers = Statement(
            "advances.customers", [.integer, .integer],
            """
            SELECT customer_id, name FROM customers WHERE customer_id > $1
            ORDER BY customer_id LIMIT $2
            """)

        static let names = Statement(
            "advances.names", [.text, .integer],
            """
            SELECT n.name, n.customer_id, a.customer_id AS arriving
            FROM sign_in_names n LEFT JOIN arrivals a ON a.customer_id = n.customer_id
            WHERE n.name > $1 ORDER BY n.name LIMIT $2
            """)

        static let freeName = Statement(
            "advances.freeName", [.text, .integer],
            "DELETE FROM sign_in_names WHERE name = $1 AND customer_id = $2")

        static let registry = [unfinished, begin, finish]
        static let realm = [home, far, endSessions, customers, names, freeName]
    }
}
