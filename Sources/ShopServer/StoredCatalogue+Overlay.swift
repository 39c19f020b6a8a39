// SPDX-License-Identifier: Apache-2.0

public import CatalogueFile
import CatalogueOverlay
import Commerce
public import Shop

extension StoredCatalogue {
    /// What goes beside ``file(bundleID:)``: the overlay that was imported, as
    /// long as it tells how things are; else one that does. Nil where there is
    /// nothing that the file does not say.
    func overlay(bundleID: String, beside file: CatalogueFile) throws -> String? {
        let told = try importedOverlay()
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

    /// The overlay as it was imported.
    func importedOverlay() throws -> CatalogueOverlay? {
        try original?.overlay.map { try CatalogueOverlay(yaml: $0, name: CatalogueOverlay.suffix) }
    }

    private func listed(_ id: ProductID, _ file: CatalogueFile) -> Listing {
        Self.listing(listings[id], id, file)
    }

    /// That there is no price, the file says already where it has none.
    private static func listing(
        _ known: Listing?, _ id: ProductID, _ file: CatalogueFile
    ) -> Listing {
        var listing = known ?? Listing()
        if file.catalogue.unpriced.contains(id) { listing.hasBasePrice = true }
        return listing
    }

    /// What production keeps of a file as drafts, in a sentence; nil where
    /// it keeps none.
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
