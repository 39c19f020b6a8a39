// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Submits a signed transaction to a ledger: `POST /ledger/v1/purchases`.
public struct TakePurchaseRequest: Hashable, Sendable, Codable {
    /// A compact JWS of a ``JWSTransactionDecodedPayload``.
    public let signedTransaction: String
    /// The account of the purchase, if the transaction has no app account
    /// token.
    public let account: String?

    public init(signedTransaction: String, account: String? = nil) {
        self.signedTransaction = signedTransaction
        self.account = account
    }
}

/// A purchase in a ledger's books.
public struct LedgerPurchase: Hashable, Sendable, Codable {
    /// SHA-256 of the root certificate that proves the purchase, in hexadecimal
    /// digits.
    public let rootFingerprint: String
    /// `Production`, `Sandbox`, `Xcode` or `LocalTesting`.
    public let environment: String
    public let bundleId: String
    public let transactionId: String
    public let originalTransactionId: String
    public let productId: String
    /// Apple's name: `Consumable`, `Non-Consumable`…
    public let type: String
    public let purchaseDate: Timestamp
    public let quantity: Int
    /// The number of units that are not redeemed. 0 once the purchase is
    /// revoked, and for types that cannot be redeemed.
    public let unspent: Int
    /// Absent until the purchase is assigned to an account.
    public let account: String?
    public let revocationDate: Timestamp?
    public let revocationReason: Int?
    /// The account's revision at the purchase's last change. 0 without an
    /// account.
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

/// The result of a notification. `POST /ledger/v1/notifications` accepts
/// Apple's ``ResponseBodyV2``.
public struct NotificationTaken: Hashable, Sendable, Codable {
    public let notificationType: String
    public let notificationUUID: String?
    /// Absent if the notification does not concern a transaction.
    public let purchase: LedgerPurchase?

    public init(notificationType: String, notificationUUID: String?, purchase: LedgerPurchase?) {
        self.notificationType = notificationType
        self.notificationUUID = notificationUUID
        self.purchase = purchase
    }
}

/// A page of the purchases that an account may redeem: `GET
/// /ledger/v1/accounts/{account}/unspent`.
public struct UnspentPurchases: Hashable, Sendable, Codable {
    public let account: String
    public let environment: String
    /// In the order of their last changes.
    public let purchases: [LedgerPurchase]
    /// The `after` of the next page's request. Absent on the last page.
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
