// SPDX-License-Identifier: Apache-2.0

import Storage

/// Imported catalogue files, listings of products, and the audit.
extension RealmSchema {
    static let catalogueTables = [
        "ALTER TABLE realm ADD COLUMN audit_count INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE apps ADD COLUMN purchases_enabled BOOLEAN NOT NULL DEFAULT TRUE",
        "ALTER TABLE apps ADD COLUMN settings TEXT",
        "ALTER TABLE apps ADD COLUMN shared_secret TEXT",
        "ALTER TABLE products ADD COLUMN state TEXT NOT NULL DEFAULT 'approved'",
        "ALTER TABLE products ADD COLUMN withdrawn_at INTEGER",
        "ALTER TABLE products ADD COLUMN listing TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE products ADD COLUMN from_file BOOLEAN NOT NULL DEFAULT TRUE",
        "ALTER TABLE server_keys ADD COLUMN revoked_at INTEGER",
        catalogueFiles, catalogueImages, audit,
    ]

    /// The bytes of the file that an app's catalogue was imported from, for
    /// exports.
    private static let catalogueFiles = """
        CREATE TABLE catalogue_files (
            bundle_id TEXT NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            contents BLOB NOT NULL,
            overlay BLOB,
            stored_at INTEGER NOT NULL
        ) STRICT
        """

    private static let catalogueImages = """
        CREATE TABLE catalogue_images (
            bundle_id TEXT NOT NULL,
            image_id TEXT NOT NULL,
            contents BLOB NOT NULL,
            PRIMARY KEY (bundle_id, image_id)
        ) STRICT
        """

    /// `written_at` is wall time. `old_value` and `new_value` are texts for
    /// people.
    private static let audit = """
        CREATE TABLE audit (
            entry INTEGER NOT NULL PRIMARY KEY,
            written_at INTEGER NOT NULL,
            who TEXT NOT NULL,
            deed TEXT NOT NULL,
            subject TEXT NOT NULL,
            old_value TEXT,
            new_value TEXT
        ) STRICT
        """
}
