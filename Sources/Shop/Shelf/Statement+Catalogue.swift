// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Catalogues {
        static let bumpRevision = Statement(
            "catalogue.bumpRevision", [],
            """
            UPDATE realm SET catalogue_revision = catalogue_revision + 1,
                house_revision = house_revision + 1
            RETURNING catalogue_revision
            """)

        /// Locks the catalogue for changes that devices do not see.
        static let holdRevision = Statement(
            "catalogue.holdRevision", [],
            """
            UPDATE realm SET catalogue_revision = catalogue_revision
            RETURNING catalogue_revision
            """)

        static let revision = Statement(
            "catalogue.revision", [], "SELECT environment, catalogue_revision FROM realm")

        static let settings = Statement(
            "catalogue.settings", [.text], "SELECT settings FROM apps WHERE bundle_id = $1")

        /// Null values leave a column unchanged. The update of an existing app
        /// does not change `has_sold`.
        static let putApp = Statement(
            "catalogue.putApp", [.text, .integer, .text, .text, .text, .text, .boolean],
            """
            INSERT INTO apps (bundle_id, app_id, name, storefront, locale, settings, has_sold,
                purchases_enabled)
            VALUES ($1, $2, COALESCE($3, $1), $4, $5, $6, $7, TRUE)
            ON CONFLICT (bundle_id) DO UPDATE
            SET app_id = COALESCE($2, apps.app_id), name = COALESCE($3, apps.name),
                storefront = excluded.storefront, locale = excluded.locale,
                settings = COALESCE($6, apps.settings)
            """)

        /// Withdraws all products that come from a file. Those in the new file
        /// are then put back. The date of an earlier withdrawal stays.
        static let withdraw = Statement(
            "catalogue.withdraw", [.text, .integer],
            """
            UPDATE products SET withdrawn_at = COALESCE(withdrawn_at, $2)
            WHERE bundle_id = $1 AND from_file
            """)

        /// The columns that both an operator and a file change.
        private static let changed = RealmSchema.products.replaced([
            "place", "product_type", "reference_name", "price", "is_family_shareable",
            "localizations", "group_id", "period", "state", "listing",
        ])

        /// A removed product remains removed.
        static let putProduct = Statement.insert(
            "catalogue.putProduct", into: RealmSchema.products,
            """
            ON CONFLICT (bundle_id, product_id) DO UPDATE
            SET \(changed), withdrawn_at = NULL, from_file = TRUE
            WHERE products.state <> 'removed'
            """)

        /// Returns the id if it was never used.
        static let addProduct = Statement.insert(
            "catalogue.addProduct", into: RealmSchema.products,
            "ON CONFLICT (bundle_id, product_id) DO NOTHING RETURNING product_id")

        /// Changes an existing product.
        static let setProduct = Statement.insert(
            "catalogue.setProduct", into: RealmSchema.products,
            "ON CONFLICT (bundle_id, product_id) DO UPDATE SET \(changed)")

        static let product = Statement.one("catalogue.product", of: RealmSchema.products)

        /// Returns the app if there was none.
        static let addApp = Statement.insert(
            "catalogue.addApp", into: RealmSchema.apps,
            "ON CONFLICT (bundle_id) DO NOTHING RETURNING bundle_id")

        /// Null values leave a column unchanged.
        static let setApp = Statement(
            "catalogue.setApp",
            [.text, .integer, .text, .text, .text, .boolean, .integer, .integer],
            """
            UPDATE apps SET app_id = COALESCE($2, app_id), name = COALESCE($3, name),
                storefront = COALESCE($4, storefront), locale = COALESCE($5, locale),
                purchases_enabled = COALESCE($6, purchases_enabled),
                grace_days = COALESCE($7, grace_days),
                renewals_max = COALESCE($8, renewals_max)
            WHERE bundle_id = $1
            """)

        static let sharedSecret = Statement(
            "catalogue.sharedSecret", [.text],
            "SELECT shared_secret FROM apps WHERE bundle_id = $1")

        /// The app that has a shared secret.
        static let appSharing = Statement(
            "catalogue.appSharing", [.text],
            "SELECT bundle_id FROM apps WHERE shared_secret = $1")

        /// Locks the secret against concurrent changes.
        static let holdSharedSecret = Statement(
            "catalogue.holdSharedSecret", [.text],
            """
            UPDATE apps SET shared_secret = shared_secret WHERE bundle_id = $1
            RETURNING shared_secret
            """)

        static let setSharedSecret = Statement(
            "catalogue.setSharedSecret", [.text, .text],
            "UPDATE apps SET shared_secret = $2 WHERE bundle_id = $1")

        /// The present values of what ``setApp`` changes.
        static let app = Statement.one("catalogue.app", of: RealmSchema.apps)

        static let apps = Statement.list("catalogue.apps", of: RealmSchema.apps)

        static let products = Statement(
            "catalogue.products", [],
            """
            SELECT \(RealmSchema.products.list()) FROM products
            ORDER BY bundle_id, place, product_id
            """)

        static let states = Statement(
            "catalogue.states", [.text],
            """
            SELECT product_id, product_type, price, state, withdrawn_at, listing FROM products
            WHERE bundle_id = $1 ORDER BY place, product_id
            """)

        static let putFile = Statement.put("catalogue.putFile", into: RealmSchema.catalogueFiles)

        static let file = Statement.one("catalogue.file", of: RealmSchema.catalogueFiles)

        /// The rows of an app that an import may change.
        static let imported =
            [
                ("App", RealmSchema.apps), ("Products", RealmSchema.products),
                ("Groups", RealmSchema.subscriptionGroups),
            ].map { name, table in
                Statement(
                    "catalogue.imported\(name)", [.text],
                    """
                    SELECT \(table.list()) FROM \(table.name) WHERE bundle_id = $1
                    ORDER BY \(table.key.joined(separator: ", "))
                    """)
            } + [file]

        static let putImage = Statement.put("catalogue.putImage", into: RealmSchema.catalogueImages)

        static let deleteImage = Statement.remove(
            "catalogue.deleteImage", from: RealmSchema.catalogueImages)

        static let image = Statement.one("catalogue.image", of: RealmSchema.catalogueImages)

        static let images = Statement(
            "catalogue.images", [.text],
            "SELECT image_id FROM catalogue_images WHERE bundle_id = $1 ORDER BY image_id")

        static let all =
            [
                addProduct, setProduct, product, addApp, setApp, app, sharedSecret,
                appSharing, holdSharedSecret, setSharedSecret,
                bumpRevision, holdRevision, revision, settings, putApp, withdraw, putProduct, apps,
                products, states, putFile, file, putImage, deleteImage, image, images,
            ] + imported.dropLast()
    }
}
