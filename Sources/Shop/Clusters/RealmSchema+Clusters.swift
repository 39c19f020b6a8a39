// SPDX-License-Identifier: Apache-2.0

import Storage

extension RealmSchema {
    /// `buckets` is what this database has of its realm; null: everything.
    /// `cluster` is the mark that the home gave another cluster at its birth.
    /// Each change of house rows raises `house_revision`.
    static let clusterTables = [
        "ALTER TABLE realm ADD COLUMN house_revision INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE realm ADD COLUMN buckets TEXT",
        "ALTER TABLE realm ADD COLUMN cluster TEXT",
        clusters, arrivals,
    ]

    /// The generation that the last reset made: what a cluster has of an older
    /// one goes. Generations are also raised where nothing is to go.
    static let resetColumns = [
        "ALTER TABLE realm ADD COLUMN reset_generation INTEGER NOT NULL DEFAULT 0",
        """
        UPDATE realm SET reset_generation = generation WHERE EXISTS (SELECT 1 FROM clusters)
        """,
    ]

    /// At home: the others. `founded_at` is null until the cluster is known
    /// to have its mark; `audit_carried` is the last of its audit that the
    /// home has.
    private static let clusters = """
        CREATE TABLE clusters (
            cluster TEXT NOT NULL PRIMARY KEY,
            buckets TEXT NOT NULL,
            founded_at INTEGER,
            audit_carried INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """

    /// At home: customers whose name is taken and whose row has still to be
    /// written on their own cluster.
    private static let arrivals = """
        CREATE TABLE arrivals (
            customer_id INTEGER NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            storefront TEXT,
            may_buy BOOLEAN NOT NULL,
            password_hash TEXT,
            created_at INTEGER NOT NULL,
            asks_to_buy BOOLEAN NOT NULL,
            interrupts_purchases BOOLEAN NOT NULL,
            email TEXT
        ) STRICT
        """
}
