// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The rules that each part of a catalogue keeps, at every door.
enum CatalogueRules {
    /// The longest description of a product.
    static let detailsBytesMax = 4096

    static func check(_ product: Product) throws {
        try check(productID: product.id.value, "products.productID")
        if let group = product.groupID { try check(groupID: group, "products.groupId") }
        if let period = product.period { try check(period: period, "products.period") }
        try Edge.text(product.referenceName, "products.referenceName")
        _ = try Edge.price(product.price.milliunits, "products.displayPrice")
        for words in product.localizations {
            try Edge.text(words.locale, "products.localizations.locale", bytesMax: 64)
            try Edge.text(words.displayName, "products.localizations.displayName")
            try Edge.text(
                words.details, "products.localizations.description", bytesMax: detailsBytesMax)
        }
    }

    /// Checks that customers can be shown the texts: none moves or hides a part of another,
    /// such as the price beside it. Not asked of what a store or a backup holds already,
    /// which may be older than the rule. Refusals: `textInvalid`, `textTooLong`.
    static func checkShown(_ words: [Localization], _ place: String) throws {
        for one in words {
            try Edge.label(one.displayName, "\(place).displayName")
            try Edge.prose(one.details, "\(place).description", bytesMax: detailsBytesMax)
        }
    }

    static func check(productID: String, _ field: String) throws {
        guard IDText.isID(productID) else {
            throw Refusal(
                .badRequest, code: "productIdInvalid", "This is not a valid id for a product.",
                field: field, rule: IDText.rule,
                remedy: "give one such as `com.example.app.pro`")
        }
    }

    static func check(groupID: String, _ field: String) throws {
        guard IDText.isID(groupID) else {
            throw Refusal(
                .badRequest, code: "groupIdInvalid", "This is not a valid id for a group.",
                field: field, rule: IDText.rule, remedy: "give one such as `pro`")
        }
    }

    /// Refusal: `entryTwice`, with the name of the first entry that stands twice.
    static func checkOnce<Entry>(
        _ entries: [Entry], _ field: String, _ name: (Entry) -> String,
        by key: (Entry) -> [String]
    ) throws {
        var seen: Set<[String]> = []
        for entry in entries where !seen.insert(key(entry)).inserted {
            throw Refusal(
                .badRequest, code: "entryTwice", "The list has `\(name(entry))` twice.",
                field: field, rule: "each entry of a list stands in it once",
                remedy: "leave one of them out")
        }
    }

    static func checkOnce(_ names: [String], _ field: String) throws {
        try checkOnce(names, field, { $0 }, by: { [$0] })
    }

    static func check(period: String, _ field: String) throws {
        guard Period.ofSubscriptions.contains(period) else {
            throw Refusal(
                .badRequest, code: "periodInvalid", "A subscription has no such period.",
                field: field, rule: Period.ofSubscriptions.joined(separator: ", "),
                remedy: "send one of them")
        }
    }

    static func unknownStorefront(field: String) -> Refusal {
        Refusal(
            .badRequest, code: "storefrontUnknown", "There is no such storefront.",
            field: field, rule: "a country's ISO 3166-1 alpha-3 code where the store sells",
            remedy: "give one such as `USA`")
    }

    static func checkImageID(_ id: String) throws {
        guard IDText.isID(id) else {
            throw Refusal(
                .badRequest, code: "imageIdInvalid", "This is not a valid id for an image.",
                field: "imageId", rule: IDText.rule,
                remedy: "name it as the file's promotionalImageID does")
        }
    }
}
