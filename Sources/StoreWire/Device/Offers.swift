// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The offer that a payment for a subscription asks for. Only the fields of its
/// kind are used.
public struct OfferRequest: Hashable, Sendable, Codable {
    /// `promotional`, `win-back`, `code`, or `introductory` for a decision of the
    /// merchant's server about the introductory offer.
    public var kind: String
    /// Of a promotional or win-back offer.
    public var offerId: String?
    /// The text of a code.
    public var code: String?
    /// A promotional offer or a decision, signed by the merchant's server: a compact
    /// JWS.
    public var token: String?
    /// A promotional offer in the older signed form: the id of the merchant's key.
    public var keyId: String?
    /// A UUID, used once.
    public var nonce: String?
    /// When it was signed.
    public var timestamp: Timestamp?
    /// DER in Base64.
    public var signature: String?

    public init(
        kind: String, offerId: String? = nil, code: String? = nil, token: String? = nil,
        keyId: String? = nil, nonce: String? = nil, timestamp: Timestamp? = nil,
        signature: String? = nil
    ) {
        self.kind = kind
        self.offerId = offerId
        self.code = code
        self.token = token
        self.keyId = keyId
        self.nonce = nonce
        self.timestamp = timestamp
        self.signature = signature
    }
}

/// Asks what a payment with an offer, or in monthly parts, would charge.
public struct OfferQuoteRequest: Hashable, Sendable, Codable {
    /// Missing with a code, which has its own product.
    public var productId: String?
    public var offer: OfferRequest?
    public var applicationUsername: String?
    /// `MONTHLY` to pay for a year in parts.
    public var billingPlan: String?

    public init(
        productId: String? = nil, offer: OfferRequest? = nil, applicationUsername: String? = nil,
        billingPlan: String? = nil
    ) {
        self.productId = productId
        self.offer = offer
        self.applicationUsername = applicationUsername
        self.billingPlan = billingPlan
    }
}

/// A lower price for periods of a subscription.
public struct OfferDescription: Hashable, Sendable, Codable {
    /// `introductory`, `promotional`, `code` or `win-back`.
    public var kind: String
    /// Missing for an introductory offer. The label of a code's.
    public var id: String?
    /// `free`, `payUpFront` or `payAsYouGo`.
    public var paymentMode: String
    /// The length of one period with the offer, an ISO 8601 duration.
    public var period: String
    /// The number of periods.
    public var periodCount: Int
    /// The price of one charge, in thousandths of the currency's unit.
    public var price: Int64

    public init(
        kind: String, id: String? = nil, paymentMode: String, period: String, periodCount: Int,
        price: Int64
    ) {
        self.kind = kind
        self.id = id
        self.paymentMode = paymentMode
        self.period = period
        self.periodCount = periodCount
        self.price = price
    }
}
