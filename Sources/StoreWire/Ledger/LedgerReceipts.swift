// SPDX-License-Identifier: Apache-2.0

/// Submits an app receipt to a ledger: `POST /ledger/v1/receipts`.
public struct TakeReceiptRequest: Hashable, Sendable, Codable {
    /// The receipt in Base64. White space is ignored.
    public let receipt: String
    /// The account of its purchases. Receipts name none.
    public let account: String?
    /// `local` if absent: the ledger verifies it. `verifyReceipt`: the store does.
    public let mode: String?

    public init(receipt: String, account: String? = nil, mode: String? = nil) {
        self.receipt = receipt
        self.account = account
        self.mode = mode
    }
}

/// What a ledger has booked of a receipt.
public struct ReceiptTaken: Hashable, Sendable, Codable {
    public let bundleId: String
    /// `Production` or `Sandbox`.
    public let environment: String
    /// The purchases of the receipt as they are booked, in its order.
    public let purchases: [LedgerPurchase]
    /// The purchases of the receipt that were not booked, with the reasons. They
    /// do not keep the others from being booked.
    public let refused: [RefusedPurchase]

    public init(
        bundleId: String, environment: String, purchases: [LedgerPurchase],
        refused: [RefusedPurchase]
    ) {
        self.bundleId = bundleId
        self.environment = environment
        self.purchases = purchases
        self.refused = refused
    }
}

/// A purchase in a receipt that a ledger has not booked.
public struct RefusedPurchase: Hashable, Sendable, Codable {
    public let transactionId: String
    public let error: WireError

    public init(transactionId: String, error: WireError) {
        self.transactionId = transactionId
        self.error = error
    }
}
