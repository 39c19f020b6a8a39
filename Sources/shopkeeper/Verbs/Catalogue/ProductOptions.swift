// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

/// The options for changing a product.
struct ProductOptions: ParsableArguments {
    @Option(name: .long, help: "The price, in every storefront's currency: 0.99.") var price:
        String?
    @Option(
        name: .long,
        help: "The price in a storefront: DEU=1.09, or later on: DEU=1.09@2027-01-01T00:00:00Z.")
    var priceIn: [String] = []
    @Flag(name: .long, help: "Remove the storefronts' own prices first.")
    var noPricesIn = false
    @Option(name: .long, help: "The only storefronts that sell it: USA,DEU; `all` for everywhere.")
    var storefronts: String?
    @Option(
        name: .long,
        help: "The texts in a language: en_US=Name (keeps the description), en_US=Name|Description."
    )
    var words: [String] = []
    @Option(name: .long, help: "The merchant's own label.") var referenceName: String?
    @Flag(inversion: .prefixedNo, help: "Whether a family can share it.") var familyShareable: Bool?
    @Flag(inversion: .prefixedNo, help: "Whether the store hosts content for it.")
    var hosted: Bool?
    @Option(name: .long, help: "The id of an image of the app for this product.")
    var image: [String] = []
    @Flag(name: .long, help: "Remove its other images.")
    var noImages = false
    @Option(name: .long, help: "The state: draft, ready or approved.") var state: String?
    @Option(name: .long, help: "A subscription's level in its group: from 1, the highest.")
    var level: Int?

    /// Adds these options to the known values.
    func change(of known: ProductRecord?) throws -> ProductChange {
        var change = ProductChange()
        change.price = try price.map { try Self.amount($0, "--price") }
        if !priceIn.isEmpty || noPricesIn {
            var prices = noPricesIn ? [] : known?.prices ?? []
            for text in priceIn {
                let price = try Self.price(text)
                prices.put(price) {
                    $0.storefront == price.storefront && $0.startDate == price.startDate
                }
            }
            change.prices = prices
        }
        change.storefronts = storefronts.map { text in
            text == "all" ? [] : text.split(separator: ",").map(String.init)
        }
        if !words.isEmpty {
            var all = known?.localizations ?? []
            for text in words {
                var words = try Self.words(text)
                let known = all.first { $0.locale == words.locale }
                if !text.contains("|"), let known { words.description = known.description }
                all.put(words) { $0.locale == words.locale }
            }
            change.localizations = all
        }
        change.referenceName = referenceName
        change.isFamilyShareable = familyShareable
        change.isHosted = hosted
        change.images = image.isEmpty && !noImages ? nil : image
        change.state = state
        change.level = level
        return change
    }

    static func amount(_ text: String, _ field: String) throws -> Int64 {
        guard let amount = Amount(decimal: text) else {
            throw Failure(
                .usage, "priceInvalid", "`\(text)` is not a price.", field: field,
                rule: "digits with at most one point and three decimals",
                remedy: "write it like 0.99")
        }
        return amount.milliunits
    }

    private static func price(_ text: String) throws -> ProductPrice {
        let sides = text.split(separator: "=", maxSplits: 1).map(String.init)
        let rest = sides.last?.split(separator: "@", maxSplits: 1).map(String.init) ?? []
        guard sides.count == 2, let digits = rest.first else {
            throw Failure(
                .usage, "priceInvalid", "`\(text)` is not a storefront's price.",
                field: "--price-in", rule: "STOREFRONT=PRICE or STOREFRONT=PRICE@INSTANT",
                remedy: "write it like DEU=1.09")
        }
        var start: Timestamp?
        if rest.count == 2 {
            start = Timestamp(iso8601: rest[1])
            if start == nil {
                throw Failure(
                    .usage, "instantInvalid", "`\(rest[1])` is not an instant.",
                    field: "--price-in", rule: "ISO 8601, as 2027-01-01T00:00:00Z",
                    remedy: "write date, time and Z")
            }
        }
        return ProductPrice(
            storefront: sides[0], price: try amount(digits, "--price-in"), startDate: start)
    }

    static func words(_ text: String) throws -> ProductWords {
        let sides = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard sides.count == 2 else {
            throw Failure(
                .usage, "wordsInvalid", "`\(text)` names no language.", field: "--words",
                rule: "LOCALE=NAME or LOCALE=NAME|DESCRIPTION",
                remedy: "write it like en_US=Five bananas")
        }
        let parts = sides[1].split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init)
        return ProductWords(
            locale: sides[0], displayName: parts.first ?? "",
            description: parts.count == 2 ? parts[1] : "")
    }
}

extension Array {
    /// Puts an element where the first of those that it replaces stood, else last.
    fileprivate mutating func put(
        _ element: Element, replacing isReplaced: (Element) -> Bool
    ) {
        let place = firstIndex(where: isReplaced) ?? count
        removeAll(where: isReplaced)
        insert(element, at: place)
    }
}
