// SPDX-License-Identifier: Apache-2.0

package import Storage

extension Statement {
    package enum DueWorks {
        package static let insert = Statement.put("dueWork.insert", into: WorkSchema.dueWork)

        /// Whether a customer's work falls due by the first clock.
        private static let hasFirstClock = """
            NOT EXISTS (SELECT 1 FROM customers c
                WHERE c.customer_id = d.customer_id AND c.clock_id IS NOT NULL)
            """
        /// Whether a customer's work falls due by a clock.
        static func hasClock(_ clock: String, _ customer: String) -> String {
            "coalesce((SELECT c.clock_id FROM customers c "
                + "WHERE c.customer_id = \(customer)), 0) = \(clock)"
        }

        /// The first due work of each customer of the first clock, with the earliest
        /// customers first.
        package static let heads = Statement(
            "dueWork.heads", [.integer, .integer, .integer, .integer],
            """
            SELECT \(WorkSchema.dueWork.list("d")) FROM due_work d
            WHERE d.due_at <= $1 AND (d.due_at, d.customer_id) > ($2, $3)
                AND NOT EXISTS (
                    SELECT 1 FROM due_work e WHERE e.customer_id = d.customer_id
                        AND (e.due_at, e.kind, e.subject) < (d.due_at, d.kind, d.subject))
                AND \(hasFirstClock)
            ORDER BY d.due_at, d.customer_id LIMIT $4
            """)

        /// The same of another clock, which has few customers.
        package static let headsOfClock = Statement(
            "dueWork.headsOfClock", [.integer, .integer, .integer, .integer, .integer],
            """
            SELECT \(WorkSchema.dueWork.list("d"))
            FROM customers c JOIN due_work d ON d.customer_id = c.customer_id
            WHERE c.clock_id = $5 AND d.due_at <= $1 AND (d.due_at, d.customer_id) > ($2, $3)
                AND NOT EXISTS (
                    SELECT 1 FROM due_work e WHERE e.customer_id = d.customer_id
                        AND (e.due_at, e.kind, e.subject) < (d.due_at, d.kind, d.subject))
            ORDER BY d.due_at, d.customer_id LIMIT $4
            """)

        /// Every clock but the first whose customers have due work, now or later.
        package static let clocks = Statement(
            "dueWork.clocks", [],
            """
            SELECT c.clock_id, min(d.due_at) AS first_due
            FROM customers c JOIN due_work d ON d.customer_id = c.customer_id
            WHERE c.clock_id IS NOT NULL GROUP BY c.clock_id ORDER BY c.clock_id
            """)

        /// The first due work of one customer.
        package static let first = Statement(
            "dueWork.first", [.integer, .integer],
            """
            SELECT \(WorkSchema.dueWork.list()) FROM due_work
            WHERE customer_id = $1 AND due_at <= $2
            ORDER BY due_at, kind, subject LIMIT 1
            """)

        package static let next = Statement(
            "dueWork.next", [.integer],
            """
            SELECT d.due_at FROM due_work d WHERE d.due_at > $1 AND \(hasFirstClock)
            ORDER BY d.due_at LIMIT 1
            """)

        package static let nextOfClock = Statement(
            "dueWork.nextOfClock", [.integer, .integer],
            """
            SELECT d.due_at FROM customers c JOIN due_work d ON d.customer_id = c.customer_id
            WHERE c.clock_id = $2 AND d.due_at > $1 ORDER BY d.due_at LIMIT 1
            """)

        /// Deletes the row and returns it to the caller that may do the work.
        package static let take = Statement(
            "dueWork.take", [.integer, .text, .text, .integer],
            """
            DELETE FROM due_work
            WHERE customer_id = $1 AND kind = $2 AND subject = $3 AND due_at = $4
            RETURNING due_at
            """)

        package static let remove = Statement.remove("dueWork.remove", from: WorkSchema.dueWork)

        package static let any = Statement("dueWork.any", "SELECT d.kind FROM due_work d LIMIT 1")

        /// Corrects dates that are later than possible, after a clock was set
        /// back.
        package static let bringForward = Statement(
            "dueWork.bringForward", [.text, .integer, .integer, .integer],
            """
            UPDATE due_work SET due_at = $3 WHERE kind = $1 AND due_at > $2
                AND \(hasClock("$4", "due_work.customer_id"))
            RETURNING customer_id
            """)

        package static let all = [
            bringForward, insert, heads, headsOfClock, clocks, first, next, nextOfClock, take,
            remove, any,
        ]
    }

    package enum Jumps {
        package static let one = Statement.one("jumps.one", of: WorkSchema.jumps)

        /// The row, behind its lock.
        package static let hold = Statement(
            "jumps.hold", [.integer],
            """
            UPDATE jumps SET through = through WHERE clock_id = $1
            RETURNING \(WorkSchema.jumps.list())
            """)

        package static let put = Statement.put("jumps.put", into: WorkSchema.jumps)

        /// The clocks but the first that have a jump under way.
        package static let clocks = Statement(
            "jumps.clocks", [], "SELECT clock_id FROM jumps WHERE clock_id > 0 ORDER BY clock_id")

        /// While the jump has the same target. Neither date goes back.
        package static let setReached = Statement(
            "jumps.setReached", [.integer, .integer, .integer, .integer],
            """
            UPDATE jumps SET reached = CASE WHEN reached < $3 THEN $3 ELSE reached END,
                through = CASE WHEN through < $4 THEN $4 ELSE through END
            WHERE clock_id = $1 AND target = $2 RETURNING target
            """)

        package static let pass = Statement(
            "jumps.pass", [.integer, .integer],
            "UPDATE jumps SET is_passed = 1 WHERE clock_id = $1 AND target = $2")

        package static let remove = Statement.remove("jumps.remove", from: WorkSchema.jumps)

        /// Of a jump that is done, unless another has begun.
        package static let end = Statement(
            "jumps.end", [.integer, .integer],
            """
            DELETE FROM jumps WHERE clock_id = $1 AND target = $2
                AND NOT EXISTS (SELECT 1 FROM due_work d WHERE d.due_at <= $2
                    AND \(DueWorks.hasClock("$1", "d.customer_id")))
            """)

        package static let all = [one, hold, put, clocks, setReached, pass, remove, end]
    }
}
