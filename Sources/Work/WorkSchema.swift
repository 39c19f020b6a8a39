// SPDX-License-Identifier: Apache-2.0

package import Storage

/// The tables of work. A schema that has them gives each column the rule of its own
/// values; the statements are the same for all. Beside them it has a table `customers`,
/// whose `clock_id` names a customer's own clock, and is null for the first one.
package enum WorkSchema {
    /// Outer work. `due_at` is commercial time. `lease_until` is the database's
    /// own time, and null without a lease. `owner` is a customer's number, or 0 for
    /// what belongs to no customer.
    package static func errands(
        owner: ValueRule, kind: ValueRule, lane: ValueRule, time: ValueRule,
        references: [Table.Reference] = [], check: (@Sendable (Row) -> BrokenRule?)? = nil
    ) -> Table {
        Table(
            "errands", key: ["customer_id", "kind", "subject"], as: .tree,
            [
                "customer_id": owner, "kind": kind, "subject": .text(bytes: 1...4096),
                "lane": lane, "due_at": time, "attempt": .integer(0...1_000_000_000),
                "fence": .integer(0...1_000_000_000_000), "lease_until": time.optional,
            ],
            indexes: [
                .init("errands_by_lane", on: ["kind", "lane", "due_at", "customer_id", "subject"])
            ], references: references, check: check)
    }

    /// Changes that happen to a customer at `due_at`, in commercial time.
    package static func dueWork(
        customer: ValueRule, kind: ValueRule, subject: ValueRule, time: ValueRule,
        references: [Table.Reference] = []
    ) -> Table {
        Table(
            "due_work", key: ["customer_id", "kind", "subject"], as: .tree,
            ["customer_id": customer, "kind": kind, "subject": subject, "due_at": time],
            indexes: [
                .init("due_work_by_date", on: ["due_at", "customer_id", "kind", "subject"])
            ], references: references)
    }

    /// A jump of a clock whose due work this database has still to do: all that was
    /// due before `reached` is done, and `target` is where the jump ends. No work
    /// due after `through` was begun. `is_passed`: whether every piece was tried.
    package static func jumps(clock: ValueRule, time: ValueRule, rowsMax: Int) -> Table {
        Table(
            "jumps", key: ["clock_id"],
            [
                "clock_id": clock, "target": time, "reached": time, "through": time,
                "is_passed": .integer(0...1),
            ],
            references: [.init(["clock_id"], to: "clocks")], rowsMax: rowsMax)
    }

    // The shapes of the tables, from which the statements are made.
    static let errands = errands(owner: number, kind: text, lane: text, time: number)
    static let dueWork = dueWork(customer: number, kind: text, subject: text, time: number)
    static let jumps = jumps(clock: number, time: number, rowsMax: 1)
    private static let number = ValueRule.integer(Int64.min...Int64.max)
    private static let text = ValueRule.text(bytes: 1...4096)
}
