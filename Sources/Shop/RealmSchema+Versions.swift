// SPDX-License-Identifier: Apache-2.0

import Storage

/// Versions of apps and the products that are submitted with them. Apps from
/// before this migration already sell, like those that a file brings.
extension RealmSchema {
    static let versionTables = [
        "ALTER TABLE apps ADD COLUMN has_sold BOOLEAN NOT NULL DEFAULT TRUE",
        "ALTER TABLE products ADD COLUMN came_with TEXT",
        """
        CREATE TABLE app_versions (
            bundle_id TEXT NOT NULL,
            version TEXT NOT NULL,
            state TEXT NOT NULL,
            made_at INTEGER NOT NULL,
            live_at INTEGER,
            PRIMARY KEY (bundle_id, version)
        ) STRICT
        """,
    ]
}
