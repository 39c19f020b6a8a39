// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The customer's transactions in this app that are new or changed since a revision.
public struct TransactionsResponse: Hashable, Sendable, Codable {
    /// How many one answer holds at most.
    public static let pageMax = 100

    public var transactions: [TransactionDescription]
    /// Where the next request starts.
    public var revision: Int64
    /// The last transaction of this page, where more of the same revision
    /// follow: the next request sends it as `after`. Missing otherwise.
    public var after: String?
    /// Whether more stand behind this page.
    public var hasMore: Bool
    /// Commercial time when this was answered.
    public var now: Timestamp
    /// Ids of purchases that waited for an answer and have it now, new since
    /// the revision: what became of each is asked for under its id. Missing
    /// when there are none.
    public var answeredPurchases: [String]?
    /// Where an operator cleared the customer's history since the revision:
    /// the revision of that. What a device holds up to it is no more, and all
    /// that is told here is newer. Missing when nobody did.
    public var clearedRevision: Int64?

    /// Whether it tells anything; a device waits for what does.
    public var hasNews: Bool {
        !transactions.isEmpty || answeredPurchases != nil || clearedRevision != nil
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
    /// The payment that made it, where one of the customer's devices did.
    public var purchaseId: String?
    public var isFinished: Bool
    public var revision: Int64

    public init(
        signedTransaction: String, purchaseId: String?, isFinished: Bool, revision: Int64
    ) {
        self.signedTransaction = signedTransaction
        self.purchaseId = purchaseId
        self.isFinished = isFinished
        self.revision = revision
    }
}

/// A finish that the store has written down. Finishing again says the same.
public struct FinishResponse: Hashable, Sendable, Codable {
    public var transactionId: String
    public var revision: Int64

    public init(transactionId: String, revision: Int64) {
        self.transactionId = transactionId
        self.revision = revision
    }
}
