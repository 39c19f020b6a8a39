// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import CatalogueOverlay
import Commerce
import Foundation
import Shop
import ShopServer
import StoreWire

/// Imports the served file into a realm: at the start, and whenever it changes.
struct ServedCatalogue: Sendable {
    let app: ServedApp
    let realm: Realm

    private var description: AppDescription {
        AppDescription(
            bundleID: BundleID(app.bundleID), appID: app.appID, name: app.overlay?.appName)
    }

    /// Imports the file at the start. A file that was imported before is not
    /// imported again, so that later changes by operators stay. Without a file
    /// nothing is changed.
    func start() async throws {
        let known = try await realm.catalogue.apps().first { $0.bundleID.value == app.bundleID }
        guard let file = app.file else {
            if known == nil {
                try await realm.catalogue.putCatalogue(app.catalogue, app: description)
            }
            return
        }
        if let known, app.appID == nil || app.appID == known.appID {
            let stored = try await realm.catalogue.storedCatalogue(bundleID: app.bundleID)
            let isSame =
                stored.original?.file == file.bytes
                && stored.original?.overlay == app.overlay?.bytes
            if isSame { return }
        }
        _ = try await take(file, app.overlay)
    }

    /// Imports the file and returns the differences.
    func take(_ file: CatalogueFile, _ overlay: CatalogueOverlay?) async throws -> [String] {
        var before = CatalogueContents()
        var sold: StoredCatalogue?
        if try await realm.catalogue.apps().contains(where: { $0.bundleID.value == app.bundleID }) {
            let stored = try await realm.catalogue.storedCatalogue(bundleID: app.bundleID)
            before = try stored.file(bundleID: app.bundleID).contents
            sold = stored
        }
        let removed = try await realm.catalogue.importCatalogue(
            CatalogueImport(file, overlay), app: description, .serve)
        for (id, path) in file.images.sorted(by: { $0.key < $1.key }) {
            guard let bytes = FileManager.default.contents(atPath: path) else { continue }
            let known = try? await realm.catalogue.image(id, bundleID: app.bundleID)
            guard known != [UInt8](bytes) else { continue }
            try await realm.catalogue.putImage(id, bundleID: app.bundleID, [UInt8](bytes), .serve)
        }
        let drafts = try await realm.catalogue.storedCatalogue(bundleID: app.bundleID).drafts(
            of: file)
        return before.differences(to: file.contents).map(\.description)
            + (sold?.differences(to: overlay) ?? []).map(\.line)
            + (drafts.map { ["! \($0)"] } ?? [])
            + removed.map { "! \($0): the product was removed, and stays so" }
    }
}

extension RequestContext {
    /// The author of the changes that `serve` itself makes.
    static let serve = RequestContext(requestID: "serve", actor: "serve")
}
