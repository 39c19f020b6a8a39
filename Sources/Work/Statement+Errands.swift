// SPDX-License-Identifier: Apache-2.0

package import Storage

/// The latest possible end of a lease from now on, with a reserve for clocks
/// that differ.
private let leaseMillisecondsMax = 2 * Work.Errands.leaseMilliseconds

extension Statement {
    package enum Errands {
        /// The condition that a row is not leased at an instant. A lease that
        /// ends later than any lease can was made by a clock that has been set
        /// back since.
        private static func isFree(at now: String, _ table: String = "") -> String {
            return "\(table)lease_until IS NULL OR \(table)lease_until <= \(now) "
                + "OR \(table)lease_until > \(now) + \(leaseMillisecondsMax)"
        }

        /// Corrects dates that are later than possible, after a clock was set
        /// back.
        package static let bringForward = Statement(
            "errands.bringForward",
            [.text, .integer, .integer, .integer, .integer, .text, .integer],
            """
            UPDATE errands SET due_at = $5
            WHERE kind = $1 AND attempt BETWEEN $2 AND $3 AND due_at > $4
                AND (($7 = 0 AND lane NOT LIKE 'in-order@%') OR ($7 > 0 AND lane LIKE $6))
            RETURNING customer_id
            """)

        package static let insert = Statement.insert(
            "errands.insert", into: WorkSchema.errands,
            "ON CONFLICT (customer_id, kind, subject) DO NOTHING")

        package static let insertHeld = Statement.insert(
            "errands.insertHeld", into: WorkSchema.errands)

        package static let take = Statement(
            "errands.take", [.integer, .text, .text, .integer, .integer],
            """
            UPDATE errands SET fence = fence + 1, attempt = attempt + 1, lease_until = $5
            WHERE customer_id = $1 AND kind = $2 AND subject = $3
                AND (\(isFree(at: "$4")))
            RETURNING fence, attempt, lane
            """)

        /// A page of errands of a kind, due or not.
        package static let page = Statement(
            "errands.page", [.text, .integer, .text, .integer],
            """
            SELECT customer_id, subject FROM errands
            WHERE kind = $1 AND (customer_id, subject) > ($2, $3)
            ORDER BY customer_id, subject LIMIT $4
            """)

        /// Uses the index to go from lane to lane, however many rows each has.
        package static let lanes = Statement(
            "errands.lanes", [.text, .integer],
            """
            WITH RECURSIVE lanes (lane) AS (
                SELECT min(e.lane) FROM errands e WHERE e.kind = $1
                UNION ALL
                SELECT (SELECT min(e.lane) FROM errands e
                    WHERE e.kind = $1 AND e.lane > l.lane)
                FROM lanes l WHERE l.lane IS NOT NULL)
            SELECT l.lane,
                (SELECT e.due_at FROM errands e WHERE e.kind = $1 AND e.lane = l.lane
                        AND (\(isFree(at: "$2", "e.")))
                    ORDER BY e.due_at LIMIT 1) AS due_at
            FROM lanes l WHERE l.lane IS NOT NULL
            """)

        package static let due = Statement(
            "errands.due", [.text, .text, .integer, .integer, .integer],
            """
            SELECT customer_id, subject, fence FROM errands
            WHERE kind = $1 AND lane = $2 AND due_at <= $3
                AND (\(isFree(at: "$4")))
            ORDER BY due_at, customer_id, subject LIMIT $5
            """)

        /// Events of one customer and one instant have subjects that end with their
        /// number, so that the shorter one is the earlier one.
        package static let first = Statement(
            "errands.first", [.text, .text, .integer, .integer],
            """
            SELECT customer_id, subject, fence, due_at,
                CASE WHEN \(isFree(at: "$4")) THEN 1 ELSE 0 END AS is_free
            FROM errands WHERE kind = $1 AND lane = $2 AND due_at <= $3
            ORDER BY due_at, customer_id, length(subject), subject LIMIT 1
            """)

        package static let hold = Statement(
            "errands.hold", [.integer, .text, .text, .integer, .integer],
            """
            UPDATE errands SET fence = fence + 1, attempt = attempt + 1, lease_until = $5
            WHERE customer_id = $1 AND kind = $2 AND subject = $3 AND fence = $4
            RETURNING fence, attempt
            """)

        package static let remove = Statement(
            "errands.remove", [.integer, .text, .text, .integer],
            """
            DELETE FROM errands
            WHERE customer_id = $1 AND kind = $2 AND subject = $3 AND fence = $4
            RETURNING fence
            """)

        package static let postpone = Statement(
            "errands.postpone", [.integer, .text, .text, .integer, .integer],
            """
            UPDATE errands SET due_at = $5, lease_until = NULL
            WHERE customer_id = $1 AND kind = $2 AND subject = $3 AND fence = $4
            RETURNING fence
            """)

        /// Releases an errand that was not tried.
        package static let release = Statement(
            "errands.release", [.integer, .text, .text, .integer],
            """
            UPDATE errands SET lease_until = NULL, attempt = attempt - 1
            WHERE customer_id = $1 AND kind = $2 AND subject = $3 AND fence = $4
            """)

        package static let any = Statement(
            "errands.any", [], "SELECT e.kind FROM errands e LIMIT 1")

        package static let anyHeld = Statement(
            "errands.anyHeld", [],
            "SELECT e.kind FROM errands e WHERE e.lease_until IS NOT NULL LIMIT 1")

        package static let releaseAll = Statement(
            "errands.releaseAll", [],
            "UPDATE errands SET lease_until = NULL WHERE lease_until IS NOT NULL")

        /// The number of owed errands of each kind, and the date of the oldest.
        package static let figures = Statement(
            "errands.figures", [.integer],
            """
            SELECT kind, count(*) AS owed, min(due_at) AS oldest,
                sum(CASE WHEN due_at <= $1 THEN 1 ELSE 0 END) AS due,
                sum(CASE WHEN attempt > 0 AND lease_until IS NULL THEN 1 ELSE 0 END) AS failed
            FROM errands GROUP BY kind ORDER BY kind
            """)

        package static let all = [
            figures, bringForward, insert, insertHeld, take, page, lanes, due, first, hold,
            remove,
            postpone, release,
            any,
            anyHeld, releaseAll,
        ]
    }
}
