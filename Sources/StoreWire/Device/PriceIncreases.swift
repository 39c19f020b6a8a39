// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The higher prices that wait for the customer's consent, in one app.
public struct PriceIncreasesResponse: Hashable, Sendable, Codable {
    public var increases: [PriceIncreaseDescription]

    public init(increases: [PriceIncreaseDescription]) {
        self.increases = increases
    }
}

/// A higher price of a subscription that the customer has. Without consent, the
/// subscription ends when the price applies.
public struct PriceIncreaseDescription: Hashable, Sendable, Codable {
    /// The id of the subscription's first transaction.
    public var subscriptionId: String
    public var productId: String
    /// What the customer pays now, in thousandths of the currency's unit.
    public var presentPrice: Int64
    /// The higher price, in thousandths of the currency's unit.
    public var price: Int64
    /// ISO 4217.
    public var currency: String
    /// It applies to periods that begin then or later, in commercial time.
    public var startDate: Timestamp

    public init(
        subscriptionId: String, productId: String, presentPrice: Int64, price: Int64,
        currency: String, startDate: Timestamp
    ) {
        self.subscriptionId = subscriptionId
        self.productId = productId
        self.presentPrice = presentPrice
        self.price = price
        self.currency = currency
        self.startDate = startDate
    }
}

/// The customer's consent to the price that the device showed.
public struct PriceConsentRequest: Hashable, Sendable, Codable {
    /// In thousandths of the currency's unit.
    public var price: Int64

    public init(price: Int64) {
        self.price = price
    }
}

/// A consent that the store has recorded. A repeated one gets the same answer.
public struct PriceConsentResponse: Hashable, Sendable, Codable {
    public var subscriptionId: String
    public var price: Int64

    public init(subscriptionId: String, price: Int64) {
        self.subscriptionId = subscriptionId
        self.price = price
    }
}
