// SPDX-License-Identifier: Apache-2.0

import Storage

/// The ledger's own database.
enum LedgerSchema {
    static let migrations = [
        Migration(
            1, "accounts, purchases, redemptions",
            [accounts, purchases, purchasesByAccount, redemptions, redemptionUnits, keys]),
        Migration(2, "restores, readiness", [restores, readiness]),
    ]

    /// The first migration that contains the table for marking a restore.
    static let restoresSince = 2

    /// At most one row. It has no end while a restore is running.
    private static let restores = """
        CREATE TABLE restores (
            singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
            made_at INTEGER NOT NULL,
            begun_at INTEGER NOT NULL,
            finished_at INTEGER
        ) STRICT
        """

    /// Written to check that writing works.
    private static let readiness = """
        CREATE TABLE readiness (
            singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
            asked INTEGER NOT NULL,
            room BLOB
        ) STRICT
        """

    /// The line of an account: its writes wait for each other by locking this
    /// row.
    private static let accounts = """
        CREATE TABLE accounts (
            account TEXT NOT NULL PRIMARY KEY,
            revision INTEGER NOT NULL
        ) STRICT
        """

    private static let purchases = """
        CREATE TABLE purchases (
            root TEXT NOT NULL,
            environment TEXT NOT NULL,
            bundle_id TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            original_transaction_id TEXT NOT NULL,
            product_id TEXT NOT NULL,
            product_type TEXT NOT NULL,
            quantity INTEGER NOT NULL CHECK (quantity > 0),
            purchased_at INTEGER NOT NULL,
            price INTEGER,
            currency TEXT,
            recorded_at INTEGER NOT NULL,
            signed_at INTEGER NOT NULL,
            revoked_at INTEGER,
            revocation_reason INTEGER,
            account TEXT,
            spent INTEGER NOT NULL CHECK (spent >= 0 AND spent <= quantity),
            revision INTEGER NOT NULL,
            PRIMARY KEY (root, environment, bundle_id, transaction_id)
        ) STRICT
        """

    private static let purchasesByAccount = """
        CREATE INDEX purchases_account ON purchases (account, environment, revision)
        """

    private static let redemptions = """
        CREATE TABLE redemptions (
            account TEXT NOT NULL,
            idempotency_key TEXT NOT NULL,
            purpose TEXT NOT NULL,
            asked_transaction_id TEXT,
            asked_product_id TEXT,
            root TEXT NOT NULL,
            environment TEXT NOT NULL,
            bundle_id TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            product_id TEXT NOT NULL,
            unit INTEGER NOT NULL,
            redeemed_at INTEGER NOT NULL,
            PRIMARY KEY (account, idempotency_key)
        ) STRICT
        """

    /// Ensures that a unit is spent once, even if other checks fail.
    private static let redemptionUnits = """
        CREATE UNIQUE INDEX redemptions_unit
            ON redemptions (root, environment, bundle_id, transaction_id, unit)
        """

    private static let keys = """
        CREATE TABLE ledger_keys (
            door TEXT NOT NULL PRIMARY KEY,
            secret TEXT NOT NULL
        ) STRICT
        """
}
