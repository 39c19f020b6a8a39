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

    /// What an import changed, and what it could not follow.
    struct Taken: Sendable {
        var differences: [String] = []
        var warnings: [String] = []
    }

    /// Imports the file at the start, and returns warnings. A file that was
    /// imported before is not imported again, so that later changes by operators
    /// stay. Without a file nothing is changed.
    func start() async throws -> [String] {
        let known = try await realm.catalogue.apps().first { $0.bundleID.value == app.bundleID }
        guard let file = app.file else {
            if known == nil {
                try await realm.catalogue.putCatalogue(app.catalogue, app: description)
            }
            return []
        }
        if let known, app.appID == nil || app.appID == known.appID {
            let stored = try await realm.catalogue.storedCatalogue(bundleID: app.bundleID)
            let isSame =
                stored.original?.file == file.bytes
                && stored.original?.overlay == app.overlay?.bytes
            if isSame { return try await warnings(file, app.overlay) }
        }
        return try await take(file, app.overlay).warnings
    }

    /// Imports the file.
    func take(_ file: CatalogueFile, _ overlay: CatalogueOverlay?) async throws -> Taken {
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
        return Taken(
            differences: before.differences(to: file.contents).map(\.description)
                + (sold?.differences(to: overlay) ?? []).map(\.line),
            warnings: removed.map { "\($0): the product was removed, and stays so" }
                + (try await warnings(file, overlay)))
    }

    /// The warnings of `catalogue import` that are not about the file alone.
    private func warnings(
        _ file: CatalogueFile, _ overlay: CatalogueOverlay?
    ) async throws -> [String] {
        let stored = try await realm.catalogue.storedCatalogue(bundleID: app.bundleID)
        let foreign = overlay?.warnings(
            images: Set(stored.imageIDs), catalogue: file.catalogue)
        return (foreign ?? []) + (stored.drafts(of: file).map { [$0] } ?? [])
    }
}

extension RequestContext {
    /// The author of the changes that `serve` itself makes.
    static let serve = RequestContext(requestID: "serve", actor: "serve")
}
