// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The part of a commitment that a transaction pays for.
public struct TransactionCommitmentInfo: Hashable, Sendable, Codable {
    /// From 1.
    public var billingPeriodNumber: Int?
    public var commitmentExpiresDate: Timestamp?
    /// The price of all parts, in thousandths of the currency's unit.
    public var commitmentPrice: Int64?
    public var totalBillingPeriods: Int?

    public init() {}
}

/// What happens at the end of a commitment.
public struct RenewalCommitmentInfo: Hashable, Sendable, Codable {
    public var commitmentAutoRenewProductId: String?
    /// 1 if it renews, 0 if not.
    public var commitmentAutoRenewStatus: Int?
    /// `BILLED_UPFRONT` or `MONTHLY`.
    public var commitmentRenewalBillingPlanType: String?
    public var commitmentRenewalDate: Timestamp?
    /// The price of the first charge after it, in thousandths.
    public var commitmentRenewalPrice: Int64?

    public init() {}
}
