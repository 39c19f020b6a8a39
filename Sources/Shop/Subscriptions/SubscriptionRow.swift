// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A subscription as its row contains it.
struct SubscriptionRow: Sendable {
    let customer: CustomerID
    let bundleID: BundleID
    var subscription: Subscription
    /// When the first period began.
    let beganAt: Timestamp
    /// The user's token of the last purchase, or of the last change of the next period.
    /// Renewals keep it.
    var appAccountToken: String?
    let appTransactionID: Int64
    /// Whether a test lets its renewals fail.
    var failsBilling: Bool
    /// The number of its events.
    var events: Int64
    var revision: Int64
    /// Whether it is another person's, as a member of the family has it. No row is.
    var isShared = false

    /// The row's values.
    var row: [SQLValue] {
        RealmSchema.subscriptions.row([
            "customer_id": .integer(customer.value),
            "subscription_id": .integer(subscription.originalID.value),
            "bundle_id": .text(bundleID.value), "group_id": .text(subscription.groupID),
            "product_id": .text(subscription.current.productID.value),
            "transaction_id": .integer(subscription.current.transaction.value),
            "status": .integer(Int64(subscription.status.rawValue)),
            "ends_at": .integer(subscription.end.milliseconds),
            "began_at": .integer(beganAt.milliseconds),
            "app_account_token": .optional(appAccountToken),
            "app_transaction_id": .integer(appTransactionID),
            "fails_billing": .boolean(failsBilling), "events": .integer(events),
            "state": .text(StoredJSON.text(subscription)), "revision": .integer(revision),
        ])
    }
}

extension SubscriptionRow {
    init(row: Row) throws {
        self.init(
            customer: CustomerID(try row.integer("customer_id")),
            bundleID: BundleID(try row.text("bundle_id")),
            subscription: try StoredJSON.value(
                try row.text("state"), "a subscription that cannot be read"),
            beganAt: Timestamp(milliseconds: try row.integer("began_at")),
            appAccountToken: try row.optionalText("app_account_token"),
            appTransactionID: try row.integer("app_transaction_id"),
            failsBilling: try row.boolean("fails_billing"), events: try row.integer("events"),
            revision: try row.integer("revision"))
    }

    /// A new subscription, after its first event.
    init(
        _ first: SubscriptionEvent, of sold: TransactionFacts
    ) throws {
        guard let subscription = Subscription(first: first) else {
            throw StorageFault(.malformedRow, "a subscription that begins without a purchase")
        }
        self.init(
            customer: sold.customer, bundleID: sold.bundleID, subscription: subscription,
            beganAt: sold.originalPurchasedAt, appAccountToken: sold.appAccountToken,
            appTransactionID: sold.appTransactionID, failsBilling: false, events: 1,
            revision: sold.revision)
    }

    /// The customer's subscription to a product's group. Nil if there is none.
    static func find(
        _ plan: SubscriptionPlan, of customer: CustomerID, in app: BundleID,
        _ reading: any Reading
    ) throws -> SubscriptionRow? {
        let rows = try reading.query(
            Statement.Subscriptions.ofApp, [.integer(customer.value), .text(app.value)]
        ).map(SubscriptionRow.init(row:))
        return find(plan, among: rows) { $0.subscription }
    }

    /// The one of a customer's subscriptions that a product belongs to. Nil if there is none.
    /// A product that was moved to another group while the customer subscribes to it belongs
    /// to the subscription that it has.
    static func find<Known>(
        _ plan: SubscriptionPlan, among known: [Known], _ subscription: (Known) -> Subscription
    ) -> Known? {
        let moved = known.first { one in
            let one = subscription(one)
            return !one.hasEnded
                && [one.current.productID, one.renewal.productID].contains(plan.productID)
        }
        return moved ?? known.first { subscription($0).groupID == plan.groupID }
    }

    /// The subscription with this id. Nil if there is none.
    static func find(
        _ id: TransactionID, of customer: CustomerID, _ reading: any Reading
    ) throws -> SubscriptionRow? {
        try reading.first(
            Statement.Subscriptions.one, [.integer(customer.value), .integer(id.value)]
        ).map(SubscriptionRow.init(row:))
    }
}
