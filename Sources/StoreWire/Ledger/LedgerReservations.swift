// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Reserves one unit of a purchase for an effect outside the ledger:
/// `POST /ledger/v1/accounts/{account}/reservations`.
public struct ReserveRequest: Hashable, Sendable, Codable {
    /// The account's own key for this reservation and the redemption that may
    /// follow. A repeated request with the same key is the same reservation.
    public let idempotencyKey: String
    /// The purchase of the unit. If absent, `productId` is required.
    public let transactionId: String?
    /// The product of whose oldest unspent purchase a unit is reserved.
    public let productId: String?
    /// The purpose, in the merchant's own terms.
    public let purpose: String
    /// Required if the ledger accepts more than one environment.
    public let environment: String?
    /// Required if the ledger accepts more than one app.
    public let bundleId: String?
    /// How long the unit is held. Absent for 15 minutes.
    public let seconds: Int?

    public init(
        idempotencyKey: String, transactionId: String? = nil, productId: String? = nil,
        purpose: String, environment: String? = nil, bundleId: String? = nil,
        seconds: Int? = nil
    ) {
        self.idempotencyKey = idempotencyKey
        self.transactionId = transactionId
        self.productId = productId
        self.purpose = purpose
        self.environment = environment
        self.bundleId = bundleId
        self.seconds = seconds
    }
}

/// A reserved unit of a purchase.
public struct LedgerReservation: Hashable, Sendable, Codable {
    public let account: String
    public let idempotencyKey: String
    public let purpose: String
    public let rootFingerprint: String
    public let environment: String
    public let bundleId: String
    public let productId: String
    public let transactionId: String
    /// `held`, `confirmed`, `released` or `expired`.
    public let state: String
    /// By the ledger's wall clock.
    public let reservedDate: Timestamp
    public let expiresDate: Timestamp
    /// Present once it is confirmed.
    public let redemption: LedgerRedemption?

    public init(
        account: String, idempotencyKey: String, purpose: String, rootFingerprint: String,
        environment: String, bundleId: String, productId: String, transactionId: String,
        state: String, reservedDate: Timestamp, expiresDate: Timestamp,
        redemption: LedgerRedemption?
    ) {
        self.account = account
        self.idempotencyKey = idempotencyKey
        self.purpose = purpose
        self.rootFingerprint = rootFingerprint
        self.environment = environment
        self.bundleId = bundleId
        self.productId = productId
        self.transactionId = transactionId
        self.state = state
        self.reservedDate = reservedDate
        self.expiresDate = expiresDate
        self.redemption = redemption
    }
}
