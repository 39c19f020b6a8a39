// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// Purchases and transactions.
extension RealmSchema {
    private static let total = ValueRule.integer(
        0...Amount.milliunitsMax * Int64(Payment.quantityMax))

    /// `void_owed_at`: the purchase was refused after the processor had
    /// approved it, or ended without a charge in a store that was restored
    /// from a copy, and the sum is still to be given back. `waiting_for` keeps
    /// its value after the answer. `cause` is that of the last event. `offer` is
    /// the requested one, as JSON.
    /// `joins` is the purchase of the same product that decides this one too.
    /// `history_revision` is the customer's at the first request. It is part of
    /// the charge key: see ``PurchaseKey/charge(in:since:)``.
    static let purchases = Table(
        "purchases", key: ["customer_id", "bundle_id", "purchase_id"], as: .tree,
        [
            "customer_id": .customer, "bundle_id": .bundleID, "purchase_id": .uuid,
            "product_id": .text(bytes: 0...255), "quantity": .integer(Int64.min...Int64.max),
            "unit_price": .price, "currency": .currency,
            "application_username": .text(bytes: 0...Edge.usernameBytesMax).optional,
            "replaces": .uuid.optional, "simulates_ask_to_buy": .flag,
            "offer": .json.optional, "is_committed": .flag,
            "state": .word(["asked", "authorising", "sold", "refused", "waiting", "joined"]),
            "cause": .word(PurchaseCause.allCases.map(\.rawValue)),
            "refusal": .word(PurchaseRefusal.allCases.map(\.rawValue)).optional,
            "waiting_for": .word(WaitingReason.allCases.map(\.rawValue)).optional,
            "approval": .word(ApprovalAnswer.allCases.map(\.rawValue)).optional,
            "transaction_id": .number(.transaction).optional, "total_price": total.optional,
            "processor_reference": .longText.optional, "void_owed_at": .time.optional,
            "voided_at": .time.optional, "captured_at": .time.optional, "asked_at": .time,
            "decided_at": .time.optional, "revision": .count,
            "history_revision": .count.optional, "joins": .uuid.optional,
        ],
        indexes: [
            // The next payment for the product joins it.
            .init(
                "purchases_open", on: ["customer_id", "bundle_id", "product_id"],
                where: "state IN ('authorising', 'waiting')"),
            .init(
                "purchases_waiting", on: ["customer_id", "bundle_id", "purchase_id"],
                where: "state = 'waiting'"),
            // An answer identifies a purchase by the device's id alone.
            .init(
                "purchases_waiting_by_id", on: ["purchase_id"],
                where: "waiting_for IS NOT NULL"),
            .init(
                "purchases_answered", on: ["customer_id", "bundle_id", "revision"],
                where: "approval IS NOT NULL"),
        ],
        references: [
            ofCustomer, ofApp,
            // A refused purchase may have named a product that never was.
            .init(
                ["bundle_id", "product_id"], to: "products",
                where: "t.state IN ('authorising', 'waiting', 'sold')"),
            .init(["customer_id", "transaction_id"], to: "transactions"),
            .init(["customer_id", "bundle_id", "joins"], to: "purchases"),
        ])

