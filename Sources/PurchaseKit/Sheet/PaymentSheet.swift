// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation

/// Shows the customer what is about to be bought, as a port. One sheet is
/// shown at a time.
public protocol PaymentSheet: Sendable {
    /// Returns when the customer has answered.
    func present(_ contents: SheetContents) async -> SheetAnswer
    /// Tells the customer something that needs no answer: that payments are
    /// not allowed here.
    func notify(_ sentence: String) async
}

/// What the customer answered.
public enum SheetAnswer: Hashable, Sendable {
    case confirm, cancel
}

/// What a payment sheet shows.
public struct SheetContents: Hashable, Sendable {
    /// Far above what a store sells at once, and far below what overflows.
    static let quantityMax = 1000

    public var productID: String
    public var title: String
    public var details: String
    public var quantity: Int
    public var unitPrice: Money
    /// For formatting: `en_US@currency=USD`.
    public var priceLocale: String
    /// Whether the price differs from the one this customer just confirmed.
    public var isPriceChanged: Bool

    public init(
        productID: String, title: String, details: String, quantity: Int, unitPrice: Money,
        priceLocale: String, isPriceChanged: Bool = false
    ) {
        self.productID = productID
        self.title = title
        self.details = details
        self.quantity = quantity
        self.unitPrice = unitPrice
        self.priceLocale = priceLocale
        self.isPriceChanged = isPriceChanged
    }

    /// The unit price times the quantity.
    public var total: Money { Money(unitPrice.amount * quantity, unitPrice.currency) }

    /// An amount as the storefront writes it: `$1.99`. Never rounded: some
    /// currencies are written without decimals (the Colombian peso) that a
    /// price may have all the same, and what is shown is what is charged.
    public func formatted(_ money: Money) -> String {
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = Locale(identifier: priceLocale)
        formatter.currencyCode = money.currency.code
        if money.amount.milliunits % 1000 != 0 {
            let decimals =
                money.amount.decimal(decimals: money.currency.minorUnits)
                .split(separator: ".").last?.count ?? 0
            formatter.minimumFractionDigits = decimals
            formatter.maximumFractionDigits = decimals
        }
        let number = NSDecimalNumber(
            mantissa: money.amount.milliunits.magnitude, exponent: -3,
            isNegative: money.amount.milliunits < 0)
        return formatter.string(from: number) ?? money.description
    }

    /// The sheet's lines, for a terminal.
    public var lines: [String] {
        let change = isPriceChanged ? ["The price has changed."] : []
        let details = details.isEmpty ? [] : [details]
        let price = "\(quantity) × \(formatted(unitPrice)) = \(formatted(total))"
        return change + [title] + details + [price]
    }
}

/// Answers by itself: for scripts and tests.
public struct AutomaticSheet: PaymentSheet {
    private let answer: SheetAnswer

    public init(_ answer: SheetAnswer) {
        self.answer = answer
    }

    public func present(_ contents: SheetContents) async -> SheetAnswer { answer }
    public func notify(_ sentence: String) async { StandardError.say(sentence) }
}
