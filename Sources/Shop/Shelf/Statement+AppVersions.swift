// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Statements behind the catalogue's lock.
    enum AppVersions {
        /// Returns the version if there was none.
        static let insert = Statement.insert(
            "appVersions.insert", into: RealmSchema.appVersions,
            "ON CONFLICT (bundle_id, version) DO NOTHING RETURNING version")

        /// Returns the version if this call is the one that makes it live.
        static let goLive = Statement(
            "appVersions.goLive", [.text, .text, .integer],
            """
            UPDATE app_versions SET state = 'live', live_at = $3
            WHERE bundle_id = $1 AND version = $2 AND state = 'waiting' RETURNING version
            """)

        static let one = Statement.one("appVersions.one", of: RealmSchema.appVersions)

        static let list = Statement(
            "appVersions.list", [.text],
            """
            SELECT \(RealmSchema.appVersions.list()) FROM app_versions
            WHERE bundle_id = $1 ORDER BY made_at, version
            """)

        /// The products that are submitted with versions of an app.
        static let products = Statement(
            "appVersions.products", [.text],
            """
            SELECT product_id, came_with FROM products
            WHERE bundle_id = $1 AND came_with IS NOT NULL ORDER BY product_id
            """)

        /// The products of live versions.
        static let live = Statement(
            "appVersions.live", [],
            """
            SELECT p.bundle_id, p.product_id FROM app_versions v
            JOIN products p ON p.bundle_id = v.bundle_id AND p.came_with = v.version
            WHERE v.state = 'live'
            """)

        static let leave = Statement(
            "appVersions.leave", [.text, .text],
            "UPDATE products SET came_with = NULL WHERE bundle_id = $1 AND came_with = $2")

        /// Returns the product, unless it was removed or is submitted with another
        /// version.
        static let join = Statement(
            "appVersions.join", [.text, .text, .text],
            """
            UPDATE products SET came_with = $3
            WHERE bundle_id = $1 AND product_id = $2 AND state <> 'removed'
                AND NOT EXISTS (SELECT 1 FROM app_versions v
                    WHERE v.bundle_id = products.bundle_id
                        AND v.version = products.came_with AND v.version <> $3)
            RETURNING product_id
            """)

        /// The waiting version that a product is submitted with.
        static let holder = Statement(
            "appVersions.holder", [.text, .text],
            """
            SELECT v.version FROM products p
            JOIN app_versions v ON v.bundle_id = p.bundle_id AND v.version = p.came_with
            WHERE p.bundle_id = $1 AND p.product_id = $2 AND p.state <> 'removed'
                AND v.state = 'waiting'
            """)

        /// Records that an app has begun to sell, which remains true whatever
        /// happens to its first product. Run after each change that can make it
        /// true.
        static let noteSale = Statement(
            "appVersions.noteSale", [.text],
            """
            UPDATE apps SET has_sold = TRUE
            WHERE bundle_id = $1 AND NOT has_sold AND EXISTS (
                SELECT 1 FROM products p JOIN app_versions v
                    ON v.bundle_id = p.bundle_id AND v.version = p.came_with
                WHERE p.bundle_id = $1 AND p.state = 'approved' AND p.withdrawn_at IS NULL
                    AND v.state = 'live')
            """)

        static let all = [
            insert, goLive, one, list, products, live, leave, join, holder, noteSale,
        ]
    }
}
