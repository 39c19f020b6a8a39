// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import Testing

/// Prices as the sheet writes them, in every storefront, held against ICU.
@Suite struct PriceTextTests {
    /// Currencies that CLDR writes without decimals where ISO 4217 counts two.
    private static let writtenWhole: Set<String> = ["COP", "IDR", "PKR"]

    @Test func `no storefront's sheet rounds a price`() {
        for storefront in Storefront.all {
            for milliunits: Int64 in [125, 990, 1000, 1500, 12_345_670, 999_999_990] {
                let price = Money(Amount(milliunits: milliunits), storefront.currency)
                let text = contents(storefront, price).formatted(price)

                #expect(Self.number(text) == milliunits, "\(storefront.countryCode): \(text)")
            }
        }
    }

    @Test func `a price is written by each locale, also the second time`() throws {
        let places = ["DEU", "IRL"].compactMap { code in
            Storefront.all.first { $0.countryCode == code }
        }
        let price = Money(Amount(milliunits: 1990), try #require(places.first).currency)
        let texts = places.map { contents($0, price).formatted(price) }
        #expect(Set(texts).count == 2)
        #expect(places.map { contents($0, price).formatted(price) } == texts)
    }

    @Test func `a whole price has the decimals that the currency is written with`() {
        for storefront in Storefront.all {
            let currency = storefront.currency
            let price = Money(Amount(milliunits: 5000), currency)
            let text = contents(storefront, price).formatted(price)
            let isWhole = currency.minorUnits == 0 || Self.writtenWhole.contains(currency.code)

            let hasDecimals = text.contains("5.00") || text.contains("5,00")
            #expect(hasDecimals == !isWhole, "\(storefront.countryCode): \(text)")
        }
    }

    @Test func `every storefront's price locale has its currency and its region`() {
        for storefront in Storefront.all {
            let locale = Locale(identifier: Self.priceLocale(storefront))

            #expect(locale.currency?.identifier.uppercased() == storefront.currency.code)
            #expect(locale.region?.identifier == storefront.region)
        }
    }

    /// What the store composes is what ICU understands, in every language of
    /// words: nothing of language, region and currency is lost.
    @Test(arguments: [
        ("en_US", "en", nil), ("ja", "ja", nil), ("zh_Hans", "zh", "Hans"),
        ("zh_Hant_HK", "zh", "Hant"), ("pt_BR", "pt", nil), ("ar", "ar", nil),
        ("sr_Latn_RS", "sr", "Latn"), ("hi", "hi", nil), ("he", "he", nil),
    ])
    func `language, region and currency are what ICU reads`(
        words: String, language: String, script: String?
    ) {
        for storefront in Storefront.all {
            let locale = Locale(identifier: storefront.priceLocale(ofWords: words))
            let formatter = NumberFormatter()
            formatter.numberStyle = .currency
            formatter.locale = locale

            #expect(locale.language.languageCode?.identifier == language)
            if let script { #expect(locale.language.script?.identifier == script) }
            #expect(locale.region?.identifier == storefront.region)
            #expect(formatter.currencyCode == storefront.currency.code)
        }
    }

    private static func priceLocale(_ storefront: Storefront) -> String {
        storefront.priceLocale(ofWords: "en_US")
    }

    private func contents(_ storefront: Storefront, _ price: Money) -> SheetContents {
        SheetContents(
            productID: "a", title: "A", details: "", quantity: 1, unitPrice: price,
            priceLocale: Self.priceLocale(storefront))
    }

    /// The thousandths that a text with one decimal sign tells; decimal commas
    /// are known by having no three digits after them.
    private static func number(_ text: String) -> Int64? {
        let plain = text.filter { $0.isNumber || $0 == "." || $0 == "," }
        let parts = plain.split { $0 == "." || $0 == "," }
        guard let last = parts.last else { return nil }
        let isFraction = parts.count > 1 && (last.count < 3 || plain.hasPrefix("0"))
        let whole = (isFraction ? parts.dropLast() : parts[...]).joined()
        let fraction = isFraction ? String(last) : ""
        let padded = fraction + String(repeating: "0", count: 3 - fraction.count)
        return Int64(whole + padded)
    }
}
