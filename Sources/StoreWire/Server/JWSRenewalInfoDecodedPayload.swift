// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The payload of a signed renewal: what happens to a subscription next.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload)
///
/// Every field may be missing, as in ``JWSTransactionDecodedPayload``.
public struct JWSRenewalInfoDecodedPayload: Hashable, Sendable, Codable {
    /// The subscription's first transaction.
    public var originalTransactionId: String?
    /// The product of the present or last period.
    public var productId: String?
    /// The product of the next period.
    public var autoRenewProductId: String?
    /// 1 if it renews, 0 if not.
    public var autoRenewStatus: Int?
    /// Why it expired, 1 to 5.
    public var expirationIntent: Int?
    public var isInBillingRetryPeriod: Bool?
    /// Milliseconds since 1970, like every date here.
    public var gracePeriodExpiresDate: Timestamp?
    /// 0 while the customer has not answered, 1 when the higher price applies.
    public var priceIncreaseStatus: Int?
    /// The offer of the next period.
    public var offerType: Int?
    public var offerIdentifier: String?
    public var offerDiscountType: String?
    public var offerPeriod: String?
    public var signedDate: Timestamp?
    /// `Sandbox` or `Production`.
    public var environment: String?
    public var recentSubscriptionStartDate: Timestamp?
    public var renewalDate: Timestamp?
    public var currency: String?
    /// The price of the next period, in thousandths of the currency's unit.
    public var renewalPrice: Int64?
    /// The win-back offers that the customer may have, the best one first.
    public var eligibleWinBackOfferIds: [String]?
    /// A UUID in lower case.
    public var appAccountToken: String?
    public var appTransactionId: String?
    /// `BILLED_UPFRONT` or `MONTHLY`, for a product that has billing plans.
    public var renewalBillingPlanType: String?
    /// Present while the customer is committed.
    public var commitmentInfo: RenewalCommitmentInfo?

    public init() {}
}
