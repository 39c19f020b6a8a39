// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData

/// An app receipt that a trusted root has signed for an accepted app.
struct ProvenReceipt: Sendable {
    let receipt: AppReceipt
    let root: String
    let environment: Environment
    let bundleID: String

    /// Returns what one purchase in the receipt proves.
    func purchase(_ purchase: ReceiptPurchase) throws(LedgerRefusal) -> ProvenPurchase {
        try ProvenPurchase(
            purchase, root: root, environment: environment, bundleID: bundleID,
            createdAt: receipt.creationDate)
    }
}

extension ProvenPurchase {
    /// Reads the facts of a purchase in a receipt, which names no account. `account`
    /// is the app account token, where a store's answer has it beside the receipt.
    ///
    /// A receipt that contains a cancellation proves it for the date of the
    /// receipt. A receipt without one proves only that the purchase was made, so
    /// it never revives a purchase that another proof has revoked.
    init(
        _ purchase: ReceiptPurchase, root: String, environment: Environment, bundleID: String,
        createdAt: Timestamp, account token: String? = nil
    ) throws(LedgerRefusal) {
        guard (1...Int64(BookedFacts.quantityMax)).contains(purchase.quantity) else {
            throw Self.incomplete("quantity", "1 to \(BookedFacts.quantityMax)")
        }
        guard let purchasedAt = purchase.purchaseDate else {
            throw Self.incomplete("purchaseDate", "an instant")
        }
        let transactionID = try Self.text(purchase.transactionID, "transactionId")
        key = PurchaseKey(
            root: root, environment: environment, bundleID: bundleID,
            transactionID: transactionID)
        facts = BookedFacts(
            productID: try Self.text(purchase.productID.value, "productId"),
            type: try Self.type(purchase.type), quantity: Int(purchase.quantity),
            purchasedAt: purchasedAt,
            originalTransactionID: try Self.text(
                purchase.originalTransactionID ?? transactionID, "originalTransactionId"),
            price: nil, currency: nil, isFromReceipt: true)
        fate = PurchaseFate(
            signedAt: purchase.cancellationDate == nil
                ? purchasedAt : createdAt,
            revokedAt: purchase.cancellationDate,
            revocationReason: purchase.cancellationReason.flatMap { Int(exactly: $0) },
            expiresAt: purchase.expiresDate)
        account = try token.flatMap { $0.isEmpty ? nil : $0 }.map {
            value throws(LedgerRefusal) in try Edge.account(value, "app_account_token")
        }
    }

    /// The name in signed transactions of a type's number in receipts.
    private static func type(
        _ type: ReceiptPurchase.ProductType?
    ) throws(LedgerRefusal) -> String {
        switch type {
        case .nonConsumable: return "Non-Consumable"
        case .consumable: return "Consumable"
        case .nonRenewing: return "Non-Renewing Subscription"
        case .autoRenewable: return BookedFacts.subscription
        default: throw incomplete("type", "a type of product, 0 to 3")
        }
    }
}
