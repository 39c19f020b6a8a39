// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {

    enum Realms {
        /// The facts that are needed to open a realm.
        static let open = Statement(
            "realm.open", [],
            """
            SELECT r.id, r.name, r.environment, r.seed, r.generation,
                (SELECT n.customer_id FROM sign_in_names n WHERE n.name = 'customer')
                    AS default_customer,
                (SELECT max(c.customer_id) FROM customers c) AS customer,
                (SELECT max(t.transaction_id) FROM transactions t) AS last_transaction,
                (SELECT max(d.device_id) FROM devices d) AS device,
                (SELECT max(a.app_transaction_id) FROM app_accounts a) AS app_transaction
            FROM realm r
            """)

        /// Returns a row if this call has created the realm.
        static let insert = Statement.insert(
            "realm.insert", into: RealmSchema.realm,
            "ON CONFLICT (singleton) DO NOTHING RETURNING id")

        /// The realm's row `r` and its clock `k`.
        static let withClock = "realm r JOIN clocks k ON k.clock_id = 0"

        /// The realm's row `r`, and a customer's clock `k`: the customer's own, or the
        /// realm's. `customer` is an expression.
        static func withClock(of customer: String) -> String {
            """
            realm r JOIN clocks k ON k.clock_id = coalesce(
                (SELECT o.clock_id FROM customers o WHERE o.customer_id = \(customer)), 0)
            """
        }

        /// The columns of ``ClockRow``, from ``withClock`` or ``withClock(of:)``.
        static let clockColumns = """
            k.clock_id, k.clock_ahead, k.clock_stands_at, k.clock_rate, k.clock_since, k.clock_tempo,
                k.jumped_to, k.jump_notifications, r.catalogue_revision, r.generation
            """

        static let clock = Statement(
            "realm.clock", [], "SELECT \(clockColumns) FROM \(withClock)")

        /// Locks the clock for a change that depends on its present value: with the
        /// realm's row, which each change of house rows locks first.
        static let holdClock = Statement(
            "realm.holdClock", [],
            "UPDATE realm SET house_revision = house_revision + 1 RETURNING house_revision")

        static let setClock = Statement.put("realm.setClock", into: RealmSchema.clocks)

        static let all = [
            open, insert, clock, holdClock, setClock,
        ]
    }

    /// The clocks of customers.
    enum Clocks {
        /// When something last fell due up to a date, by one clock. It looks through all
        /// events, and is asked only when a jump is stopped.
        static let lastTimed = Statement(
            "clocks.lastTimed", [.integer, .integer],
            """
            SELECT max(e.happened_at) AS last_timed FROM subscription_events e
            JOIN customers c ON c.customer_id = e.customer_id
            WHERE e.cause = 'time' AND e.happened_at <= $1 AND coalesce(c.clock_id, 0) = $2
            """)

        static let one = Statement(
            "clocks.one", [.integer],
            """
            SELECT \(Realms.clockColumns) FROM realm r JOIN clocks k ON k.clock_id = $1
            """)

        static let list = Statement(
            "clocks.list", [],
            """
            SELECT \(Realms.clockColumns) FROM realm r JOIN clocks k ON k.clock_id > 0
            ORDER BY k.clock_id
            """)

        /// The customers that have a clock of their own.
        static let customers = Statement(
            "clocks.customers", [],
            """
            SELECT customer_id, clock_id FROM customers WHERE clock_id IS NOT NULL
            ORDER BY clock_id, customer_id
            """)

        static let ofCustomer = Statement(
            "clocks.ofCustomer", [.integer],
            "SELECT clock_id FROM customers WHERE customer_id = $1")

        static let setOfCustomer = Statement(
            "clocks.setOfCustomer", [.integer, .integer],
            "UPDATE customers SET clock_id = $2 WHERE customer_id = $1")

        static let count = Statement(
            "clocks.count", [], "SELECT count(*) AS clocks FROM clocks")

        /// Gives a number. A copied realm has clocks whose numbers another one gave.
        static let next = Statement(
            "clocks.next", [],
            """
            UPDATE realm SET clocks_made = 1 + (SELECT max(n.given) FROM (
                SELECT max(k.clock_id) AS given FROM clocks k
                UNION ALL SELECT r.clocks_made FROM realm r) n)
            RETURNING clocks_made
            """)

        /// Removes a clock that no customer of this database has.
        static let removeUnused = Statement(
            "clocks.removeUnused", [.integer],
            """
            DELETE FROM clocks WHERE clock_id = $1 AND clock_id > 0
                AND NOT EXISTS (SELECT 1 FROM customers c WHERE c.clock_id = $1)
            RETURNING clock_id
            """)

        static let removeJump = Statement(
            "clocks.removeJump", [.integer], "DELETE FROM jumps WHERE clock_id = $1")

        static let removeCustomers = Statement(
            "clocks.removeCustomers", [], "DELETE FROM clocks WHERE clock_id > 0")

        static let all = [
            lastTimed, one, list, customers, ofCustomer, setOfCustomer, count, next, removeUnused,
            removeJump, removeCustomers,
        ]
    }
}
