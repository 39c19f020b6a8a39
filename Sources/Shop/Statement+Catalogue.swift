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
            INSERT INTO apps (bundle_id, app_id, name, storefront, locale, settings, has_sold)
            VALUES ($1, $2, COALESCE($3, $1), $4, $5, $6, $7)
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

        /// A removed product remains removed.
        static let putProduct = Statement(
            "catalogue.putProduct",
            [
                .text, .text, .integer, .text, .text, .integer, .boolean, .text, .text, .text,
                .text, .text,
            ],
            """
            INSERT INTO products (bundle_id, product_id, place, product_type, reference_name,
                price, is_family_shareable, localizations, group_id, period, state, listing)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            ON CONFLICT (bundle_id, product_id) DO UPDATE
            SET place = excluded.place, product_type = excluded.product_type,
                reference_name = excluded.reference_name, price = excluded.price,
                is_family_shareable = excluded.is_family_shareable,
                localizations = excluded.localizations, group_id = excluded.group_id,
                period = excluded.period, state = excluded.state,
                listing = excluded.listing, withdrawn_at = NULL, from_file = TRUE
            WHERE products.state <> 'removed'
            """)

        /// Returns the id if it was never used.
        static let addProduct = Statement(
            "catalogue.addProduct",
            [
                .text, .text, .integer, .text, .text, .integer, .boolean, .text, .text, .text,
                .text, .text,
            ],
            """
            INSERT INTO products (bundle_id, product_id, place, product_type, reference_name,
                price, is_family_shareable, localizations, group_id, period, state, listing,
                from_file)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, FALSE)
            ON CONFLICT (bundle_id, product_id) DO NOTHING RETURNING product_id
            """)

        static let setProduct = Statement(
            "catalogue.setProduct",
            [
                .text, .text, .integer, .text, .text, .integer, .boolean, .text, .text, .text,
                .text, .text,
            ],
            """
            UPDATE products SET place = $3, product_type = $4, reference_name = $5, price = $6,
                is_family_shareable = $7, localizations = $8, group_id = $9, period = $10,
                state = $11, listing = $12
            WHERE bundle_id = $1 AND product_id = $2
            """)

        static let product = Statement(
            "catalogue.product", [.text, .text],
            """
            SELECT product_id, place, product_type, reference_name, price,
                is_family_shareable, localizations, group_id, period, state, withdrawn_at,
                listing, terms
            FROM products WHERE bundle_id = $1 AND product_id = $2
            """)

        /// Returns the app if there was none.
        static let addApp = Statement(
            "catalogue.addApp", [.text, .integer, .text, .text, .text, .boolean, .boolean],
            """
            INSERT INTO apps (bundle_id, app_id, name, storefront, locale, purchases_enabled,
                has_sold)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (bundle_id) DO NOTHING RETURNING bundle_id
            """)

        /// Null values leave a column unchanged.
        static let setApp = Statement(
            "catalogue.setApp", [.text, .integer, .text, .text, .text, .boolean],
            """
            UPDATE apps SET app_id = COALESCE($2, app_id), name = COALESCE($3, name),
                storefront = COALESCE($4, storefront), locale = COALESCE($5, locale),
                purchases_enabled = COALESCE($6, purchases_enabled)
            WHERE bundle_id = $1
            """)

        static let sharedSecret = Statement(
            "catalogue.sharedSecret", [.text],
            "SELECT shared_secret FROM apps WHERE bundle_id = $1")

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
        static let app = Statement(
            "catalogue.app", [.text],
            """
            SELECT app_id, name, storefront, locale, purchases_enabled FROM apps
            WHERE bundle_id = $1
            """)

        static let apps = Statement(
            "catalogue.apps", [],
            """
            SELECT bundle_id, app_id, name, storefront, locale, notification_url,
                purchases_enabled, settings, has_sold
            FROM apps ORDER BY bundle_id
            """)

        static let products = Statement(
            "catalogue.products", [],
            """
            SELECT bundle_id, product_id, product_type, reference_name, price,
                is_family_shareable, localizations, group_id, period, state, withdrawn_at,
                listing, terms
            FROM products ORDER BY bundle_id, place, product_id
            """)

        static let states = Statement(
            "catalogue.states", [.text],
            """
            SELECT product_id, product_type, price, state, withdrawn_at, listing FROM products
            WHERE bundle_id = $1 ORDER BY place, product_id
            """)

        static let putFile = Statement(
            "catalogue.putFile", [.text, .text, .blob, .blob, .integer],
            """
            INSERT INTO catalogue_files (bundle_id, name, contents, overlay, stored_at)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (bundle_id) DO UPDATE
            SET name = excluded.name, contents = excluded.contents,
                overlay = excluded.overlay, stored_at = excluded.stored_at
            """)

        static let file = Statement(
            "catalogue.file", [.text],
            "SELECT name, contents, overlay FROM catalogue_files WHERE bundle_id = $1")

        static let putImage = Statement(
            "catalogue.putImage", [.text, .text, .blob],
            """
            INSERT INTO catalogue_images (bundle_id, image_id, contents) VALUES ($1, $2, $3)
            ON CONFLICT (bundle_id, image_id) DO UPDATE SET contents = excluded.contents
            """)

        static let deleteImage = Statement(
            "catalogue.deleteImage", [.text, .text],
            "DELETE FROM catalogue_images WHERE bundle_id = $1 AND image_id = $2")

        static let image = Statement(
            "catalogue.image", [.text, .text],
            """
            SELECT contents FROM catalogue_images WHERE bundle_id = $1 AND image_id = $2
            """)

        static let images = Statement(
            "catalogue.images", [.text],
            "SELECT image_id FROM catalogue_images WHERE bundle_id = $1 ORDER BY image_id")

        static let all = [
            addProduct, setProduct, product, addApp, setApp, app, sharedSecret,
            holdSharedSecret, setSharedSecret,
            bumpRevision, holdRevision, revision, settings, putApp, withdraw, putProduct, apps,
            products, states, putFile, file, putImage, deleteImage, image, images,
        ]
    }

    /// Statements about the audit.
    enum Audits {
        static let next = Statement(
            "audit.next", [],
            "UPDATE realm SET audit_count = audit_count + 1 RETURNING audit_count")

        static let insert = Statement(
            "audit.insert", [.integer, .integer, .text, .text, .text, .text, .text],
            """
            INSERT INTO audit (entry, written_at, who, deed, subject, old_value, new_value)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """)

        static let page = Statement(
            "audit.page", [.integer, .integer],
            """
            SELECT entry, written_at, who, deed, subject, old_value, new_value FROM audit
            WHERE entry > $1 ORDER BY entry LIMIT $2
            """)

        static let all = [next, insert, page]
    }
}
