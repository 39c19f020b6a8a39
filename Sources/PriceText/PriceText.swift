// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation

extension Money {
    /// Formats the amount like a storefront does: `$1.99`. It never rounds: some
    /// currencies are written without decimals (the Colombian peso), but a price may
    /// have them, and a customer must see what is charged.
    ///
    /// - Parameter locale: As ``Commerce/Storefront/priceLocale(ofWords:)`` gives it:
    ///   `en_US@currency=USD`.
    public func formatted(in locale: String) -> String {
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
