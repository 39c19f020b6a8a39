// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Buys for a customer of a sandbox at an instant that has passed. What fell due
/// since then happens before the answer, in order.
public struct PastPurchaseRequest: Hashable, Sendable, Codable {
    public var bundleId: String
    /// A number or a sign-in name. If missing, the customer that the sandbox was
    /// created with.
    public var customer: String?
    public var productId: String
    /// 1 if missing.
    public var quantity: Int?
    /// When the customer bought it, in commercial time.
    public var date: Timestamp
    /// A UUID. A request that is repeated with the same one buys once. If missing, the
    /// store makes one.
    public var purchaseId: String?
    public var applicationUsername: String?
    public var offer: OfferRequest?
    public var billingPlan: String?
    /// Whether the app still has to finish the transaction.
    public var isUnfinished: Bool?
    /// What happens to the notifications: `await`, `queue` or `drop`. If missing, the
    /// store's own choice.
    public var notifications: String?

    public init(bundleId: String, productId: String, date: Timestamp) {
        self.bundleId = bundleId
        self.productId = productId
        self.date = date
    }
}

/// What was bought in the past, and what has happened since.
public struct PastPurchaseAnswer: Hashable, Sendable, Codable {
    public var customerId: String
    public var purchaseId: String
    /// `sold` or `waiting`.
    public var state: String
    /// The transaction of the purchase. Missing while it waits.
    public var transactionId: String?
    /// The subscription as it is now. Missing if the product is none.
    public var subscription: SubscriptionRecord?
    /// What happened to the subscription from the purchase on, in order.
    public var events: [SubscriptionEventRecord]
    /// The customer's commercial time.
    public var now: Timestamp
    /// What became of the notifications, if they were awaited.
    public var notifications: SentInJump?

    public init(
        customerId: String, purchaseId: String, state: String, transactionId: String?,
        subscription: SubscriptionRecord?, events: [SubscriptionEventRecord], now: Timestamp
    ) {
        self.customerId = customerId
        self.purchaseId = purchaseId
        self.state = state
        self.transactionId = transactionId
        self.subscription = subscription
        self.events = events
        self.now = now
    }
}
