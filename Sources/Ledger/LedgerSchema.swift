// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// The ledger's own database.
enum LedgerSchema {
    static let migrations = [
        Migration(1, "the ledger", firstTables.flatMap(\.ddl)),
        Migration(2, "grants", grantTables.flatMap(\.ddl) + [productIndex]),
        Migration(3, "roads of proof", roads.flatMap(\.ddl)),
        Migration(4, "keys and audit", access.flatMap(\.ddl)),
        Migration(5, "accounts", accountTables.flatMap(\.ddl)),
        Migration(6, "webhooks", webhookTables.flatMap(\.ddl)),
        Migration(7, "an index of what can be redeemed", [unspentIndex]),
        Migration(8, "an index of subscriptions' purchases", [subscriptionIndex]),
        Migration(9, "an index of unclaimed periods", [unclaimedIndex]),
        Migration(10, "refunds taken back", reversalTables.flatMap(\.ddl)),
        Migration(11, "erasures under way", erasureTables.flatMap(\.ddl)),
        Migration(12, "holdings", holdingTables.flatMap(\.ddl)),
    ]

    private static let firstTables = [
        accounts, purchases, redemptions, keys, .restores, .readiness,
    ]
    private static let reversalTables = [refundReversals]
    static let tables =
        firstTables + grantTables + roads + access + accountTables + webhookTables
        + reversalTables + erasureTables + holdingTables

    /// The tables that a database has after a number of migrations, some of which made an
    /// index only.
    static func tables(after migrations: Int) -> [Table] {
        [
            firstTables, grantTables, roads, access, accountTables, webhookTables, [], [], [],
            reversalTables, erasureTables, holdingTables,
        ].prefix(migrations).flatMap(\.self)
    }

    static let environment = ValueRule.text("an environment that a ledger books") {
        Environment(named: $0) != nil
    }
    /// The columns that identify a store and an app.
    static let store: Table.Columns = [
        "root": .hex(64...64), "environment": environment, "bundle_id": .name,
    ]
    /// The columns of a purchase's key, also for tables that refer to it.
    static let purchaseKey: Table.Columns = store + ["transaction_id": .name]

    private static let quantityMax = Int64(BookedFacts.quantityMax)
    private static let quantity = ValueRule.integer(1...quantityMax)
    /// A value that another store has signed. The ledger books it unchanged.
    private static let anything = ValueRule.integer(Int64.min...Int64.max)
    static let signedTime = ValueRule.integer(
        -Int64(Timestamp.magnitudeMax)...Int64(Timestamp.magnitudeMax))

    /// The line of an account: its writes wait for each other by locking this
    /// row.
    static let accounts = Table(
        "accounts", key: ["account"], ["account": .name, "revision": .count])

    static let purchases = Table(
        "purchases", key: ["root", "environment", "bundle_id", "transaction_id"],
        purchaseKey + [
            "original_transaction_id": .name, "product_id": .name, "product_type": .name,
            "quantity": quantity, "purchased_at": signedTime, "price": anything.optional,
            "currency": .text(bytes: 1...255).optional,
            // Whether the facts are known from an app receipt alone.
            "from_receipt": .flag, "recorded_at": .time,
            "signed_at": signedTime, "revoked_at": signedTime.optional,
            "revocation_reason": anything.optional, "account": .name.optional,
            "spent": .integer(0...quantityMax), "revision": .count,
        ],
        constraints: [
            "CHECK (quantity > 0)", "CHECK (spent >= 0 AND spent <= quantity)",
        ],
        indexes: [.init("purchases_account", on: ["account", "environment", "revision"])],
        references: [.init(["account"], to: "accounts")]
    ) { row in
        let spent = (try? row.integer("spent")) ?? 0
        let quantity = (try? row.integer("quantity")) ?? 0
        return spent <= quantity ? nil : BrokenRule("spent", "no more units than there are")
    }

