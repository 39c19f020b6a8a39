// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A refund, as operators see it.
public struct RefundRecord: Hashable, Sendable, Codable {
    public var transactionId: String
    /// Its number among the transaction's refunds, from 1.
    public var refund: Int64
    public var customerId: String
    public var bundleId: String
    public var productId: String
    /// `requested`, `declined`, `granted` or `reversed`.
    public var state: String
    /// Why the customer asked: `UNINTENDED_PURCHASE`, `FULFILLMENT_ISSUE`,
    /// `UNSATISFIED_WITH_PURCHASE`, `LEGAL` or `OTHER`. Missing if the customer did
    /// not ask.
    public var requestReason: String?
    /// What the merchant's server reported about the purchase. Missing if it did not.
    public var report: ConsumptionRecord?
    /// What the request that waits should come to, by the customer's reason and the
    /// merchant's report: `full`, `prorated` or `declined`. Only in an answer about one
    /// refund.
    public var advice: String?
    /// `full`, `prorated`, `upgrade` or `nothing`. Missing until it is granted.
    public var kind: String?
    /// What was given back, in thousandths of the currency's unit. It stays when it
    /// is taken back.
    public var sum: Int64?
    /// ISO 4217.
    public var currency: String?
    /// The share of the price that was for the unused part, in thousandths of a percent.
    public var percentage: Int?
    /// `issueWithApp` or `other`.
    public var reason: String?
    /// Commercial time, like every date here.
    public var requestedDate: Timestamp?
    public var decidedDate: Timestamp?
    public var reversedDate: Timestamp?
    /// When the payment processor gave the sum back. Missing without one.
    public var returnedDate: Timestamp?
    /// When the payment processor took it back again. Missing without one.
    public var takenBackDate: Timestamp?

    public init(
        transactionId: String, refund: Int64, customerId: String, bundleId: String,
        productId: String, state: String
    ) {
        self.transactionId = transactionId
        self.refund = refund
        self.customerId = customerId
        self.bundleId = bundleId
        self.productId = productId
        self.state = state
    }
}

/// What a merchant's server reported about a purchase whose money was asked for.
public struct ConsumptionRecord: Hashable, Sendable, Codable {
    /// The version of the request: 1 or 2.
    public var version: Int
    /// Apple's word of version 2: `DELIVERED`, or why it was not.
    public var deliveryStatus: String
    public var sampleContentProvided: Bool
    /// How much was used, in thousandths of a percent.
    public var consumptionPercentage: Int?
    /// `DECLINE`, `GRANT_FULL` or `GRANT_PRORATED`.
    public var refundPreference: String?

    public init(
        version: Int, deliveryStatus: String, sampleContentProvided: Bool,
        consumptionPercentage: Int?, refundPreference: String?
    ) {
        self.version = version
        self.deliveryStatus = deliveryStatus
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }
}

/// A page of refunds, by customer and transaction.
public struct RefundRecords: Hashable, Sendable, Codable {
    public var refunds: [RefundRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(refunds: [RefundRecord], next: String? = nil) {
        self.refunds = refunds
        self.next = next
    }
}

/// Decides about the money of a transaction.
public struct DecideRefundRequest: Hashable, Sendable, Codable {
    /// `granted`, `declined`, `reversed`, or `advised` for what the request should come
    /// to by the customer's reason and the merchant's report.
    public var state: String
    /// With `granted`: `full`, `prorated` for a subscription's unused time or what the
    /// merchant reported as unused, or `nothing` to revoke it without money. `full` if
    /// missing.
    public var kind: String?
    /// With `granted` and `advised`: `issueWithApp` or `other`. `other` if missing.
    public var reason: String?

    public init(state: String, kind: String? = nil, reason: String? = nil) {
        self.state = state
        self.kind = kind
        self.reason = reason
    }
}

/// A refund after a request or decision, what happened because of it, and the
/// realm's time.
public struct RefundAnswer: Hashable, Sendable, Codable {
    public var refund: RefundRecord
    /// Events of the refund and of a subscription. Empty if everything was so
    /// already.
    public var events: [SubscriptionEventRecord]
    public var now: Timestamp

    public init(refund: RefundRecord, events: [SubscriptionEventRecord], now: Timestamp) {
        self.refund = refund
        self.events = events
        self.now = now
    }
}