    /// Facts never change. Dates beside them show later events. `changed_at` is
    /// the commercial time of `revision`. `record` is the transaction's part of
    /// a receipt, in DER.
    static let transactions = Table(
        "transactions", key: ["customer_id", "transaction_id"], as: .tree,
        [
            "customer_id": .customer, "transaction_id": .number(.transaction),
            "original_transaction_id": .number(.transaction), "bundle_id": .bundleID,
            "product_id": .id, "product_type": .word(ProductType.allCases.map(\.rawValue)),
            "quantity": .integer(1...Int64(Payment.quantityMax)), "unit_price": .price,
            "total_price": total, "currency": .currency, "storefront": .storefront,
            "reason": .word(TransactionReason.allCases.map(\.rawValue)),
            "ownership": .word(Ownership.allCases.map(\.rawValue)),
            "app_account_token": .uuid.optional,
            "app_transaction_id": .number(.appTransaction), "purchase_id": .uuid.optional,
            "purchased_at": .time, "original_purchased_at": .time,
            "finished_at": .time.optional, "revoked_at": .time.optional,
            "revocation_reason": .integer(0...1000).optional,
            "revocation_type": .word(RevocationType.allCases.map(\.rawValue)).optional,
            "revocation_percentage": .percentage.optional, "revision": .count,
            "changed_at": .time, "group_id": .id.optional, "expires_at": .time.optional,
            "offer": .json.optional, "is_upgraded": .flag, "commitment": .json.optional,
            "record": .blob(bytes: 1...65_536),
        ],
        indexes: [
            .init(
                "transactions_by_revision", on: ["customer_id", "revision", "transaction_id"]),
            .init("transactions_by_id", on: ["transaction_id"]),
            // A product that is bought once can be owned once. A restored
            // transaction stands beside its original, and one that a family
            // shares beside the member's own.
            .unique(
                "transactions_owned", on: ["customer_id", "bundle_id", "product_id"],
                where: "product_type = 'non-consumable' AND revoked_at IS NULL "
                    + "AND original_transaction_id = transaction_id "
                    + "AND ownership = 'purchased'"),
            // What is delivered once and unfinished is not sold again.
            .init(
                "transactions_unfinished", on: ["customer_id", "bundle_id", "product_id"],
                where: "finished_at IS NULL AND product_type IN ('consumable', 'non-renewing')"),
            // Only what a receipt contains, so that finished consumables cost
            // it nothing.
            .init(
                "transactions_in_receipt", on: ["customer_id", "bundle_id", "transaction_id"],
                where: "finished_at IS NULL OR product_type <> 'consumable'"),
        ],
        references: [
            ofCustomer, .init(["bundle_id", "product_id"], to: "products"),
            .init(["customer_id", "bundle_id", "app_transaction_id"], to: "app_accounts"),
            .init(["customer_id", "bundle_id", "purchase_id"], to: "purchases"),
        ])

    /// Auto-renewable subscriptions. A customer has one of each group of an app,
    /// and its id is that of its first transaction. `state` is what its events
    /// make of it, as JSON, and other columns repeat what queries use.
    /// `fails_billing`: a test lets its renewals fail.
    static let subscriptions = Table(
        "subscriptions", key: ["customer_id", "subscription_id"], as: .tree,
        [
            "customer_id": .customer, "subscription_id": .number(.transaction),
            "bundle_id": .bundleID, "group_id": .id, "product_id": .id,
            "transaction_id": .number(.transaction),
            "status": .integer(1...Int64(SubscriptionStatus.allCases.count)),
            "ends_at": .time, "began_at": .time, "app_account_token": .uuid.optional,
            "app_transaction_id": .number(.appTransaction), "fails_billing": .flag,
            "events": .count, "state": .json, "revision": .count,
        ],
        indexes: [
            .unique("subscriptions_by_group", on: ["customer_id", "bundle_id", "group_id"])
        ],
        references: [
            ofCustomer, .init(["bundle_id", "product_id"], to: "products"),
            .init(["customer_id", "bundle_id", "app_transaction_id"], to: "app_accounts"),
            .init(["customer_id", "transaction_id"], to: "transactions"),
        ])

    /// What happened to a subscription, in order from event 1. `body` is the event
    /// as JSON.
    static let subscriptionEvents = Table(
        "subscription_events", key: ["customer_id", "subscription_id", "event"], as: .tree,
        [
            "customer_id": .customer, "subscription_id": .number(.transaction),
            "event": .integer(1...1 << 40), "happened_at": .time,
            "cause": .word(SubscriptionEvent.Cause.allCases.map(\.rawValue)), "body": .json,
            "revision": .count,
        ],
        references: [.init(["customer_id", "subscription_id"], to: "subscriptions")])

    /// Renewals that the payment processor was asked to charge, with every answer.
    /// `period_end` is the end of the paid period, and `attempt` counts the charges
    /// for it: together they name the charge at the processor. `body` is the
    /// ``RenewalCharge`` as JSON. `events` is the number of the subscription's
    /// events when it was asked for.
    static let renewalCharges = Table(
        "renewal_charges", key: ["customer_id", "subscription_id", "period_end", "attempt"],
        as: .tree,
        [
            "customer_id": .customer, "subscription_id": .number(.transaction),
            "period_end": .time, "attempt": .integer(1...1_000_000),
            "state": .word(RenewalChargeState.allCases.map(\.rawValue)),
            "total_price": .price, "currency": .currency, "storefront": .storefront,
            "body": .json, "events": .count, "asked_at": .time,
            "settled_at": .time.optional, "transaction_id": .number(.transaction).optional,
            "processor_reference": .longText.optional, "captured_at": .time.optional,
            "voided_at": .time.optional,
        ],
        indexes: [
            .init(
                "renewal_charges_asked", on: ["customer_id", "subscription_id"],
                where: "state = 'asked'")
        ],
        references: [
            .init(["customer_id", "subscription_id"], to: "subscriptions"),
            .init(["customer_id", "transaction_id"], to: "transactions"),
        ])
}
