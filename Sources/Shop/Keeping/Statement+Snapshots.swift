// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Snapshots {
        static let list = Statement(
            "snapshots.list", [],
            "SELECT name, made_at, clock_now, row_count, byte_count FROM snapshots ORDER BY name")

        static let one = Statement.one("snapshots.one", of: RealmSchema.snapshots)

        static let pages = Statement(
            "snapshots.pages", [.text],
            """
            SELECT table_name, column_names, contents FROM snapshot_pages
            WHERE name = $1 ORDER BY place
            """)

        /// Returns no row if the name is in use.
        static let insert = Statement.insert(
            "snapshots.insert", into: RealmSchema.snapshots,
            "ON CONFLICT (name) DO NOTHING RETURNING name")

        static let insertPage = Statement.insert(
            "snapshots.insertPage", into: RealmSchema.snapshotPages)

        static let remove = Statement(
            "snapshots.remove", [.text],
            "DELETE FROM snapshots WHERE name = $1 RETURNING made_at, row_count")

        static let removePages = Statement(
            "snapshots.removePages", [.text], "DELETE FROM snapshot_pages WHERE name = $1")

        static let customers = Statement(
            "snapshots.customers", [], "SELECT customer_id FROM customers")

        /// What a load leaves as it is.
        static let secrets = Statement(
            "snapshots.secrets", [],
            "SELECT bundle_id, shared_secret FROM apps WHERE shared_secret IS NOT NULL")

        static let removeCustomer = Statement(
            "snapshots.removeCustomer", [.integer],
            "DELETE FROM customers WHERE customer_id = $1")

        /// Returns a row if no other reset or load was faster. Locks the realm's row,
        /// as every change of the catalogue does.
        static let newState = Statement(
            "snapshots.newState", [.integer],
            """
            UPDATE realm
            SET generation = $1, reset_generation = $1, house_revision = house_revision + 1,
                catalogue_revision = catalogue_revision + 1
            WHERE generation < $1 RETURNING generation
            """)

        /// Keys of apps that are not there any more.
        static let removeKeys = Statement(
            "snapshots.removeKeys", [],
            """
            DELETE FROM server_keys
            WHERE bundle_id NOT IN (SELECT a.bundle_id FROM apps a)
            """)

        static let all =
            [
                list, one, pages, insert, insertPage, remove, removePages, customers,
                removeCustomer, newState, removeKeys, secrets,
            ] + SnapshotTable.cleared + SnapshotTable.all.flatMap(\.statements)
    }
}
