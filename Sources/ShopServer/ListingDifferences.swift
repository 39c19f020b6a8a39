// SPDX-License-Identifier: Apache-2.0

public import CatalogueOverlay
import Commerce
public import Shop
public import StoreWire

extension StoredCatalogue {
    /// Returns how an overlay changes the listings, ordered by product id.
    public func differences(to overlay: CatalogueOverlay?) -> [CatalogueChange] {
        let named = (overlay?.listings ?? [:]).sorted { $0.key.value < $1.key.value }
        return named.flatMap { id, listing in
            Self.changes(of: id, listings[id] ?? Listing(), listing)
        }
    }

    private static func changes(
        of id: ProductID, _ before: Listing, _ after: Listing
    ) -> [CatalogueChange] {
        zip(fields(before), fields(after)).compactMap { old, new in
            guard old.value != new.value else { return nil }
            return CatalogueChange(
                kind: "changed", productId: id.value, field: old.name, before: old.value,
                after: new.value, line: "~ \(id) \(old.name): \(old.value) -> \(new.value)")
        }
    }

    private static func fields(_ listing: Listing) -> [(name: String, value: String)] {
        let prices = listing.prices.map { price in
            let start = price.startsAt.map { "@\($0)" } ?? ""
            return "\(price.storefront)=\(price.amount.decimal(decimals: 2))\(start)"
        }
        return [
            ("state", listing.state.rawValue),
            ("storefronts", listing.storefronts?.joined(separator: " ") ?? "all"),
            ("prices", prices.isEmpty ? "none" : prices.joined(separator: " ")),
            ("own price", listing.hasBasePrice ? "counts" : "does not count"),
            ("images", listing.images.isEmpty ? "none" : listing.images.joined(separator: " ")),
            ("hosted", listing.isHosted ? "yes" : "no"), ("free", listing.isFree ? "yes" : "no"),
        ]
    }
}
