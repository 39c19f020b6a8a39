// SPDX-License-Identifier: Apache-2.0

/// A choice of a product outside of the app, which the app decides about.
public struct PurchaseIntentDescription: Hashable, Sendable, Codable {
    /// A UUID, under which the payment is sent.
    public var intentId: String
    public var productId: String

    public init(intentId: String, productId: String) {
        self.intentId = intentId
        self.productId = productId
    }
}

public struct PurchaseIntentsResponse: Hashable, Sendable, Codable {
    /// The oldest first.
    public var intents: [PurchaseIntentDescription]

    public init(intents: [PurchaseIntentDescription]) { self.intents = intents }
}

/// What an app has decided about a choice.
public struct PurchaseIntentOutcome: Hashable, Sendable, Codable {
    /// `continued`, `deferred`, `cancelled` or `noHandler`.
    public var outcome: String

    public init(outcome: String) { self.outcome = outcome }
}
