// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A purchase as operators see it.
public struct PurchaseRecord: Hashable, Sendable, Codable {
    public var purchaseId: String
    public var customerId: String
    public var bundleId: String
    public var productId: String
    public var quantity: Int
    /// What the sheet showed for one, in thousandths.
    public var unitPrice: Int64
    /// ISO 4217.
    public var currency: String
    /// `waiting`, `authorising`, `sold` or `refused`.
    public var state: String
    /// With `refused`: the reason's code.
    public var refusal: String?
    /// What it waits for, or waited for: `approval`.
    public var waitingFor: String?
    /// `approved`, `declined` or `timedOut`; missing while nobody has answered.
    public var approval: String?
    /// With `sold`.
    public var transactionId: String?
    /// Commercial time at which it was asked for.
    public var askedDate: Timestamp
    /// Until when it can be answered, commercial time.
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
    /// Where the next page starts; missing at the end.
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
    /// Whose purchase it is, where several customers have used the id.
    public var customerId: String?

    public init(answer: String, customerId: String? = nil) {
        self.answer = answer
        self.customerId = customerId
    }
}
