// SPDX-License-Identifier: Apache-2.0

public import CatalogueFile
public import CatalogueOverlay
import Commerce
import HTTPShell
import Hummingbird
public import Shop
public import StoreWire
import StrictJSON

/// The part of the operators' door for apps and their catalogues.
struct CatalogueDoor: Sendable {
    let realm: Realm
    let call: Call

    /// A file may have 16 MiB, and JSON may encode a character as several.
    private static let documentBytesMax = 40 * 1024 * 1024

    init(_ visit: Visit) {
        realm = visit.realm
        call = visit.call
    }

    /// Deletes an image that no file refers to.
    func deleteImage(_ id: String, of bundleID: String) async throws -> Response {
        try await realm.catalogue.deleteImage(id, bundleID: bundleID, call.context) {
            try $0.places(ofImage: id, bundleID: bundleID)
        }
        return .done
    }

    /// Returns the current catalogue as a file: the imported one with the
    /// changes since then.
    func read(_ bundleID: String) async throws -> Response {
        let stored = try await realm.catalogue.storedCatalogue(bundleID: bundleID)
        let file = try stored.file(bundleID: bundleID)
        return try .json(
            CatalogueDocument(
                name: file.name, file: String(decoding: file.bytes, as: UTF8.self),
                overlay: try stored.overlay(bundleID: bundleID, beside: file),
                images: stored.imageIDs, icon: stored.icon))
    }

    /// Imports a catalogue file.
    func put(_ bundleID: String) async throws -> Response {
        let bytes = try await call.jsonBytes(max: Self.documentBytesMax)
        let given = try StrictJSON.decode(
            CatalogueDocument.self, from: bytes, bytesMax: Self.documentBytesMax)
        let known = try await realm.catalogue.apps().first { $0.bundleID.value == bundleID }
        var images: [String] = []
        var before = CatalogueContents()
        var sold: StoredCatalogue?
        if known != nil {
            let stored = try await realm.catalogue.storedCatalogue(bundleID: bundleID)
            images = stored.imageIDs
            sold = stored
            before = try stored.file(bundleID: bundleID).contents
        }
        let (file, overlay) = try Self.read(given, images: images)
        try Self.check(overlay, isOf: bundleID)
        let removed = try await realm.catalogue.importCatalogue(
            CatalogueImport(file, overlay),
            app: AppDescription(
                bundleID: BundleID(bundleID), appID: overlay?.appID, name: overlay?.appName),
            call.context)
        let sells = try await realm.catalogue.hasBegunToSell(bundleID)
        let differences = before.differences(to: file.contents).map(CatalogueChange.init)
        let approved = try await approved(differences, overlay, bundleID)
        let drafts = try await realm.catalogue.storedCatalogue(bundleID: bundleID).drafts(of: file)
        let foreign = overlay?.warnings(images: Set(images), catalogue: file.catalogue) ?? []
        return try .json(
            CatalogueImported(
                bundleId: bundleID, products: file.catalogue.products.count,
                differences: differences
                    + (sold?.differences(to: overlay) ?? []),
                warnings: (file.warnings + file.unobeyed).map(\.description)
                    + foreign + removed.map { "\($0): the product was removed, and stays so" }
                    + (drafts.map { [$0] } ?? []) + approved
                    + (sells ? [] : [Self.awaitsVersion])))
    }

    /// Returns notes about what an import into production approves by itself. A
    /// file cannot express drafts, even if it was exported from a catalogue
    /// with drafts.
    private func approved(
        _ differences: [CatalogueChange], _ overlay: CatalogueOverlay?, _ bundleID: String
    ) async throws -> [String] {
        guard realm.description.environment == .production else { return [] }
        let listings = try await realm.catalogue.storedCatalogue(bundleID: bundleID).listings
        let approved = differences.filter { $0.kind == CatalogueDifference.Kind.added.rawValue }
            .compactMap { $0.productId.map { ProductID($0) } }
            .filter { overlay?.listings[$0] == nil && listings[$0]?.state == .approved }
            .map(\.value)
        guard !approved.isEmpty else { return [] }
        let named = approved.prefix(10).joined(separator: ", ")
        let more = approved.count > 10 ? " and \(approved.count - 10) more" : ""
        return [
            "approved, because no overlay gives another state: \(named)\(more); `state: ready` in an "
                + "overlay keeps a product back"
        ]
    }

