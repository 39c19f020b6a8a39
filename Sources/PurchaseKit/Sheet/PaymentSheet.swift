// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation
import PriceText

/// The port that shows a purchase to the customer for confirmation. One sheet
/// is shown at a time.
public protocol PaymentSheet: Sendable {
    /// Returns when the customer has answered.
    func present(_ contents: SheetContents) async -> SheetAnswer
    /// Shows the customer a notice that needs no answer: that payments are not
    /// allowed, or that a purchase was made before and is not charged again.
    func notify(_ sentence: String) async
    /// Asks the customer a question about something other than a purchase, such as
    /// whether to restore: where Apple's devices ask for a password. A sheet
    /// without this method confirms.
    func ask(_ question: String) async -> SheetAnswer
    /// Asks the customer for the text of an offer's code. Nil if the customer gives
    /// none, and from a sheet without this method.
    func askForCode() async -> String?
    /// Asks the customer to consent to a higher price of a subscription. A sheet
    /// without this method does not consent.
    func askForConsent(_ increase: SheetPriceIncrease) async -> SheetAnswer
    /// Asks the customer to rate the app. Nil if the customer does not, and from a sheet
    /// without this method.
    func askForReview(_ question: SheetReviewQuestion) async -> SheetReview?
}

extension PaymentSheet {
    public func ask(_ question: String) async -> SheetAnswer { .confirm }
    public func askForCode() async -> String? { nil }
    public func askForConsent(_ increase: SheetPriceIncrease) async -> SheetAnswer { .cancel }
    public func askForReview(_ question: SheetReviewQuestion) async -> SheetReview? { nil }
}

/// The customer's answer.
public enum SheetAnswer: Hashable, Sendable {
    case confirm, cancel
}

/// The contents of a payment sheet.
public struct SheetContents: Hashable, Sendable {
    /// Far more than a store sells at once, and far less than would overflow.
    static let quantityMax = 1000

    public var productID: String
    public var title: String
    public var details: String
    public var quantity: Int
    public var unitPrice: Money
    /// For formatting: `en_US@currency=USD`.
    public var priceLocale: String
    /// Whether the price differs from the one that this customer just
    /// confirmed.
    public var isPriceChanged: Bool
    /// What a subscription charges later. Nil for other products.
    public var subscription: SheetSubscription?
    /// Whether the customer owns the product already. The payment then charges
    /// nothing, and the product is delivered again.
    public var isOwned: Bool
    /// An earlier purchase of the product that is not complete. The payment then
    /// charges nothing, and has that one's outcome.
    public var earlier: EarlierPurchase?

    public init(
        productID: String, title: String, details: String, quantity: Int, unitPrice: Money,
        priceLocale: String, isPriceChanged: Bool = false,
        subscription: SheetSubscription? = nil, isOwned: Bool = false,
        earlier: EarlierPurchase? = nil
    ) {
        self.productID = productID
        self.title = title
        self.details = details
        self.quantity = quantity
        self.unitPrice = unitPrice
        self.priceLocale = priceLocale
        self.isPriceChanged = isPriceChanged
        self.subscription = subscription
        self.isOwned = isOwned
        self.earlier = earlier
    }

    /// Whether the payment charges: not for what the customer has already.
    public var isCharged: Bool { !isOwned && earlier == nil }

    /// The unit price times the quantity. Nothing for what the customer has already.
    public var total: Money {
        Money(
            isCharged ? unitPrice.amount * quantity : Amount(milliunits: 0), unitPrice.currency)
    }

    /// Formats an amount like the storefront does: `$1.99`.
    public func formatted(_ money: Money) -> String { money.formatted(in: priceLocale) }

    /// The lines of the sheet, for a terminal.
    public var lines: [String] {
        let change = isPriceChanged ? ["The price has changed."] : []
        let details = details.isEmpty ? [] : [details]
        if isOwned {
            return change + [title] + details + ["You own this already. You are not charged again."]
        }
        if let earlier { return change + [title] + details + [earlier.sentence] }
        let price = "\(quantity) × \(formatted(unitPrice)) = \(formatted(total))"
        let later = subscription.map { [$0.sentence(formatted)] } ?? []
        return change + [title] + details + [price] + later
    }
}

/// An earlier purchase of the product on a payment sheet.
public enum EarlierPurchase: Hashable, Sendable {
    /// It was bought, and the app has still to deliver it.
    case unfinished
    /// It waits for an approval.
    case waiting

    /// What the sheet says about it.
    public var sentence: String {
        switch self {
        case .unfinished: "You have bought this already. You are not charged again."
        case .waiting:
            "You have asked for this already, and wait for the answer. You are not charged again."
        }
    }
}

/// Answers automatically, for scripts and tests.
public struct AutomaticSheet: PaymentSheet {
    private let answer: SheetAnswer
    private let code: String?

    /// `code`: what it enters where the customer enters an offer's code.
    public init(_ answer: SheetAnswer, code: String? = nil) {
        self.answer = answer
        self.code = code
    }

    public func present(_ contents: SheetContents) async -> SheetAnswer { answer }
    public func notify(_ sentence: String) async { StandardError.say(sentence) }
    public func ask(_ question: String) async -> SheetAnswer { answer }
    public func askForCode() async -> String? { answer == .confirm ? code : nil }
    public func askForConsent(_ increase: SheetPriceIncrease) async -> SheetAnswer { answer }
}
