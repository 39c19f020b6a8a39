// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation
import Synchronization

extension Money {
    /// Formats the amount like a storefront does: `$1.99`. It never rounds: some
    /// currencies are written without decimals (the Colombian peso), but a price may
    /// have them, and a customer must see what is charged.
    ///
    /// - Parameter locale: As ``Commerce/Storefront/priceLocale(ofWords:)`` gives it:
    ///   `en_US@currency=USD`.
    public func formatted(in locale: String) -> String {
        KnownTexts.text(of: self, in: locale) { format(in: locale) }
    }

    private func format(in locale: String) -> String {
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = Locale(identifier: locale)
        formatter.currencyCode = currency.code
        if amount.milliunits % 1000 != 0 {
            let decimals =
                amount.decimal(decimals: currency.minorUnits).split(separator: ".").last?.count
                ?? 0
            formatter.minimumFractionDigits = decimals
            formatter.maximumFractionDigits = decimals
        }
        let number = NSDecimalNumber(
            mantissa: amount.milliunits.magnitude, exponent: -3,
            isNegative: amount.milliunits < 0)
        return formatter.string(from: number) ?? description
    }
}

/// The texts of the last prices. Making a formatter with the data of its locale takes
/// longer than all the rest of a page of the store.
private enum KnownTexts {
    private struct Key: Hashable {
        let money: Money
        let locale: String
    }

    private static let countMax = 4096
    private static let texts = Mutex<[Key: String]>([:])

    static func text(of money: Money, in locale: String, _ make: () -> String) -> String {
        let key = Key(money: money, locale: locale)
        if let text = texts.withLock({ $0[key] }) { return text }
        let text = make()
        texts.withLock { texts in
            if texts.count >= countMax { texts.removeAll(keepingCapacity: true) }
            texts[key] = text
        }
        return text
    }
}
