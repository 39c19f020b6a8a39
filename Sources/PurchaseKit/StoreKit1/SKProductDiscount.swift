// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation
import StoreWire

/// An offer for a subscription: a lower price for some time.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductdiscount)
open class SKProductDiscount: NSObject, @unchecked Sendable {
    private var offer: OfferDescription?
    private var locale: String?
    private let given = SetValues()

    /// Makes an empty offer, for subclasses in tests.
    public override init() {
        super.init()
    }

    convenience init(_ offer: OfferDescription, priceLocale: String) {
        self.init()
        self.offer = offer
        locale = priceLocale
    }

    /// The exact price of one charge, in the currency of ``priceLocale``.
    open var price: NSDecimalNumber {
        given.value("price") ?? NSDecimalNumber(milliunits: offer?.price ?? 0)
    }
    open var priceLocale: Locale {
        given.value("priceLocale") ?? Locale(identifier: locale ?? "en_US")
    }
    /// Nil for an introductory offer.
    open var identifier: String? { given.optional("identifier") ?? offer?.id }
    /// The length of one period with the offer.
    open var subscriptionPeriod: SKProductSubscriptionPeriod {
        given.value("subscriptionPeriod") ?? offer.flatMap { Period(iso8601: $0.period) }.map(
            SKProductSubscriptionPeriod.init)
            ?? SKProductSubscriptionPeriod()
    }
    /// How many periods the offer has.
    open var numberOfPeriods: Int { given.value("numberOfPeriods") ?? offer?.periodCount ?? 0 }
    open var paymentMode: SKProductDiscount.PaymentMode {
        if let mode: PaymentMode = given.value("paymentMode") { return mode }
        if let number: UInt = given.value("paymentMode") {
            return PaymentMode(rawValue: number) ?? .payAsYouGo
        }
        return switch offer?.paymentMode {
        case "free": .freeTrial
        case "payUpFront": .payUpFront
        default: .payAsYouGo
        }
    }
    open var type: SKProductDiscount.`Type` {
        if let type: `Type` = given.value("type") { return type }
        if let number: UInt = given.value("type") {
            return `Type`(rawValue: number) ?? .introductory
        }
        return offer.map { $0.kind == "introductory" } ?? true ? .introductory : .subscription
    }

    /// Fills an offer in a test. The keys are the names of the properties.
    open func setValue(_ value: Any?, forKey key: String) {
        given.set(
            value, key,
            keys: [
                "price", "priceLocale", "identifier", "subscriptionPeriod", "numberOfPeriods",
                "paymentMode", "type",
            ])
    }
}

extension NSDecimalNumber {
    /// Makes the exact number of thousandths of a currency's unit.
    convenience init(milliunits: Int64) {
        self.init(mantissa: UInt64(max(0, milliunits)), exponent: -3, isNegative: false)
    }
}

extension SKProductDiscount {
    /// How an offer is paid. Open: any number makes a value, and a `switch`
    /// over it needs `@unknown default`.
    /// [Apple's page](https://developer.apple.com/documentation/storekit/skproductdiscount/paymentmode)
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum PaymentMode: Hashable, Sendable {
        case payAsYouGo, payUpFront, freeTrial
        @available(*, unavailable, message: "match it with @unknown default")
        case _undocumented(Int)
    }
}

extension SKProductDiscount.PaymentMode: RawRepresentable {
    private static let documented: [Self] = [.payAsYouGo, .payUpFront, .freeTrial]

    public init?(rawValue: UInt) {
        self =
            rawValue < UInt(Self.documented.count)
            ? Self.documented[Int(rawValue)] : UndocumentedNumber(rawValue).value()
    }

    /// Written out, because `==` compares raw values.
    public var rawValue: UInt {
        switch self {
        case .payAsYouGo: 0
        case .payUpFront: 1
        case .freeTrial: 2
        case ._undocumented(let number): UInt(bitPattern: number)
        }
    }
}

extension SKProductDiscount {
    /// What an offer is for. `subscription` is a promotional offer. Open: any
    /// number makes a value, and a `switch` over it needs `@unknown default`.
    /// [Apple's page](https://developer.apple.com/documentation/storekit/skproductdiscount/type)
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum `Type`: Hashable, Sendable {
        case introductory, subscription
        @available(*, unavailable, message: "match it with @unknown default")
        case _undocumented(Int)
    }
}

extension SKProductDiscount.`Type`: RawRepresentable {
    private static let documented: [Self] = [.introductory, .subscription]

    public init?(rawValue: UInt) {
        self =
            rawValue < UInt(Self.documented.count)
            ? Self.documented[Int(rawValue)] : UndocumentedNumber(rawValue).value()
    }

    /// Written out, because `==` compares raw values.
    public var rawValue: UInt {
        switch self {
        case .introductory: 0
        case .subscription: 1
        case ._undocumented(let number): UInt(bitPattern: number)
        }
    }
}
