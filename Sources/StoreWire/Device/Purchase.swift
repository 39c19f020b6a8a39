// SPDX-License-Identifier: Apache-2.0

/// A payment, sent under its purchase id. Asking again under the same id
/// gives the same answer; the same id with other contents is refused.
public struct PurchaseRequest: Hashable, Sendable, Codable {
    public var productId: String
    /// 1 to 10; 1 for what is bought once.
    public var quantity: Int
    /// What the sheet showed for one, in thousandths.
    public var unitPrice: Int64
    /// What the sheet showed, ISO 4217.
    public var currency: String
    public var applicationUsername: String?
    /// The purchase id of the refused payment (its price had changed) that
    /// the customer confirmed again as this one.
    public var replaces: String?
    /// Whether a sandbox asks for approval, whoever buys; false when missing.
    public var simulatesAskToBuyInSandbox: Bool?

    public init(
        productId: String, quantity: Int, unitPrice: Int64, currency: String,
        applicationUsername: String? = nil, replaces: String? = nil,
        simulatesAskToBuyInSandbox: Bool? = nil
    ) {
        self.productId = productId
        self.quantity = quantity
        self.unitPrice = unitPrice
        self.currency = currency
        self.applicationUsername = applicationUsername
        self.replaces = replaces
        self.simulatesAskToBuyInSandbox = simulatesAskToBuyInSandbox
    }
}

/// Where the purchase stands.
public struct PurchaseResponse: Hashable, Sendable, Codable {
    /// `sold`, `refused`, `waiting` or `authorising`; an unknown word means: ask again later.
    public var state: String
    /// With `sold`.
    public var signedTransaction: String?
    /// With `refused`: code, sentence, field, rule, remedy.
    public var refusal: WireError?
    /// With `waiting`: `approval` or `attention`.
    public var waitingFor: String?
    /// With the refusal `priceChanged`: the product as it is now, for the next sheet.
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
