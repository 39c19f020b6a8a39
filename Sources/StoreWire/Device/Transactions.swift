// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The customer's transactions in this app that are new or changed since a
/// revision.
public struct TransactionsResponse: Hashable, Sendable, Codable {
    /// The most transactions in one answer.
    public static let pageMax = 100

    public var transactions: [TransactionDescription]
    /// The `since` of the next request.
    public var revision: Int64
    /// The last transaction of this page, if more of the same revision follow.
    /// The next request sends it as `after`. Missing otherwise.
    public var after: String?
    /// Whether there are more pages.
    public var hasMore: Bool
    /// The commercial time of this answer.
    public var now: Timestamp
    /// Ids of purchases that have received their final answer since the
    /// revision, after waiting for it. The device asks for each answer under
    /// its id. Missing if there are none.
    public var answeredPurchases: [String]?
    /// The revision at which an operator cleared the customer's history, if
    /// that was after the requested revision. What the device has up to this
    /// revision no longer exists. Everything in this answer is newer. Missing
    /// otherwise.
    public var clearedRevision: Int64?

    /// True if the customer has chosen a product outside of the app since the revision.
    /// Missing otherwise.
    public var hasPurchaseIntents: Bool?

    /// Whether it contains anything that a device waits for.
    public var hasNews: Bool {
        !transactions.isEmpty || answeredPurchases != nil || clearedRevision != nil
            || hasPurchaseIntents == true
    }

    public init(
        transactions: [TransactionDescription], revision: Int64, after: String? = nil,
        hasMore: Bool, now: Timestamp, answeredPurchases: [String]? = nil,
        clearedRevision: Int64? = nil
    ) {
        self.transactions = transactions
        self.revision = revision
        self.after = after
        self.hasMore = hasMore
        self.now = now
        self.answeredPurchases = answeredPurchases
        self.clearedRevision = clearedRevision
    }
}

public struct TransactionDescription: Hashable, Sendable, Codable {
    public var signedTransaction: String
    /// The payment that caused it, if a device of the customer made one.
    public var purchaseId: String?
    public var isFinished: Bool
    public var revision: Int64
    /// The hosted content of its product, if the customer may use the transaction.
    /// Missing otherwise.
    public var content: ContentDescription?

    public init(
        signedTransaction: String, purchaseId: String?, isFinished: Bool, revision: Int64,
        content: ContentDescription? = nil
    ) {
        self.signedTransaction = signedTransaction
        self.purchaseId = purchaseId
        self.isFinished = isFinished
        self.revision = revision
        self.content = content
    }
}

/// A finish that the store has recorded. A repeated finish gets the same
/// answer.
public struct FinishResponse: Hashable, Sendable, Codable {
    public var transactionId: String
    public var revision: Int64

    public init(transactionId: String, revision: Int64) {
        self.transactionId = transactionId
        self.revision = revision
    }
}
