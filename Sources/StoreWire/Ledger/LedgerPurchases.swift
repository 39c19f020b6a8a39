// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Hands a signed transaction to a ledger: `POST /ledger/v1/purchases`.
public struct TakePurchaseRequest: Hashable, Sendable, Codable {
    /// A compact JWS of a ``JWSTransactionDecodedPayload``.
    public let signedTransaction: String
    /// Whose purchase it is, where the transaction has no app account token.
    public let account: String?

    public init(signedTransaction: String, account: String? = nil) {
        self.signedTransaction = signedTransaction
        self.account = account
    }
}

/// A purchase as a ledger has it in its book.
public struct LedgerPurchase: Hashable, Sendable, Codable {
    /// SHA-256 of the certificate that the proof rests on, in hexadecimal digits.
    public let rootFingerprint: String
    /// `Production`, `Sandbox`, `Xcode` or `LocalTesting`.
    public let environment: String
    public let bundleId: String
    public let transactionId: String
    public let originalTransactionId: String
    public let productId: String
    /// Apple's word: `Consumable`, `Non-Consumable`…
    public let type: String
    public let purchaseDate: Timestamp
    public let quantity: Int
    /// Units that no redemption has spent, 0 once it is revoked or where its
    /// type is not one to spend.
    public let unspent: Int
    /// Absent until somebody claims it.
    public let account: String?
    public let revocationDate: Timestamp?
    public let revocationReason: Int?
    /// The account's, at the purchase's last change; 0 where there is no account.
    public let revision: Int64

    public init(
        rootFingerprint: String, environment: String, bundleId: String, transactionId: String,
        originalTransactionId: String, productId: String, type: String,
        purchaseDate: Timestamp, quantity: Int, unspent: Int, account: String?,
        revocationDate: Timestamp?, revocationReason: Int?, revision: Int64
    ) {
        self.rootFingerprint = rootFingerprint
        self.environment = environment
        self.bundleId = bundleId
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.productId = productId
        self.type = type
        self.purchaseDate = purchaseDate
        self.quantity = quantity
        self.unspent = unspent
        self.account = account
        self.revocationDate = revocationDate
        self.revocationReason = revocationReason
        self.revision = revision
    }
}

/// What became of a notification: `POST /ledger/v1/notifications` takes
/// Apple's ``ResponseBodyV2``.
public struct NotificationTaken: Hashable, Sendable, Codable {
    public let notificationType: String
    public let notificationUUID: String?
    /// Absent where the notification is about no transaction.
    public let purchase: LedgerPurchase?

    public init(notificationType: String, notificationUUID: String?, purchase: LedgerPurchase?) {
        self.notificationType = notificationType
        self.notificationUUID = notificationUUID
        self.purchase = purchase
    }
}

/// A page of what an account may redeem:
/// `GET /ledger/v1/accounts/{account}/unspent`.
public struct UnspentPurchases: Hashable, Sendable, Codable {
    public let account: String
    public let environment: String
    /// In the order of their last changes.
    public let purchases: [LedgerPurchase]
    /// What to send as `after` for the next page; absent on the last one.
    public let next: String?

    public init(
        account: String, environment: String, purchases: [LedgerPurchase], next: String?
    ) {
        self.account = account
        self.environment = environment
        self.purchases = purchases
        self.next = next
    }
}
