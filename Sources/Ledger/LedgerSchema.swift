// SPDX-License-Identifier: Apache-2.0

import Storage

/// The ledger's own database.
enum LedgerSchema {
    static let migrations = [
        Migration(
            1, "accounts, purchases, redemptions",
            [accounts, purchases, purchasesByAccount, redemptions, redemptionUnits, keys])
    ]

    /// An account's line: its writes queue behind this row.
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

    /// A unit is spent once, whatever else fails to see to it.
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
