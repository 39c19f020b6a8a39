// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Versions of hosted content.
    enum Contents {
        private static let table = RealmSchema.contentVersions

        static let one = Statement.one("contents.one", of: table)

        /// Returns the version if there was none.
        static let begin = Statement.insert(
            "contents.begin", into: table,
            "ON CONFLICT (bundle_id, product_id, version) DO NOTHING RETURNING version")

        /// Returns the version if this call is the one that makes it ready.
        static let makeReady = Statement(
            "contents.makeReady", [.text, .text, .text, .text, .integer],
            """
            UPDATE content_versions SET state = 'ready', ready_at = $5
            WHERE bundle_id = $1 AND product_id = $2 AND version = $3 AND sha256 = $4
                AND state = 'processing'
            RETURNING version
            """)

        /// Returns the version if this call is the one that removes it.
        static let remove = Statement(
            "contents.remove", [.text, .text, .text, .integer],
            """
            UPDATE content_versions SET state = 'removed', removed_at = $4
            WHERE bundle_id = $1 AND product_id = $2 AND version = $3 AND state = 'ready'
            RETURNING version
            """)

        /// Deletes an upload. Returns the version if there was one.
        static let drop = Statement(
            "contents.drop", [.text, .text, .text, .text],
            """
            DELETE FROM content_versions
            WHERE bundle_id = $1 AND product_id = $2 AND version = $3 AND sha256 = $4
                AND state = 'processing'
            RETURNING version
            """)

        static let countUploads = Statement(
            "contents.countUploads",
            "SELECT count(*) AS uploads FROM content_versions WHERE state = 'processing'")

        /// Uploads that began before a date.
        static let oldUploads = Statement(
            "contents.oldUploads", [.integer, .integer],
            """
            SELECT \(table.list()) FROM content_versions
            WHERE state = 'processing' AND made_at < $1
            ORDER BY made_at, bundle_id, product_id, version LIMIT $2
            """)

        /// What can be delivered of all products, for the shelf.
        static let ready = Statement(
            "contents.ready", [],
            """
            SELECT bundle_id, product_id, version, length, sha256 FROM content_versions
            WHERE state = 'ready'
            """)

        /// What can be delivered of one product.
        static let ofProduct = Statement(
            "contents.ofProduct", [.text, .text],
            """
            SELECT bundle_id, product_id, version, length, sha256 FROM content_versions
            WHERE bundle_id = $1 AND product_id = $2 AND state = 'ready'
            """)

        /// An app's versions, or a product's, by product and version.
        static let page = Statement(
            "contents.page", [.text, .text, .text, .text, .integer],
            """
            SELECT \(table.list()) FROM content_versions
            WHERE bundle_id = $1 AND (CAST($2 AS TEXT) IS NULL OR product_id = $2)
                AND (product_id, version) > ($3, $4)
            ORDER BY product_id, version LIMIT $5
            """)

        static let all = [
            one, begin, makeReady, remove, drop, countUploads, oldUploads, ready, ofProduct, page,
        ]
    }
}
