// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The payload of a signed transaction.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload)
///
/// Every field may be missing. Values of closed sets are kept as text, so that
/// unknown ones survive decoding and encoding. Absent fields are left out, and
/// never `null`.
public struct JWSTransactionDecodedPayload: Hashable, Sendable, Codable {
    /// The transaction's number, in decimal digits.
    public var transactionId: String?
    /// The first purchase's number; equal to `transactionId` on a first purchase.
    public var originalTransactionId: String?
    public var webOrderLineItemId: String?
    public var bundleId: String?
    public var productId: String?
    public var subscriptionGroupIdentifier: String?
    /// Milliseconds since 1970, like every date here.
    public var purchaseDate: Timestamp?
    public var originalPurchaseDate: Timestamp?
    public var expiresDate: Timestamp?
    public var quantity: Int?
    /// `Consumable`, `Non-Consumable`, `Auto-Renewable Subscription` or
    /// `Non-Renewing Subscription`.
    public var type: String?
    /// A UUID in lower case.
    public var appAccountToken: String?
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var inAppOwnershipType: String?
    public var signedDate: Timestamp?
    public var revocationDate: Timestamp?
    public var revocationReason: Int?
    /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
    public var revocationType: String?
    /// Of the price, in thousandths of a percent. Only with `REFUND_PRORATED`.
    public var revocationPercentage: Int?
    public var isUpgraded: Bool?
    public var offerType: Int?
    public var offerIdentifier: String?
    public var offerDiscountType: String?
    public var offerPeriod: String?
    /// `Sandbox` or `Production`. `Xcode` and `LocalTesting` are never used by
    /// this store.
    public var environment: String?
    /// Alpha-3 country code.
    public var storefront: String?
    public var storefrontId: String?
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason: String?
    /// The price of the whole quantity, in thousandths of the currency's unit.
    public var price: Int64?
    public var currency: String?
    public var appTransactionId: String?
    /// `MONTHLY` for a part of a commitment.
    public var billingPlanType: String?
    public var commitmentInfo: TransactionCommitmentInfo?

    public init() {}
}
