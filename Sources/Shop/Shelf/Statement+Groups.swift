// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Statements about subscription groups, behind the catalogue's lock.
    enum Groups {
        static let list = Statement(
            "groups.list", [],
            """
            SELECT \(RealmSchema.subscriptionGroups.list()) FROM subscription_groups
            ORDER BY bundle_id, place, group_id
            """)

        static let one = Statement.one("groups.one", of: RealmSchema.subscriptionGroups)

        /// Returns the group if there was none.
        static let insert = Statement.insert(
            "groups.insert", into: RealmSchema.subscriptionGroups,
            "ON CONFLICT (bundle_id, group_id) DO NOTHING RETURNING group_id")

        static let put = Statement.put("groups.put", into: RealmSchema.subscriptionGroups)

        static let set = Statement.set(
            "groups.set", ["name", "localizations"], of: RealmSchema.subscriptionGroups)

        static let remove = Statement.remove(
            "groups.remove", from: RealmSchema.subscriptionGroups)

        /// Removes the groups of an earlier file.
        static let removeFiled = Statement(
            "groups.removeFiled", [.text],
            "DELETE FROM subscription_groups WHERE bundle_id = $1 AND from_file")

        /// One row if the group has a product that exists or may come back,
        /// otherwise none.
        static let member = Statement(
            "groups.member", [.text, .text],
            """
            SELECT product_id FROM products
            WHERE bundle_id = $1 AND group_id = $2 AND state <> 'removed'
                AND withdrawn_at IS NULL LIMIT 1
            """)

        static let setTerms = Statement.set(
            "groups.setTerms", ["terms"], of: RealmSchema.products)

        static let all = [
            list, one, insert, put, set, remove, removeFiled, member, setTerms,
        ]
    }
}
