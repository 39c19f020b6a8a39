// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Promoted products, and what devices override.
    enum Promotions {
        private static let table = RealmSchema.promotions
        private static let overrides = RealmSchema.promotionOverrides
        private static let facts =
            table.list("p", without: ["image"]) + ", length(p.image) AS image_length"

        /// An app's promoted products without those that were removed, in order.
        static let list = Statement(
            "promotions.list", [.text],
            """
            SELECT \(facts) FROM promotions p JOIN products s
                ON s.bundle_id = p.bundle_id AND s.product_id = p.product_id
            WHERE p.bundle_id = $1 AND s.state <> 'removed'
            ORDER BY p.place, p.product_id
            """)

        static let image = Statement(
            "promotions.image", [.text, .text],
            """
            SELECT p.image, p.image_type, p.image_sha256 FROM promotions p JOIN products s
                ON s.bundle_id = p.bundle_id AND s.product_id = p.product_id
            WHERE p.bundle_id = $1 AND p.product_id = $2 AND s.state <> 'removed'
            """)

        static let put = Statement.put("promotions.put", into: table)

        static let show = Statement.set("promotions.show", ["is_shown", "changed_at"], of: table)

        static let move = Statement.set("promotions.move", ["place"], of: table)

        /// Returns the product if it was promoted.
        static let remove = Statement(
            "promotions.remove", [.text, .text],
            """
            DELETE FROM promotions WHERE bundle_id = $1 AND product_id = $2
            RETURNING product_id
            """)

        /// Removes the promotions of removed products, which count no more.
        static let sweep = Statement(
            "promotions.sweep", [.text],
            """
            DELETE FROM promotions WHERE bundle_id = $1 AND EXISTS (
                SELECT s.state FROM products s
                WHERE s.bundle_id = promotions.bundle_id
                    AND s.product_id = promotions.product_id AND s.state = 'removed')
            """)

        static let overridden = Statement(
            "promotions.overridden", [.integer, .text, .text],
            """
            SELECT product_id, place, is_shown FROM promotion_overrides
            WHERE customer_id = $1 AND bundle_id = $2 AND device_uuid = $3
            ORDER BY product_id
            """)

        static let clearOrder = Statement(
            "promotions.clearOrder", [.integer, .text, .text],
            """
            UPDATE promotion_overrides SET place = NULL
            WHERE customer_id = $1 AND bundle_id = $2 AND device_uuid = $3
                AND place IS NOT NULL
            """)

        static let setPlace = Statement.insert(
            "promotions.setPlace", into: overrides,
            "ON CONFLICT (customer_id, bundle_id, device_uuid, product_id) "
                + "DO UPDATE SET place = excluded.place")

        static let setShown = Statement.insert(
            "promotions.setShown", into: overrides,
            "ON CONFLICT (customer_id, bundle_id, device_uuid, product_id) "
                + "DO UPDATE SET is_shown = excluded.is_shown")

        /// Deletes rows that override nothing.
        static let sweepOverrides = Statement(
            "promotions.sweepOverrides", [.integer, .text, .text],
            """
            DELETE FROM promotion_overrides
            WHERE customer_id = $1 AND bundle_id = $2 AND device_uuid = $3
                AND place IS NULL AND is_shown IS NULL
            """)

        /// The device that the customer has used last with an app.
        static let lastDevice = Statement(
            "promotions.lastDevice", [.integer, .text],
            """
            SELECT device_uuid FROM devices WHERE customer_id = $1 AND bundle_id = $2
            ORDER BY seen_at DESC, device_uuid LIMIT 1
            """)

        static let all = [
            list, image, put, show, move, remove, sweep, overridden, clearOrder, setPlace,
            setShown, sweepOverrides, lastDevice,
        ]
    }
}
