// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct StorefrontTests {
    @Test func `there are 175, each with codes of its own`() {
        let all = Storefront.all
        #expect(all.count == 175)
        #expect(Set(all.map(\.countryCode)).count == 175)
        #expect(Set(all.map(\.region)).count == 175)
        let ids = all.compactMap(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.count == 6 && $0.hasPrefix("143") })
        #expect(all.allSatisfy { $0.countryCode.utf8.count == 3 && $0.region.utf8.count == 2 })
    }

    @Test(arguments: [
        ("USA", "US", "143441", "USD"), ("DEU", "DE", "143443", "EUR"),
        ("JPN", "JP", "143462", "JPY"), ("GBR", "GB", "143444", "GBP"),
        ("CHE", "CH", "143459", "CHF"), ("XKS", "XK", nil, "EUR"),
    ])
    func `some well-known storefronts`(code: String, region: String, id: String?, currency: String)
    {
        let storefront = Storefront.named(code)
        #expect(storefront?.region == region)
        #expect(storefront?.id == id)
        #expect(storefront?.currency.code == currency)
    }

    @Test(arguments: ["", "US", "usa", "XXX", "USAA"])
    func `others are not there`(code: String) {
        #expect(Storefront.named(code) == nil)
    }
}

@Suite struct LocalizationTests {
    /// Locale asked for, locales there, the one taken.
    @Test(
        arguments: [
            ("de_DE", "en_US de_DE de", "de_DE"), ("de_CH", "en_US de", "de"),
            ("de", "en_US de_AT de_DE", "de_AT"), ("zh_Hant", "zh_Hans en_US", "zh_Hans"),
            ("fr", "ja en_US", "en_US"), ("fr", "ja ko", "ja"), ("fr", "", nil),
            ("en_GB", "ja en_US", "en_US"), ("", "ja en_US", "en_US"),
        ] as [(String, String, String?)])
    func `the nearest words are taken`(asked: String, there: String, taken: String?) {
        let localizations = there.split(separator: " ").map {
            Localization(locale: String($0), displayName: "n", details: "d")
        }
        let product = Product(
            id: "a", kind: .consumable, referenceName: "", price: Amount(milliunits: 990),
            localizations: localizations)
        #expect(product.localization(for: asked)?.locale == taken)
    }
}
