// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation
import StoreWire

/// A higher price of a subscription that the customer has. Without consent, the
/// subscription ends.
public struct SheetPriceIncrease: Hashable, Sendable {
    public var productID: String
    public var title: String
    /// What the customer pays now.
    public var presentPrice: Money
    public var price: Money
    /// For formatting: `en_US@currency=USD`.
    public var priceLocale: String
    /// The price applies to periods that begin on this day or later: `2026-03-01`.
    public var startDay: String

    public init(
        productID: String, title: String, presentPrice: Money, price: Money, priceLocale: String,
        startDay: String
    ) {
        self.productID = productID
        self.title = title
        self.presentPrice = presentPrice
        self.price = price
        self.priceLocale = priceLocale
        self.startDay = startDay
    }

    /// Nil if the amounts are not within the limits of money.
    init?(_ increase: PriceIncreaseDescription, _ product: ProductDescription) {
        guard let currency = Currency(code: increase.currency),
            (0...Amount.milliunitsMax).contains(increase.presentPrice),
            (0...Amount.milliunitsMax).contains(increase.price)
        else { return nil }
        self.init(
            productID: product.id, title: product.displayName,
            presentPrice: Money(Amount(milliunits: increase.presentPrice), currency),
            price: Money(Amount(milliunits: increase.price), currency),
            priceLocale: product.priceLocale,
            startDay: String(increase.startDate.description.prefix(10)))
    }

    /// The sheet's question.
    public var question: String {
        let contents = SheetContents(
            productID: productID, title: title, details: "", quantity: 1, unitPrice: price,
            priceLocale: priceLocale)
        return "From \(startDay), \(title) costs \(contents.formatted(price)) instead of "
            + "\(contents.formatted(presentPrice)). Without your consent it ends. Do you agree?"
    }
}
