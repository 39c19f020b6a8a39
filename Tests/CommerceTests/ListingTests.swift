// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct ListingTests {
    private static let product = Product(
        id: "pro", kind: .nonConsumable, referenceName: "", price: Amount(milliunits: 990),
        localizations: [])

    private func offering(
        _ listing: Listing, in storefront: String = "USA", at now: Int64 = 0,
        isProduction: Bool = false, arePurchasesEnabled: Bool = true
    ) -> Offering {
        Offering.of(
            Self.product, listing, in: storefront, at: Timestamp(milliseconds: now),
            isProduction: isProduction, arePurchasesEnabled: arePurchasesEnabled)
    }

    @Test func `a product without a listing of its own is sold everywhere at its price`() {
        #expect(offering(Listing()) == .offered(Amount(milliunits: 990)))
        #expect(offering(Listing(), in: "JPN") == .offered(Amount(milliunits: 990)))
    }

    /// The answer is the first that applies, in the order of the cases.
    @Test func `the reasons why a product is not offered have one order`() {
        var listing = Listing(state: .removed, isWithdrawn: true, hasBasePrice: false)
        #expect(offering(listing, arePurchasesEnabled: false) == .removed)
        listing.state = .draft
        #expect(offering(listing, arePurchasesEnabled: false) == .withdrawn)
        listing.isWithdrawn = false
        #expect(offering(listing, arePurchasesEnabled: false) == .draft)
        listing.state = .ready
        #expect(offering(listing, isProduction: true, arePurchasesEnabled: false) == .notApproved)
        #expect(offering(listing, arePurchasesEnabled: false) == .purchasesNotEnabled)
        #expect(offering(listing) == .noPriceHere)
        listing.hasBasePrice = true
        #expect(offering(listing) == .offered(Amount(milliunits: 990)))
        listing.state = .approved
        #expect(offering(listing, isProduction: true) == .offered(Amount(milliunits: 990)))
    }

    @Test(arguments: [
        ("DEU", Int64(0), Int64(1090)), ("DEU", 99, 1090), ("DEU", 100, 1190),
        ("DEU", 199, 1190), ("DEU", 200, 790), ("USA", 500, 990), ("JPN", 0, 990),
        ("JPN", 150, 160_000),
    ])
    func `the price that started last in a storefront counts`(
        storefront: String, now: Int64, price: Int64
    ) {
        func from(_ instant: Int64?, _ price: Int64, _ storefront: String) -> StorefrontPrice {
            StorefrontPrice(
                storefront: storefront, amount: Amount(milliunits: price),
                startsAt: instant.map(Timestamp.init(milliseconds:)))
        }
        let listing = Listing(prices: [
            from(200, 790, "DEU"), from(nil, 1090, "DEU"), from(100, 1190, "DEU"),
            from(150, 160_000, "JPN"),
        ])

        #expect(
            offering(listing, in: storefront, at: now) == .offered(Amount(milliunits: price)))
    }

    @Test func `outside its storefronts a product is not sold, whatever its prices`() {
        let listing = Listing(
            prices: [StorefrontPrice(storefront: "DEU", amount: Amount(milliunits: 1))],
            storefronts: ["USA"])

        #expect(offering(listing, in: "DEU") == .noPriceHere)
        #expect(offering(listing, in: "USA") == .offered(Amount(milliunits: 990)))
    }
}
