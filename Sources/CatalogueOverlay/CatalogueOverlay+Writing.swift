// SPDX-License-Identifier: Apache-2.0

public import Commerce

extension CatalogueOverlay {
    /// Returns the text of an overlay for these listings. A default listing is
    /// left out. An overlay cannot express withdrawn and removed products.
    public static func text(
        bundleID: String?, appID: Int64?, appName: String?,
        listings: [(id: ProductID, listing: Listing)]
    ) -> String {
        var lines: [String] = []
        let app = [
            ("bundleId", bundleID), ("appId", appID.map(String.init)), ("name", appName),
        ].compactMap { key, value in value.map { "  \(key): \(OverlayText.scalar($0))" } }
        if !app.isEmpty { lines += ["app:"] + app }
        let products = listings.filter { $0.listing.state != .removed }
            .map { (id: $0.id, lines: OverlayText.lines(of: $0.listing)) }
            .filter { !$0.lines.isEmpty }
        lines.append(products.isEmpty ? "products: {}" : "products:")
        for product in products {
            lines.append("  \(OverlayText.scalar(product.id.value)):")
            lines += product.lines.map { "    " + $0 }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Writes text that ``OverlayReader`` reads back as equal values.
private enum OverlayText {
    static func lines(of listing: Listing) -> [String] {
        var lines: [String] = []
        if listing.state != .approved { lines.append("state: \(listing.state.rawValue)") }
        if let storefronts = listing.storefronts {
            lines.append("storefronts: \(list(storefronts))")
        }
        if !listing.prices.isEmpty { lines += ["prices:"] + prices(listing.prices) }
        if !listing.images.isEmpty { lines.append("images: \(list(listing.images))") }
        if listing.isHosted { lines.append("hosted: true") }
        if listing.isFree { lines.append("free: true") }
        if !listing.hasBasePrice { lines.append("onlyListedPrices: true") }
        return lines
    }

    /// Grouped by storefront, in the order of their first prices.
    private static func prices(_ prices: [StorefrontPrice]) -> [String] {
        var places: [String] = []
        for price in prices where !places.contains(price.storefront) {
            places.append(price.storefront)
        }
        return places.flatMap { place in
            ["  \(place):"]
                + prices.filter { $0.storefront == place }.map { price in
                    let amount = price.amount.decimal()
                    guard let start = price.startsAt else { return "    - \(amount)" }
                    return "    - {price: \(amount), from: \(start)}"
                }
        }
    }

    private static func list(_ values: [String]) -> String {
        "[" + values.map(scalar).joined(separator: ", ") + "]"
    }

    /// Returns a value plain or in quotes. Characters that an overlay's reader
    /// rejects everywhere are escaped.
    static func scalar(_ text: String) -> String {
        let isPlain =
            text.utf8.first.map(isAlphanumeric) ?? false
            && text.utf8.allSatisfy { isAlphanumeric($0) || "-._".utf8.contains($0) }
        return isPlain ? text : "\"" + text.unicodeScalars.map(quoted).joined() + "\""
    }

    private static func quoted(_ scalar: Unicode.Scalar) -> String {
        let isItself =
            scalar.isASCII
            ? (32..<127).contains(scalar.value) && !"\"\\&*![]{}#".unicodeScalars.contains(scalar)
            : scalar.properties.isAlphabetic
        if isItself { return String(scalar) }
        let digits = String(scalar.value, radix: 16)
        return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }
}
