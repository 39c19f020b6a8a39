// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Chooses a product for a customer outside of the app.
public struct ChoosePromotionRequest: Hashable, Sendable, Codable {
    public var bundleId: String
    public var productId: String

    public init(bundleId: String, productId: String) {
        self.bundleId = bundleId
        self.productId = productId
    }
}

/// A customer's choice of a product, and what has become of it.
public struct PurchaseIntentRecord: Hashable, Sendable, Codable {
    /// A UUID, which is also the id of the purchase that follows.
    public var intentId: String
    public var customerId: String
    public var bundleId: String
    public var productId: String
    /// `waiting`, `asked`, `continued`, `deferred`, `cancelled`, `noHandler`, `expired` or
    /// `tooOld`.
    public var state: String
    /// The state as a sentence for the customer.
    public var message: String
    /// All dates are wall time.
    public var createdDate: Timestamp
    public var expiresDate: Timestamp
    /// Missing while it is open.
    public var settledDate: Timestamp?

    public init(
        intentId: String, customerId: String, bundleId: String, productId: String,
        state: String, message: String, createdDate: Timestamp, expiresDate: Timestamp,
        settledDate: Timestamp? = nil
    ) {
        self.intentId = intentId
        self.customerId = customerId
        self.bundleId = bundleId
        self.productId = productId
        self.state = state
        self.message = message
        self.createdDate = createdDate
        self.expiresDate = expiresDate
        self.settledDate = settledDate
    }
}