    private static let awaitsVersion =
        "nothing is sold yet: production sells an app's first product with a version of the app; "
        + "make one that a product comes with, and put it live (`app version add 1.0 --product "
        + "PRODUCT`, `app version live 1.0`)"

    private static func check(_ overlay: CatalogueOverlay?, isOf bundleID: String) throws {
        guard let own = overlay?.bundleID, own != bundleID else { return }
        throw Refusal(
            .badRequest, code: "overlayOfAnotherApp", "The overlay is another app's.",
            field: "overlay", rule: "its app.bundleId, where it has one, is that of the address",
            remedy: "import it as \(own)")
    }

    /// Reports all errors of a file in one answer.
    private static func read(
        _ given: CatalogueDocument, images: [String]
    ) throws -> (CatalogueFile, CatalogueOverlay?) {
        do throws(CatalogueFileFault) {
            let file = try CatalogueFile(
                json: Array(given.file.utf8), name: given.name, images: images)
            guard let overlay = given.overlay else { return (file, nil) }
            let name = given.name + CatalogueOverlay.suffix
            return (file, try CatalogueOverlay(yaml: Array(overlay.utf8), name: name))
        } catch {
            throw Refusal(
                .badRequest, code: "catalogueInvalid", error.description, field: "file",
                rule: "a .storekit file that holds products",
                remedy: "mend the places named and try again")
        }
    }
}

extension StoredCatalogue {
    /// Returns the imported file with the changes since then, or a new file if
    /// there is none that can be read. A restored backup may hold any bytes.
    public func file(bundleID: String) throws -> CatalogueFile {
        if let original, let file = try? changed(original) { return file }
        return try CatalogueFile.new(selling: catalogue, name: "\(bundleID).storekit")
            .offering(groups, terms)
    }

    private func changed(_ original: CatalogueOriginal) throws -> CatalogueFile {
        let file = try CatalogueFile(
            json: original.file, name: original.name, images: imageIDs)
        var now = catalogue
        now.appID = file.catalogue.appID
        // A price that is in the file and that an overlay disables is not a
        // change.
        let named = Set(file.catalogue.products.map(\.id))
        now.unpriced.subtract(named.subtracting(file.catalogue.unpriced))
        return try file.selling(now).offering(groups, terms)
    }
}

extension StoredCatalogue {
    /// Returns where the app's files refer to an image, for messages.
    func places(ofImage id: String, bundleID: String) throws -> [String] {
        let shown = try file(bundleID: bundleID).imageUsers[id] ?? []
        var places = shown.map { "the catalogue file for `\($0)`" }
        guard let overlay = importedOverlay() else { return places }
        places += overlay.listings.filter { $0.value.images.contains(id) }
            .map { "the overlay for `\($0.key)`" }.sorted()
        return places
    }
}

extension CatalogueImport {
    /// Makes the import from a file and its overlay, with their bytes.
    public init(_ file: CatalogueFile, _ overlay: CatalogueOverlay? = nil) {
        self.init(
            file.catalogue, settings: file.contents.settings,
            listings: overlay?.listings ?? [:],
            original: CatalogueOriginal(
                name: file.name, file: file.bytes, overlay: overlay?.bytes))
        groups = file.contents.groups
        terms = file.contents.terms
    }
}

extension CatalogueChange {
    public init(_ difference: CatalogueDifference) {
        self.init(
            kind: difference.kind.rawValue, productId: difference.product?.value,
            field: difference.field, before: difference.before, after: difference.after,
            line: difference.description)
    }
}
