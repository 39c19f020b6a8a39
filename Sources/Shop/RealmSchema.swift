// SPDX-License-Identifier: Apache-2.0

import Storage

/// A realm's own database. The keys of customers' facts begin with the
/// customer, so that the tables can be split by customer. `WITHOUT ROWID` keeps
/// a row in the tree of its primary key, which saves a page of the log for
/// every row that a sale writes. The PostgreSQL dialect removes these words.
enum RealmSchema {
    static let migrations = [
        Migration(1, "realm, catalogue, customers, purchases", statements),
        Migration(2, "notifications", notificationTables),
        Migration(3, "errands", workTables),
        Migration(4, "due work, approvals", dueWorkTables),
        Migration(5, "sessions that can be ended", sessionColumns),
        Migration(
            6, "sessions by their end",
            ["CREATE INDEX sessions_by_end ON sessions (expires_at)"]),
        Migration(7, "catalogue files, listings, audit", catalogueTables),
        Migration(8, "numbers that are not given out again", [numberMarks]),
        Migration(9, "clocks that run faster", clockColumns),
        Migration(10, "cleared histories", clearingColumns),
        Migration(11, "versions of apps", versionTables),
        Migration(12, "subscription groups and terms", subscriptionTables),
        Migration(13, "customers' addresses, interrupted purchases", customerColumns),
        Migration(14, "clusters", clusterTables),
        Migration(15, "the last reset", resetColumns),
    ]

    /// The migration that divides customers among clusters.
    static let clustersSince = 14

    /// From the wall clock's instant `clock_since` on, the clock runs at
    /// `clock_rate` times the wall clock's speed.
    static let clockColumns = [
        "ALTER TABLE realm ADD COLUMN clock_rate INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE realm ADD COLUMN clock_since INTEGER NOT NULL DEFAULT 0",
    ]

    static let customerColumns = [
        "ALTER TABLE customers ADD COLUMN email TEXT",
        "ALTER TABLE customers ADD COLUMN interrupts_purchases BOOLEAN NOT NULL DEFAULT FALSE",
    ]

    private static let statements = [
        realm, apps, products, customers, signInNames, devices, sessions, appAccounts,
        purchases, purchasesUnsettled, transactions, transactionsByRevision, transactionsByID,
        transactionsOwned, transactionsInReceipt, outbox, serverKeys,
    ]

    private static let realm = """
        CREATE TABLE realm (
            singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
            id TEXT NOT NULL,
            name TEXT NOT NULL,
            environment TEXT NOT NULL,
            seed INTEGER,
            generation INTEGER NOT NULL,
            clock_ahead INTEGER NOT NULL,
            clock_stands_at INTEGER,
            catalogue_revision INTEGER NOT NULL
        ) STRICT
        """

    private static let apps = """
        CREATE TABLE apps (
            bundle_id TEXT NOT NULL PRIMARY KEY,
            app_id INTEGER,
            name TEXT NOT NULL,
            storefront TEXT NOT NULL,
            locale TEXT NOT NULL
        ) STRICT
        """

    /// `localizations` is a JSON array, opaque to the database.
    private static let products = """
        CREATE TABLE products (
            bundle_id TEXT NOT NULL REFERENCES apps (bundle_id),
            product_id TEXT NOT NULL,
            place INTEGER NOT NULL,
            product_type TEXT NOT NULL,
            reference_name TEXT NOT NULL,
            price INTEGER NOT NULL,
            is_family_shareable BOOLEAN NOT NULL,
            localizations TEXT NOT NULL,
            group_id TEXT,
            period TEXT,
            PRIMARY KEY (bundle_id, product_id)
        ) WITHOUT ROWID, STRICT
        """

    /// A customer without a storefront has that of the app.
    private static let customers = """
        CREATE TABLE customers (
            customer_id INTEGER NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            storefront TEXT,
            may_buy BOOLEAN NOT NULL,
            password_hash TEXT,
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT
        """

    private static let signInNames = """
        CREATE TABLE sign_in_names (
            name TEXT NOT NULL PRIMARY KEY,
            customer_id INTEGER NOT NULL
        ) STRICT
        """

    private static let devices = """
        CREATE TABLE devices (
            customer_id INTEGER NOT NULL,
            bundle_id TEXT NOT NULL,
            device_uuid TEXT NOT NULL,
            device_id INTEGER NOT NULL,
            name TEXT,
            app_version TEXT NOT NULL,
            seen_at INTEGER NOT NULL,
            PRIMARY KEY (customer_id, bundle_id, device_uuid)
        ) WITHOUT ROWID, STRICT
        """

