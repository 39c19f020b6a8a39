// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// The tables of what purchases grant.
extension LedgerSchema {
    static let grantTables = [terms, renewals, grants, creditBooks, creditEntries]

    /// Finds the purchases of a product that was configured after they were booked.
    static let productIndex =
        "CREATE INDEX purchases_product ON purchases (product_id, transaction_id)"

    /// Facts of a subscription's period, which the store may sign anew. They are as
    /// old as the purchase's `signed_at`.
    static let terms = Table(
        "terms", key: ["root", "environment", "bundle_id", "transaction_id"],
        purchaseKey + ["expires_at": signedTime.optional, "is_upgraded": .flag],
        references: [toPurchase])

    /// What the store has signed last about the renewal of a subscription.
    static let renewals = Table(
        "renewals", key: ["root", "environment", "bundle_id", "original_transaction_id"],
        store + [
            "original_transaction_id": .name, "signed_at": signedTime,
            "grace_until": signedTime.optional,
        ])

    private static let reversal = ValueRule.word(Grant.Reversal.allCases.map(\.rawValue))
    /// More than what all grants of a book can come to.
    private static let credits = ValueRule.integer(
        -Int64(Timestamp.magnitudeMax)...Int64(Timestamp.magnitudeMax))
    private static let creditCount = ValueRule.integer(0...Int64(Timestamp.magnitudeMax))

    /// What a purchase has granted, with the terms of that time. A row of credits
    /// is also the lot from which they are spent.
    static let grants = Table(
        "grants",
        key: ["root", "environment", "bundle_id", "transaction_id", "kind", "name"],
        purchaseKey + [
            "kind": .word([GrantKind.credits, GrantKind.entitlement]), "name": grantName,
            "account": .name, "lasting": lasting, "period": period.optional,
            "amount": creditCount, "consumed": creditCount, "on_reversal": reversal,
            "is_reversed": .flag,
            "purchased_at": signedTime, "granted_at": .time,
        ],
        constraints: [
            "CHECK (consumed >= 0 AND consumed <= amount)",
            "CHECK ((kind = 'credits') = (amount > 0))",
            "CHECK ((kind = 'credits') = (lasting = 'credits'))",
            "CHECK ((lasting = 'period') = (period IS NOT NULL))",
        ],
        indexes: [
            .init("grants_account", on: ["account", "environment", "kind", "name"]),
            .init(
                "grants_left", on: ["account", "environment", "name", "purchased_at"],
                where: "consumed < amount"),
        ],
        references: [.init(["account"], to: "accounts"), toPurchase]
    ) { row in
        let text = { (column: String) in (try? row.optionalText(column)) ?? nil }
        let amount = (try? row.integer("amount")) ?? 0
        let isCredits = text("kind") == GrantKind.credits
        guard isCredits == (amount > 0), isCredits == (text("lasting") == "credits") else {
            return BrokenRule("amount", "credits have an amount, and entitlements none")
        }
        guard (text("lasting") == "period") == (text("period") != nil) else {
            return BrokenRule("period", "what lasts for a period has one")
        }
        return ((try? row.integer("consumed")) ?? 0) <= amount
            ? nil : BrokenRule("consumed", "no more credits than there are")
    }

    private static let grantName = ValueRule.text("a grant's name") { Grant.isName($0) }
    private static let lasting = ValueRule.word([
        "credits", "forever", "grace", "period", "subscription",
    ])
    private static let period = ValueRule.text("an ISO 8601 period") {
        Period(iso8601: $0) != nil
    }

    /// The four legs of a book of credits. Their sum is zero, in every row.
    private static let legs: Table.Columns = [
        // What the account can spend.
        "wallet": credits,
        // What purchases have brought in, negative.
        "issued": credits,
        "spent": credits,
        // What was spent or kept of purchases that the store has revoked, negative.
        "written_off": credits,
    ]
    private static let balances = "CHECK (wallet + issued + spent + written_off = 0)"
    private static let legsRule: @Sendable (Row) -> BrokenRule? = { row in
        let legs = ["wallet", "issued", "spent", "written_off"]
        let sum = legs.reduce(Int64(0)) { $0 &+ ((try? row.integer($1)) ?? 0) }
        return sum == 0 ? nil : BrokenRule("wallet", "the four legs of a row come to zero")
    }

    /// The balance of an account in a currency: the sum of its entries.
    static let creditBooks = Table(
        "credit_books", key: ["account", "environment", "currency"],
        [
            "account": .name, "environment": environment, "currency": grantName,
        ] + legs + ["entries": .count],
        constraints: [balances], references: [.init(["account"], to: "accounts")],
        check: legsRule)

    /// The entries of a book, numbered from 1. They are never changed.
    static let creditEntries = Table(
        "credit_entries", key: ["account", "environment", "currency", "number"],
        [
            "account": .name, "environment": environment, "currency": grantName,
            "number": .integer(1...1 << 52),
            "kind": .word(CreditEntry.Kind.allCases.map(\.rawValue)),
        ] + legs + [
            "balance": credits, "recorded_at": .time,
            // Of a spending.
            "idempotency_key": .name.optional,
            "purpose": .text(bytes: 1...Edge.purposeBytesMax).optional,
            // Of all others.
            "root": .hex(64...64).optional, "bundle_id": .name.optional,
            "transaction_id": .name.optional,
        ],
        constraints: [
            balances, "CHECK ((kind = 'spending') = (idempotency_key IS NOT NULL))",
            "CHECK ((kind = 'spending') = (transaction_id IS NULL))",
        ],
        indexes: [
            .unique("credit_entries_key", on: ["account", "idempotency_key"])
        ],
        references: [
            .init(["account"], to: "accounts"),
            .init(["account", "environment", "currency"], to: "credit_books"),
            toPurchase,
        ]
    ) { row in
        let text = { (column: String) in (try? row.optionalText(column)) ?? nil }
        let isSpending = text("kind") == CreditEntry.Kind.spending.rawValue
        guard isSpending == (text("idempotency_key") != nil),
            isSpending == (text("purpose") != nil), isSpending == (text("root") == nil),
            isSpending == (text("bundle_id") == nil),
            isSpending == (text("transaction_id") == nil)
        else {
            return BrokenRule("kind", "a spending has a key, and other entries a purchase")
        }
        return legsRule(row)
    }

    private static let toPurchase = Table.Reference(
        ["root", "environment", "bundle_id", "transaction_id"], to: "purchases")
}
