// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation

/// A length of time of a subscription or an offer.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductsubscriptionperiod)
open class SKProductSubscriptionPeriod: NSObject, @unchecked Sendable {
    private var period: Period?
    private let given = SetValues()

    /// Makes an empty period, for subclasses in tests.
    public override init() {
        super.init()
    }

    convenience init(_ period: Period) {
        self.init()
        self.period = period
    }

    open var numberOfUnits: Int { given.value("numberOfUnits") ?? period?.count ?? 0 }
    open var unit: SKProduct.PeriodUnit {
        if let unit: SKProduct.PeriodUnit = given.value("unit") { return unit }
        if let number: UInt = given.value("unit") {
            return SKProduct.PeriodUnit(rawValue: number) ?? .day
        }
        return switch period?.unit {
        case nil, .day: .day
        case .week: .week
        case .month: .month
        case .year: .year
        }
    }

    /// Fills a period in a test. The keys are the names of the properties.
    open func setValue(_ value: Any?, forKey key: String) {
        given.set(value, key, keys: ["numberOfUnits", "unit"])
    }
}

extension SKProduct {
    /// The unit of a period. Open: any number makes a value, and a `switch`
    /// over it needs `@unknown default`.
    /// [Apple's page](https://developer.apple.com/documentation/storekit/skproduct/periodunit)
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum PeriodUnit: Hashable, Sendable {
        case day, week, month, year
        @available(*, unavailable, message: "match it with @unknown default")
        case _undocumented(Int)
    }
}

extension SKProduct.PeriodUnit: RawRepresentable {
    private static let documented: [Self] = [.day, .week, .month, .year]

    public init?(rawValue: UInt) {
        self =
            rawValue < UInt(Self.documented.count)
            ? Self.documented[Int(rawValue)] : UndocumentedNumber(rawValue).value()
    }

    /// Written out, because `==` compares raw values.
    public var rawValue: UInt {
        switch self {
        case .day: 0
        case .week: 1
        case .month: 2
        case .year: 3
        case ._undocumented(let number): UInt(bitPattern: number)
        }
    }
}
