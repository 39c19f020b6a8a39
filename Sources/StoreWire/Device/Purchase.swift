// SPDX-License-Identifier: Apache-2.0

/// A payment, sent under its purchase id. A repeated request gets the same
/// answer. The same id with other contents is refused.
public struct PurchaseRequest: Hashable, Sendable, Codable {
    public var productId: String
    /// 1 to 10. Always 1 for a product that is bought once.
    public var quantity: Int
    /// The price of one unit that the payment sheet showed, in thousandths.
    public var unitPrice: Int64
    /// The currency that the payment sheet showed, ISO 4217.
    public var currency: String
    public var applicationUsername: String?
    /// The purchase id of the refused payment (its price had changed) that the
    /// customer confirmed again with this one.
    public var replaces: String?
    /// Whether a sandbox requires approval for this payment, for any customer.
    /// False if missing.
    public var simulatesAskToBuyInSandbox: Bool?
    /// The offer that it asks for. `unitPrice` is then the offer's.
    public var offer: OfferRequest?
    /// `MONTHLY` to pay for a year in parts. `unitPrice` is then that of one part.
    public var billingPlan: String?

    public init(
        productId: String, quantity: Int, unitPrice: Int64, currency: String,
        applicationUsername: String? = nil, replaces: String? = nil,
        simulatesAskToBuyInSandbox: Bool? = nil, offer: OfferRequest? = nil,
        billingPlan: String? = nil
    ) {
        self.productId = productId
        self.quantity = quantity
        self.unitPrice = unitPrice
        self.currency = currency
        self.applicationUsername = applicationUsername
        self.replaces = replaces
        self.simulatesAskToBuyInSandbox = simulatesAskToBuyInSandbox
        self.offer = offer
        self.billingPlan = billingPlan
    }
}

/// The state of a purchase.
public struct PurchaseResponse: Hashable, Sendable, Codable {
    /// `sold`, `refused`, `waiting` or `authorising`. For an unknown value, the
    /// device asks again later.
    public var state: String
    /// Present with `sold`.
    public var signedTransaction: String?
    /// True if the transaction is that of an earlier payment, because the customer
    /// has the product already: owned, or bought and not finished. Nothing was
    /// charged, and its quantity may be another. True too if the payment came of a
    /// choice outside of the app that another device has taken up and finished. Missing
    /// otherwise.
    public var isRepeat: Bool?
    /// Present with `isRepeat`: whether the earlier payment's transaction is
    /// finished.
    public var isFinished: Bool?
    /// The hosted content of the transaction's product. Missing if there is none.
    public var content: ContentDescription?
    /// Present with `refused`: code, sentence, field, rule and remedy.
    public var refusal: WireError?
    /// Present with `waiting`: `approval` or `attention`.
    public var waitingFor: String?
    /// Present with the refusal `priceChanged`: the current product, for the
    /// next payment sheet.
    public var product: ProductDescription?
    /// The customer's revision after this purchase.
    public var revision: Int64

    public init(
        state: String, signedTransaction: String? = nil, refusal: WireError? = nil,
        waitingFor: String? = nil, product: ProductDescription? = nil, revision: Int64
    ) {
        self.state = state
        self.signedTransaction = signedTransaction
        self.refusal = refusal
        self.waitingFor = waitingFor
        self.product = product
        self.revision = revision
    }
}
