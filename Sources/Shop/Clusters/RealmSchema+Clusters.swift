// SPDX-License-Identifier: Apache-2.0

import Storage

extension RealmSchema {
    /// `buckets`: what this database has of its realm; null for everything.
    /// `cluster`: the mark that the home gave another cluster when it was
    /// founded. Each change of house rows raises `house_revision`.
    static let clusterTables = [
        "ALTER TABLE realm ADD COLUMN house_revision INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE realm ADD COLUMN buckets TEXT",
        "ALTER TABLE realm ADD COLUMN cluster TEXT",
        clusters, arrivals,
    ]

    /// The generation that the last reset made. A cluster with an older one
    /// deletes what happened to its customers. Other events also raise the
    /// generation, without a deletion.
    static let resetColumns = [
        "ALTER TABLE realm ADD COLUMN reset_generation INTEGER NOT NULL DEFAULT 0",
        """
        UPDATE realm SET reset_generation = generation WHERE EXISTS (SELECT 1 FROM clusters)
        """,
    ]

    /// At the home: the other clusters. `founded_at` is null until the cluster
    /// is known to have its mark. `audit_carried` is the last entry of its
    /// audit that the home has.
    private static let clusters = """
        CREATE TABLE clusters (
            cluster TEXT NOT NULL PRIMARY KEY,
            buckets TEXT NOT NULL,
            founded_at INTEGER,
            audit_carried INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """

    /// At the home: customers whose name is taken, and whose row is still to be
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