    /// Finds a product's oldest purchase that can be redeemed, however many of the account's
    /// are spent.
    private static let unspentIndex = """
        CREATE INDEX purchases_unspent ON purchases
            (account, environment, bundle_id, product_id, purchased_at, transaction_id, root)
        WHERE spent < quantity AND revoked_at IS NULL
        """

    /// Finds the account to which a subscription belongs.
    private static let subscriptionIndex = """
        CREATE INDEX purchases_subscription ON purchases
            (original_transaction_id, purchased_at, transaction_id)
        WHERE product_type = '\(BookedFacts.subscription)'
        """

    /// Finds the periods of a subscription that belong to no account.
    private static let unclaimedIndex = """
        CREATE INDEX purchases_unclaimed ON purchases
            (original_transaction_id, purchased_at, transaction_id)
        WHERE account IS NULL AND product_type = '\(BookedFacts.subscription)'
        """

    /// The units that are spent or reserved. A row has a unit once it is spent. Before
    /// that it is a reservation, which holds a unit of its purchase until it is
    /// released or expires.
    static let redemptions = Table(
        "redemptions", key: ["account", "idempotency_key"],
        purchaseKey + [
            "account": .name, "idempotency_key": .name,
            "purpose": .text(bytes: 1...Edge.purposeBytesMax),
            "asked_transaction_id": .name.optional, "asked_product_id": .name.optional,
            "product_id": .name, "reserved_at": .time.optional, "expires_at": .time.optional,
            "released_at": .time.optional, "unit": quantity.optional,
            "redeemed_at": .time.optional,
        ],
        constraints: [
            "CHECK ((unit IS NULL) = (redeemed_at IS NULL))",
            "CHECK ((reserved_at IS NULL) = (expires_at IS NULL))",
            "CHECK (unit IS NOT NULL OR reserved_at IS NOT NULL)",
            "CHECK (released_at IS NULL OR unit IS NULL)",
        ],
        indexes: [
            // Ensures that a unit is spent once, even if other checks fail.
            .unique(
                "redemptions_unit",
                on: ["root", "environment", "bundle_id", "transaction_id", "unit"])
        ],
        references: [
            // Without the account's row, what an account has paid for could not
            // be redeemed.
            .init(["account"], to: "accounts"),
            .init(["root", "environment", "bundle_id", "transaction_id"], to: "purchases"),
        ]
    ) { row in
        let has = { (column: String) in (try? row.optionalInteger(column)) ?? nil != nil }
        guard has("unit") == has("redeemed_at") else {
            return BrokenRule("unit", "a redeemed unit has its date, and a reserved one none")
        }
        guard has("reserved_at") == has("expires_at"), has("unit") || has("reserved_at") else {
            return BrokenRule("expires_at", "a reservation has an end")
        }
        return has("unit") && has("released_at")
            ? BrokenRule("released_at", "a unit is spent or released") : nil
    }

    /// When the store signed the newest notification that a purchase's refund was taken
    /// back. It decides between that and a refund with the same date.
    static let refundReversals = Table(
        "refund_reversals", key: ["root", "environment", "bundle_id", "transaction_id"],
        purchaseKey + ["signed_at": signedTime],
        references: [
            .init(["root", "environment", "bundle_id", "transaction_id"], to: "purchases")
        ])

    /// The ledger's own secrets. The key of the merchant's door was one before
    /// migration 4.
    static let keys = Table(
        "ledger_keys", key: ["door"],
        ["door": .word(["accounts", "entitlements", "merchant", "metrics"]), "secret": .secret])

    /// Checks each row of a ledger's backup by itself.
    static var judge: ArchiveJudge { judge { _, _, _ in nil } }

    /// `also` checks each row in addition to its table's rules.
    static func judge(
        also: @escaping (_ database: String, _ table: String, Row) -> BrokenRule?
    ) -> ArchiveJudge {
        ArchiveJudge(
            rules: { $0 == LedgerBackup.database ? tables.filter(\.isInBackup) : nil },
            also: also)
    }
}
