// SPDX-License-Identifier: Apache-2.0

import Storage

/// Subscription groups and the terms of subscriptions.
extension RealmSchema {
    static let subscriptionTables = [
        "ALTER TABLE products ADD COLUMN terms TEXT", subscriptionGroups,
    ]

    /// `localizations` is a JSON array, opaque to the database.
    private static let subscriptionGroups = """
        CREATE TABLE subscription_groups (
            bundle_id TEXT NOT NULL,
            group_id TEXT NOT NULL,
            place INTEGER NOT NULL,
            name TEXT NOT NULL,
            localizations TEXT NOT NULL,
            from_file BOOLEAN NOT NULL,
            PRIMARY KEY (bundle_id, group_id)
        ) STRICT
        """
}
