// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Spends one unit of a purchase:
/// `POST /ledger/v1/accounts/{account}/redemptions`.
public struct RedeemRequest: Hashable, Sendable, Codable {
    /// The account's own key for this redemption. A repeated request with the
    /// same key is the same redemption.
    public let idempotencyKey: String
    /// The purchase to spend. If absent, `productId` is required.
    public let transactionId: String?
    /// The product whose oldest unspent purchase is spent.
    public let productId: String?
    /// The purpose of the redemption, in the merchant's own terms.
    public let purpose: String
    /// Required if the ledger accepts more than one environment.
    public let environment: String?
    /// Required if the ledger accepts more than one app.
    public let bundleId: String?

    public init(
        idempotencyKey: String, transactionId: String? = nil, productId: String? = nil,
        purpose: String, environment: String? = nil, bundleId: String? = nil
    ) {
        self.idempotencyKey = idempotencyKey
        self.transactionId = transactionId
        self.productId = productId
        self.purpose = purpose
        self.environment = environment
        self.bundleId = bundleId
    }
}

/// One spent unit of a purchase. A repeated request gets the same answer.
public struct LedgerRedemption: Hashable, Sendable, Codable {
    public let account: String
    public let idempotencyKey: String
    public let purpose: String
    public let rootFingerprint: String
    public let environment: String
    public let bundleId: String
    public let productId: String
    public let transactionId: String
    /// The number of the unit within its purchase, from 1.
    public let unit: Int
    /// By the ledger's wall clock.
    public let redeemedDate: Timestamp

    public init(
        account: String, idempotencyKey: String, purpose: String, rootFingerprint: String,
        environment: String, bundleId: String, productId: String, transactionId: String,
        unit: Int, redeemedDate: Timestamp
    ) {
        self.account = account
        self.idempotencyKey = idempotencyKey
        self.purpose = purpose
        self.rootFingerprint = rootFingerprint
        self.environment = environment
        self.bundleId = bundleId
        self.productId = productId
        self.transactionId = transactionId
        self.unit = unit
        self.redeemedDate = redeemedDate
    }
}
