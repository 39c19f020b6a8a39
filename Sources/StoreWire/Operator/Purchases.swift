// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A purchase, as operators see it.
public struct PurchaseRecord: Hashable, Sendable, Codable {
    public var purchaseId: String
    public var customerId: String
    public var bundleId: String
    public var productId: String
    public var quantity: Int
    /// The price of one unit that the payment sheet showed, in thousandths.
    public var unitPrice: Int64
    /// ISO 4217.
    public var currency: String
    /// `waiting`, `authorising`, `sold`, `refused` or `joined`.
    public var state: String
    /// Present with `refused`: the code of the reason.
    public var refusal: String?
    /// What the purchase waits or waited for: `approval`.
    public var waitingFor: String?
    /// `approved`, `declined` or `timedOut`. Missing until it is answered.
    public var approval: String?
    /// Present with `sold`.
    public var transactionId: String?
    /// Present with `joined`: the purchase of the same product that was undecided,
    /// and decides this one too.
    public var joins: String?
    /// The commercial time of the first request.
    public var askedDate: Timestamp
    /// The commercial time until which it can be answered.
    public var answerableUntil: Timestamp?

    public init(
        purchaseId: String, customerId: String, bundleId: String, productId: String,
        quantity: Int, unitPrice: Int64, currency: String, state: String, askedDate: Timestamp
    ) {
        self.purchaseId = purchaseId
        self.customerId = customerId
        self.bundleId = bundleId
        self.productId = productId
        self.quantity = quantity
        self.unitPrice = unitPrice
        self.currency = currency
        self.state = state
        self.askedDate = askedDate
    }
}

/// A page of purchases.
public struct PurchaseRecords: Hashable, Sendable, Codable {
    public var purchases: [PurchaseRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(purchases: [PurchaseRecord], next: String? = nil) {
        self.purchases = purchases
        self.next = next
    }
}

/// An answer to a payment that waits for approval.
public struct AnswerApprovalRequest: Hashable, Sendable, Codable {
    /// `approved` or `declined`.
    public var answer: String
    /// The customer of the purchase. Required if several customers have used
    /// the id.
    public var customerId: String?

    public init(answer: String, customerId: String? = nil) {
        self.answer = answer
        self.customerId = customerId
    }
}