    /// `expires_at` is wall time, so a jump of the realm's clock ends no
    /// session.
    private static let sessions = """
        CREATE TABLE sessions (
            customer_id INTEGER NOT NULL,
            token_hash BLOB NOT NULL,
            bundle_id TEXT NOT NULL,
            device_uuid TEXT NOT NULL,
            app_version TEXT NOT NULL,
            expires_at INTEGER NOT NULL,
            PRIMARY KEY (customer_id, token_hash)
        ) WITHOUT ROWID, STRICT
        """

    private static let appAccounts = """
        CREATE TABLE app_accounts (
            customer_id INTEGER NOT NULL,
            bundle_id TEXT NOT NULL,
            app_transaction_id INTEGER NOT NULL,
            original_purchased_at INTEGER NOT NULL,
            original_version TEXT NOT NULL,
            PRIMARY KEY (customer_id, bundle_id)
        ) WITHOUT ROWID, STRICT
        """

    /// `void_owed_at`: the purchase was refused after the processor had
    /// approved it, and the sum is still to be given back.
    private static let purchases = """
        CREATE TABLE purchases (
            customer_id INTEGER NOT NULL,
            bundle_id TEXT NOT NULL,
            purchase_id TEXT NOT NULL,
            product_id TEXT NOT NULL,
            quantity INTEGER NOT NULL,
            unit_price INTEGER NOT NULL,
            currency TEXT NOT NULL,
            application_username TEXT,
            replaces TEXT,
            state TEXT NOT NULL,
            refusal TEXT,
            waiting_for TEXT,
            transaction_id INTEGER,
            total_price INTEGER,
            processor_reference TEXT,
            void_owed_at INTEGER,
            asked_at INTEGER NOT NULL,
            decided_at INTEGER,
            revision INTEGER NOT NULL,
            PRIMARY KEY (customer_id, bundle_id, purchase_id)
        ) WITHOUT ROWID, STRICT
        """

    private static let purchasesUnsettled = """
        CREATE INDEX purchases_unsettled ON purchases (customer_id, bundle_id, purchase_id)
        WHERE state = 'authorising' OR void_owed_at IS NOT NULL
        """

    /// Facts never change. Dates beside them show later events. `changed_at` is
    /// the commercial time of `revision`. `record` is the transaction's part of
    /// a receipt, in DER.
    private static let transactions = """
        CREATE TABLE transactions (
            customer_id INTEGER NOT NULL,
            transaction_id INTEGER NOT NULL,
            original_transaction_id INTEGER NOT NULL,
            bundle_id TEXT NOT NULL,
            product_id TEXT NOT NULL,
            product_type TEXT NOT NULL,
            quantity INTEGER NOT NULL,
            unit_price INTEGER NOT NULL,
            total_price INTEGER NOT NULL,
            currency TEXT NOT NULL,
            storefront TEXT NOT NULL,
            app_account_token TEXT,
            app_transaction_id INTEGER NOT NULL,
            purchase_id TEXT,
            purchased_at INTEGER NOT NULL,
            original_purchased_at INTEGER NOT NULL,
            finished_at INTEGER,
            revoked_at INTEGER,
            revocation_reason INTEGER,
            revision INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            record BLOB NOT NULL,
            PRIMARY KEY (customer_id, transaction_id)
        ) WITHOUT ROWID, STRICT
        """

    private static let transactionsByRevision = """
        CREATE INDEX transactions_by_revision
        ON transactions (customer_id, revision, transaction_id)
        """

    private static let transactionsByID = """
        CREATE INDEX transactions_by_id ON transactions (transaction_id)
        """

    /// A product that is bought once can be owned once.
    private static let transactionsOwned = """
        CREATE UNIQUE INDEX transactions_owned
        ON transactions (customer_id, bundle_id, product_id)
        WHERE product_type = 'non-consumable' AND revoked_at IS NULL
        """

    /// Only what a receipt contains, so that finished consumables cost it
    /// nothing.
    private static let transactionsInReceipt = """
        CREATE INDEX transactions_in_receipt
        ON transactions (customer_id, bundle_id, transaction_id)
        WHERE finished_at IS NULL OR product_type <> 'consumable'
        """

    /// One row for each owed notification. A cause owes only one. A row that
    /// belongs to the realm itself has the customer 0.
    private static let outbox = """
        CREATE TABLE outbox (
            customer_id INTEGER NOT NULL,
            cause TEXT NOT NULL,
            notification_uuid TEXT NOT NULL,
            notification_type TEXT NOT NULL,
            bundle_id TEXT NOT NULL,
            transaction_id INTEGER,
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (customer_id, cause)
        ) WITHOUT ROWID, STRICT
        """

    private static let serverKeys = """
        CREATE TABLE server_keys (
            key_id TEXT NOT NULL PRIMARY KEY,
            issuer_id TEXT NOT NULL,
            bundle_id TEXT NOT NULL,
            public_key BLOB NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT
        """
}
