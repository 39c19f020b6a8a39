// SPDX-License-Identifier: Apache-2.0

import Storage
import Work

extension Statement {
    /// Every statement of a realm's database and of the registry, for the test
    /// that prepares all of them.
    enum Shop {
        static let registry =
            Registry.all + Keys.all + Restores.registry + Advances.registry + Certificates.all
            + KeyRealms.all + Operators.all + Rotations.all + ResetNotes.registry
        static let realm =
            Realms.all + Catalogues.all + Customers.all + Sessions.all + Purchases.all
            + Transactions.all + ServerKeys.all + Notifications.all + Errands.all
            + DueWorks.all + Jumps.all + Pruning.all + Audits.all + Restores.realm + Advances.realm
            + Resets.all
            + ResetNotes.realm + Clearing.all + AppVersions.all + Groups.all + Clustering.all
            + Houses.all
    }

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
            k.clock_ahead, k.clock_stands_at, k.clock_rate, k.clock_since, r.catalogue_revision
            """

        static let clock = Statement(
            "realm.clock", [], "SELECT \(clockColumns) FROM \(withClock)")

        static let insertClock = Statement.insert(
            "realm.insertClock", into: RealmSchema.clocks, "ON CONFLICT (clock_id) DO NOTHING")

        /// Locks the clock for a change that depends on its present value: with the
        /// realm's row, which each change of house rows locks first.
        static let holdClock = Statement(
            "realm.holdClock", [],
            "UPDATE realm SET house_revision = house_revision + 1 RETURNING house_revision")

        static let setClock = Statement.put("realm.setClock", into: RealmSchema.clocks)

        static let all = [
            open, insert, clock, insertClock, holdClock, setClock,
        ]
    }

    enum ServerKeys {
        static let insert = Statement.insert("serverKeys.insert", into: RealmSchema.serverKeys)

        /// The realm's keys with their issuer. A realm has one merchant.
        static let list = Statement(
            "serverKeys.list", [],
            """
            SELECT \(RealmSchema.serverKeys.list()) FROM server_keys
            ORDER BY created_at, key_id
            """)

        /// A key that is not revoked.
        static let byID = Statement(
            "serverKeys.byID", [.text],
            """
            SELECT \(RealmSchema.serverKeys.list()) FROM server_keys
            WHERE key_id = $1 AND revoked_at IS NULL
            """)

        /// Returns the key if this call is the one that revokes it.
        static let revoke = Statement(
            "serverKeys.revoke", [.text, .integer],
            """
            UPDATE server_keys SET revoked_at = $2
            WHERE key_id = $1 AND revoked_at IS NULL RETURNING bundle_id
            """)

        static let all = [insert, list, byID, revoke]
    }
}
