// SPDX-License-Identifier: Apache-2.0

import Commerce

/// What verifyReceipt answers about a single transaction, in the form that Apple had for
/// receipts before iOS 7. It has no environment.
public struct TransactionReceipt: Hashable, Sendable {
    /// The transaction that was sent, as it is now.
    public var transaction: ReceiptTransaction
    public var bundleID: String
    /// The app's version on the customer's last device.
    public var appVersion: String?
    /// The following are of subscriptions only: the last transaction.
    public var latest: ReceiptTransaction?
    /// The last transaction as the device has it, in Base64.
    public var latestReceipt: String?
    public var hasExpired = false
    public var renewal: PendingRenewal?

    public init(_ transaction: ReceiptTransaction, bundleID: String) {
        self.transaction = transaction
        self.bundleID = bundleID
    }

    func encode(into fields: inout KeyedEncodingContainer<ReceiptKey>) throws {
        try fields.encode(part(transaction), forKey: "receipt")
        try fields.encodeIfPresent(
            latest.map(part),
            forKey: hasExpired ? "latest_expired_receipt_info" : "latest_receipt_info")
        if !hasExpired { try fields.encodeIfPresent(latestReceipt, forKey: "latest_receipt") }
        guard let renewal else { return }
        // Numbers here, and texts in the later form.
        try fields.encode(renewal.isOn ? 1 : 0, forKey: "auto_renew_status")
        try fields.encode(renewal.autoRenewProductID, forKey: "auto_renew_product_id")
        try fields.encodeIfPresent(
            renewal.expirationIntent.map(String.init), forKey: "expiration_intent")
        try fields.encodeIfPresent(
            renewal.isInBillingRetryPeriod.map { $0 ? "1" : "0" },
            forKey: "is_in_billing_retry_period")
    }

    private func part(_ transaction: ReceiptTransaction) -> Part {
        Part(transaction: transaction, bundleID: bundleID, appVersion: appVersion)
    }

    /// All values are texts.
    private struct Part: Encodable {
        let transaction: ReceiptTransaction
        let bundleID: String
        let appVersion: String?

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: ReceiptKey.self)
            try fields.encode(bundleID, forKey: "bid")
            try fields.encodeIfPresent(appVersion, forKey: "bvrs")
            try fields.encode(String(transaction.quantity), forKey: "quantity")
            try fields.encode(transaction.productID, forKey: "product_id")
            try fields.encode(transaction.transactionID, forKey: "transaction_id")
            try fields.encode(
                transaction.originalTransactionID, forKey: "original_transaction_id")
            try fields.encode(date: transaction.purchaseDate, "purchase_date")
            try fields.encode(date: transaction.originalPurchaseDate, "original_purchase_date")
            try fields.encode(date: transaction.cancellationDate, "cancellation_date")
            guard let end = transaction.expiresDate else { return }
            // Milliseconds under the name that has a text in the later form.
            try fields.encode(String(end.milliseconds), forKey: "expires_date")
            try fields.encode(
                end.receiptText(inPacificTime: false), forKey: "expires_date_formatted")
            try fields.encode(
                end.receiptText(inPacificTime: true), forKey: "expires_date_formatted_pst")
            try fields.encodeIfPresent(
                transaction.webOrderLineItemID.map(String.init), forKey: "web_order_line_item_id")
            try fields.encode("\(transaction.isTrialPeriod)", forKey: "is_trial_period")
            try fields.encodeIfPresent(
                transaction.isInIntroOfferPeriod.map { "\($0)" },
                forKey: "is_in_intro_offer_period")
        }
    }
}
