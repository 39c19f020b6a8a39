// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Statements about subscription groups, behind the catalogue's lock.
    enum Groups {
        static let list = Statement(
            "groups.list", [],
            """
            SELECT bundle_id, group_id, name, localizations FROM subscription_groups
            ORDER BY bundle_id, place, group_id
            """)

        static let one = Statement(
            "groups.one", [.text, .text],
            """
            SELECT group_id, name, localizations FROM subscription_groups
            WHERE bundle_id = $1 AND group_id = $2
            """)

        /// Returns the group if there was none.
        static let insert = Statement(
            "groups.insert", [.text, .text, .integer, .text, .text, .boolean],
            """
            INSERT INTO subscription_groups (bundle_id, group_id, place, name, localizations,
                from_file)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (bundle_id, group_id) DO NOTHING RETURNING group_id
            """)

        static let put = Statement(
            "groups.put", [.text, .text, .integer, .text, .text, .boolean],
            """
            INSERT INTO subscription_groups (bundle_id, group_id, place, name, localizations,
                from_file)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (bundle_id, group_id) DO UPDATE
            SET place = excluded.place, name = excluded.name,
                localizations = excluded.localizations, from_file = excluded.from_file
            """)

        static let set = Statement(
            "groups.set", [.text, .text, .text, .text],
            """
            UPDATE subscription_groups SET name = $3, localizations = $4
            WHERE bundle_id = $1 AND group_id = $2
            """)

        static let remove = Statement(
            "groups.remove", [.text, .text],
            "DELETE FROM subscription_groups WHERE bundle_id = $1 AND group_id = $2")

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

        static let setTerms = Statement(
            "groups.setTerms", [.text, .text, .text],
            "UPDATE products SET terms = $3 WHERE bundle_id = $1 AND product_id = $2")

        static let all = [
            list, one, insert, put, set, remove, removeFiled, member, setTerms,
        ]
    }
}
