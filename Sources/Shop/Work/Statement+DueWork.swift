// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum DueWorks {
        static let insert = Statement.put("dueWork.insert", into: RealmSchema.dueWork)

        /// The first due work of each customer, with the earliest customers
        /// first.
        static let heads = Statement(
            "dueWork.heads", [.integer, .integer, .integer, .integer],
            """
            SELECT \(RealmSchema.dueWork.list("d")) FROM due_work d
            WHERE d.due_at <= $1 AND (d.due_at, d.customer_id) > ($2, $3)
                AND NOT EXISTS (
                    SELECT 1 FROM due_work e WHERE e.customer_id = d.customer_id
                        AND (e.due_at, e.kind, e.subject) < (d.due_at, d.kind, d.subject))
            ORDER BY d.due_at, d.customer_id LIMIT $4
            """)

        /// The first due work of one customer.
        static let first = Statement(
            "dueWork.first", [.integer, .integer],
            """
            SELECT \(RealmSchema.dueWork.list()) FROM due_work
            WHERE customer_id = $1 AND due_at <= $2
            ORDER BY due_at, kind, subject LIMIT 1
            """)

        static let next = Statement(
            "dueWork.next", [.integer],
            "SELECT due_at FROM due_work WHERE due_at > $1 ORDER BY due_at LIMIT 1")

        /// Deletes the row and returns it to the caller that may do the work.
        static let take = Statement(
            "dueWork.take", [.integer, .text, .text, .integer],
            """
            DELETE FROM due_work
            WHERE customer_id = $1 AND kind = $2 AND subject = $3 AND due_at = $4
            RETURNING due_at
            """)

        static let remove = Statement.remove("dueWork.remove", from: RealmSchema.dueWork)

        static let any = Statement("dueWork.any", "SELECT d.kind FROM due_work d LIMIT 1")

        /// Corrects dates that are later than possible, after a clock was set
        /// back.
        static let bringForward = Statement(
            "dueWork.bringForward", [.text, .integer, .integer],
            """
            UPDATE due_work SET due_at = $3 WHERE kind = $1 AND due_at > $2
            RETURNING customer_id
            """)

        static let all = [bringForward, insert, heads, first, next, take, remove, any]
    }
}
