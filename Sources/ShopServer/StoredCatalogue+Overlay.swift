// SPDX-License-Identifier: Apache-2.0

public import CatalogueFile
import CatalogueOverlay
import Commerce
public import Shop

extension StoredCatalogue {
    /// Returns the overlay for ``file(bundleID:)``: the imported one if it is
    /// still correct, otherwise a new one. Nil if the file alone expresses
    /// everything.
    func overlay(bundleID: String, beside file: CatalogueFile) throws -> String? {
        let told = importedOverlay()
        let isSame =
            (told?.appName ?? bundleID) == appName
            && (told?.appID ?? file.catalogue.appID) == catalogue.appID
            && catalogue.products.allSatisfy { product in
                listed(product.id, file)
                    == Self.listing(told?.listings[product.id], product.id, file)
            }
        if isSame { return told.map { String(decoding: $0.bytes, as: UTF8.self) } }
        return CatalogueOverlay.text(
            bundleID: told?.bundleID,
            appID: catalogue.appID == file.catalogue.appID ? nil : catalogue.appID,
            appName: appName == bundleID ? nil : appName,
            listings: catalogue.products.map { ($0.id, listed($0.id, file)) })
    }

    /// The overlay as it was imported; nil also for one that cannot be read.
    func importedOverlay() -> CatalogueOverlay? {
        original?.overlay.flatMap {
            try? CatalogueOverlay(yaml: $0, name: CatalogueOverlay.suffix)
        }
    }

    private func listed(_ id: ProductID, _ file: CatalogueFile) -> Listing {
        Self.listing(listings[id], id, file)
    }

    /// Leaves out that a product has no price if the file already shows this.
    private static func listing(
        _ known: Listing?, _ id: ProductID, _ file: CatalogueFile
    ) -> Listing {
        var listing = known ?? Listing()
        if file.catalogue.unpriced.contains(id) { listing.hasBasePrice = true }
        return listing
    }

    /// Returns a sentence about the products of a file that production keeps as
    /// drafts. Nil if there are none.
    public func drafts(of file: CatalogueFile) -> String? {
        guard isProduction else { return nil }
        let drafts = file.catalogue.products.filter { product in
            let listing = listings[product.id] ?? Listing()
            return listing.state == .draft && !listing.gaps(of: product).isEmpty
        }
        guard !drafts.isEmpty else { return nil }
        let named = drafts.prefix(10).map(\.id.value).joined(separator: ", ")
        let more = drafts.count > 10 ? " and \(drafts.count - 10) more" : ""
        return "kept as drafts, for they lack a price or a name: \(named)\(more); complete them in "
            + "the file or with `product set`, then approve them with `product approve`"
    }
}
