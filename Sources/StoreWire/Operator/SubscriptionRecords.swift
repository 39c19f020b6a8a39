// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A customer's subscription, as operators see it. What is shown (`status`), what
/// the customer may use (`usableUntil`) and what is charged next (`nextCharge`)
/// are three separate facts.
public struct SubscriptionRecord: Hashable, Sendable, Codable {
    /// The id of its first transaction.
    public var subscriptionId: String
    public var customerId: String
    public var bundleId: String
    public var groupId: String
    /// The product of the present or last period.
    public var productId: String
    /// The transaction of the present or last period.
    public var transactionId: String
    /// `active`, `expired`, `retry`, `grace` or `revoked`.
    public var status: String
    /// Commercial time, like every date here.
    public var startDate: Timestamp
    public var endDate: Timestamp
    /// Missing if the customer may not use it any more.
    public var usableUntil: Timestamp?
    /// Present if the period before this one was refunded while it ran: the customer
    /// may use this one from its start on.
    public var usableFrom: Timestamp?
    public var isRenewing: Bool
    /// The product of the next period, if that is another one.
    public var nextProductId: String?
    /// Missing if nothing will be charged.
    public var nextCharge: ChargeRecord?
    /// Present if an increase of the price does not apply yet.
    public var priceIncrease: PriceIncreaseRecord?
    /// Why it expired, or will: `cancelled`, `billing`, `priceIncrease`,
    /// `unavailable` or `other`.
    public var expiration: String?
    /// Whether a test lets its renewals fail.
    public var failsBilling: Bool

    public init(
        subscriptionId: String, customerId: String, bundleId: String, groupId: String,
        productId: String, transactionId: String, status: String, startDate: Timestamp,
        endDate: Timestamp, isRenewing: Bool, failsBilling: Bool
    ) {
        self.subscriptionId = subscriptionId
        self.customerId = customerId
        self.bundleId = bundleId
        self.groupId = groupId
        self.productId = productId
        self.transactionId = transactionId
        self.status = status
        self.startDate = startDate
        self.endDate = endDate
        self.isRenewing = isRenewing
        self.failsBilling = failsBilling
    }
}

/// The next charge of a subscription, as far as it is known.
public struct ChargeRecord: Hashable, Sendable, Codable {
    public var productId: String
    /// In thousandths of the currency's unit.
    public var price: Int64
    /// ISO 4217.
    public var currency: String
    public var date: Timestamp

    public init(productId: String, price: Int64, currency: String, date: Timestamp) {
        self.productId = productId
        self.price = price
        self.currency = currency
        self.date = date
    }
}

/// A higher price for a customer who subscribes already.
public struct PriceIncreaseRecord: Hashable, Sendable, Codable {
    /// In thousandths of the currency's unit.
    public var price: Int64
    /// It applies to periods that begin then or later.
    public var startDate: Timestamp
    /// Whether the customer has consented, or did not need to.
    public var isAgreed: Bool

    public init(price: Int64, startDate: Timestamp, isAgreed: Bool) {
        self.price = price
        self.startDate = startDate
        self.isAgreed = isAgreed
    }
}

/// A page of subscriptions, by customer.
public struct SubscriptionRecords: Hashable, Sendable, Codable {
    public var subscriptions: [SubscriptionRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(subscriptions: [SubscriptionRecord], next: String? = nil) {
        self.subscriptions = subscriptions
        self.next = next
    }
}

/// Something that happened to a customer's subscription, to a refund, or in a family.
public struct SubscriptionEventRecord: Hashable, Sendable, Codable {
    /// Missing for refunds and families.
    public var subscriptionId: String?
    /// Present for refunds, and for what a family shares.
    public var transactionId: String?
    /// Present for refunds: its number among the transaction's refunds.
    public var refund: Int64?
    /// Its number, from 1.
    public var event: Int64
    /// Commercial time.
    public var date: Timestamp
    /// `customer`, `time`, `operator`, `tester` or `merchant`.
    public var cause: String
    /// The kind of event: `renewed`.
    public var kind: String
    /// A sentence for people.
    public var message: String

    public init(
        subscriptionId: String?, event: Int64, date: Timestamp, cause: String, kind: String,
        message: String
    ) {
        self.subscriptionId = subscriptionId
        self.event = event
        self.date = date
        self.cause = cause
        self.kind = kind
        self.message = message
    }
}

/// A page of a customer's history, oldest first.
public struct CustomerHistory: Hashable, Sendable, Codable {
    public var events: [SubscriptionEventRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(events: [SubscriptionEventRecord], next: String? = nil) {
        self.events = events
        self.next = next
    }
}

/// A changed subscription, what happened to it, and the realm's time.
public struct SubscriptionAnswer: Hashable, Sendable, Codable {
    public var subscription: SubscriptionRecord
    /// The events that the change caused. Empty if it was so already.
    public var events: [SubscriptionEventRecord]
    public var now: Timestamp

    public init(
        subscription: SubscriptionRecord, events: [SubscriptionEventRecord], now: Timestamp
    ) {
        self.subscription = subscription
        self.events = events
        self.now = now
    }
}

/// Switches a renewal on or off.
public struct SwitchRenewalRequest: Hashable, Sendable, Codable {
    public var isRenewing: Bool

    public init(isRenewing: Bool) {
        self.isRenewing = isRenewing
    }
}

/// Moves the next renewal.
public struct ExtendSubscriptionRequest: Hashable, Sendable, Codable {
    /// 1 to 90.
    public var days: Int

    public init(days: Int) {
        self.days = days
    }
}

/// Announces a higher price.
public struct RaisePriceRequest: Hashable, Sendable, Codable {
    /// In thousandths of the currency's unit.
    public var price: Int64
    /// It applies to periods that begin then or later.
    public var startDate: Timestamp
    /// Whether the subscription ends if the customer does not consent. True if
    /// missing.
    public var needsConsent: Bool?
    /// Whose price it is: `MONTHLY`, then `price` is that of one part, or `BILLED_UPFRONT`. If
    /// missing, that of the subscription, and of all subscriptions `BILLED_UPFRONT`.
    public var billingPlan: String?

    public init(
        price: Int64, startDate: Timestamp, needsConsent: Bool? = nil, billingPlan: String? = nil
    ) {
        self.price = price
        self.startDate = startDate
        self.needsConsent = needsConsent
        self.billingPlan = billingPlan
    }
}

/// The customer's answer to a higher price.
public struct ConsentRequest: Hashable, Sendable, Codable {
    public var isAgreed: Bool

    public init(isAgreed: Bool) {
        self.isAgreed = isAgreed
    }
}

/// Lets the renewals of a subscription fail, or succeed again.
public struct FailBillingRequest: Hashable, Sendable, Codable {
    public var failsBilling: Bool

    public init(failsBilling: Bool) {
        self.failsBilling = failsBilling
    }
}
