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

        /// The columns of ``ClockRow``, from ``withClock``.
        static let clockColumns = """
            k.clock_ahead, k.clock_stands_at, k.clock_rate, k.clock_since, k.jumped_to,
                k.jump_notifications, r.catalogue_revision
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
}
