// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum DueWorks {
        static let insert = Statement(
            "dueWork.insert", [.integer, .text, .text, .integer],
            """
            INSERT INTO due_work (customer_id, kind, subject, due_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (customer_id, kind, subject) DO UPDATE SET due_at = excluded.due_at
            """)

        /// A page of what is due, in the order of its dates.
        static let page = Statement(
            "dueWork.page", [.integer, .integer, .integer, .text, .text, .integer],
            """
            SELECT customer_id, kind, subject, due_at FROM due_work
            WHERE due_at <= $1 AND (due_at, customer_id, kind, subject) > ($2, $3, $4, $5)
            ORDER BY due_at, customer_id, kind, subject LIMIT $6
            """)

        static let next = Statement(
            "dueWork.next", [.integer],
            "SELECT due_at FROM due_work WHERE due_at > $1 ORDER BY due_at LIMIT 1")

        /// Answers the row to the one who may do it.
        static let take = Statement(
            "dueWork.take", [.integer, .text, .text, .integer],
            """
            DELETE FROM due_work
            WHERE customer_id = $1 AND kind = $2 AND subject = $3 AND due_at = $4
            RETURNING due_at
            """)

        static let remove = Statement(
            "dueWork.remove", [.integer, .text, .text],
            "DELETE FROM due_work WHERE customer_id = $1 AND kind = $2 AND subject = $3")

        static let any = Statement("dueWork.any", "SELECT d.kind FROM due_work d LIMIT 1")

        /// What is due later than it can be: after a clock was set back.
        static let bringForward = Statement(
            "dueWork.bringForward", [.text, .integer, .integer],
            """
            UPDATE due_work SET due_at = $3 WHERE kind = $1 AND due_at > $2
            RETURNING customer_id
            """)

        static let all = [bringForward, insert, page, next, take, remove, any]
    }
}
