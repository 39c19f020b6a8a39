// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import CatalogueOverlay
import Commerce
import Shop

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
                listed(product.id) == told?.listings[product.id] ?? Listing()
            }
        if isSame { return told.map { String(decoding: $0.bytes, as: UTF8.self) } }
        return CatalogueOverlay.text(
            bundleID: told?.bundleID,
            appID: catalogue.appID == file.catalogue.appID ? nil : catalogue.appID,
            appName: appName == bundleID ? nil : appName,
            listings: catalogue.products.map { ($0.id, listed($0.id)) })
    }

    /// The overlay as it was imported.
    func importedOverlay() throws -> CatalogueOverlay? {
        try original?.overlay.map { try CatalogueOverlay(yaml: $0, name: CatalogueOverlay.suffix) }
    }

    private func listed(_ id: ProductID) -> Listing { listings[id] ?? Listing() }
}
