// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Pictures
import Storage

/// Images of an app's products. Each change is audited.
extension CatalogueRoom {
    /// The size of the largest image, in bytes.
    public static let imageBytesMax = RealmSchema.imageBytesMax

    /// Stores an image of an app, or replaces the one with the same id.
    /// Refusals, in order: `bundleIdUnknown`, `imageIdInvalid`, `imageInvalid`, and for the
    /// icon of the app's page `iconInvalid`.
    public func putImage(
        _ imageID: String, bundleID: String, _ bytes: [UInt8], _ context: RequestContext
    ) async throws {
        _ = try await app(bundleID)
        try CatalogueRules.checkImageID(imageID)
        guard bytes.count <= Self.imageBytesMax, AppImage.isSound(bytes) else {
            throw Refusal(
                .badRequest, code: "imageInvalid", "The store does not accept this image.",
                field: "body",
                rule: "a whole PNG of at most \(Self.imageBytesMax) bytes, and at most "
                    + "\(AppImage.sideMax) pixels wide and high",
                remedy: "save it as PNG, and smaller")
        }
        try await realm.house(.rows, context) { house in
            let key: [SQLValue] = [.text(bundleID), .text(imageID)]
            let page = try house.writing.first(Statement.AppPages.one, [.text(bundleID)])
            if try page?.optionalText("image_id") == imageID { try Self.checkIcon(bytes) }
            let before = try house.writing.first(Statement.Catalogues.image, key)?
                .blob("contents")
            try house.writing.execute(Statement.Catalogues.putImage, key + [.blob(bytes)])
            try house.audit(
                "image.put", "\(bundleID)/\(imageID)",
                before: before.map(Self.audited), after: Self.audited(bytes))
            return .commit(())
        }
    }

    /// Deletes an image of an app if nothing uses it. The store does not read
    /// catalogue files, so `namedBy` returns where the app's files refer to the
    /// image, as text. It is called again if the catalogue changes in the
    /// meantime. Refusals, in order: `bundleIdUnknown`, `imageIdInvalid`,
    /// `imageUnknown`, `imageInUse`, `catalogueBusy`.
    public func deleteImage(
        _ imageID: String, bundleID: String, _ context: RequestContext,
        namedBy: @Sendable (StoredCatalogue) async throws -> [String] = { _ in [] }
    ) async throws {
        for _ in 0..<Self.imageTriesMax {
            let shelf = try await realm.loadShelf()
            let stored = try await storedCatalogue(bundleID: bundleID)
            try CatalogueRules.checkImageID(imageID)
            let users =
                (shelf.apps[BundleID(bundleID)]?.products(shownBy: imageID) ?? [])
                + (try await namedBy(stored))
            let deletion = ImageDeletion(
                bundleID: bundleID, imageID: imageID, users: users, revision: shelf.revision)
            if try await realm.house(.rows, context, { try deletion.write($0) }) { return }
        }
        throw Refusal(
            .conflict, code: "catalogueBusy", "The catalogue changes all the time.",
            field: "imageId", rule: "nothing may begin to use an image while it is deleted",
            remedy: "try again")
    }

    /// How often a deletion checks the uses of the image.
    private static let imageTriesMax = 5

    /// Returns an image's bytes. Refusals, in order: `bundleIdUnknown`,
    /// `imageIdInvalid`, `imageUnknown`.
    public func image(_ imageID: String, bundleID: String) async throws -> [UInt8] {
        _ = try await app(bundleID)
        try CatalogueRules.checkImageID(imageID)
        let row = try await realm.readHouse { reading in
            try reading.first(Statement.Catalogues.image, [.text(bundleID), .text(imageID)])
        }
        guard let row else { throw Self.imageUnknown(imageID) }
        return try row.blob("contents")
    }

    /// The start of the SHA-256 distinguishes two images of the same size.
    fileprivate static func audited(_ image: [UInt8]) -> AuditFields {
        [
            "bytes": "\(image.count)",
            "sha256": String(hexadecimal(SHA256.hash(data: image)).prefix(16)),
        ]
    }

    static func imageUnknown(_ id: String, _ field: String = "imageId") -> Refusal {
        Refusal(
            .notFound, code: "imageUnknown", "The app has no image `\(id)`.", field: field,
            rule: "one that was put before", remedy: "list the images, or put it first")
    }
}

/// The commit that deletes an image. May run twice.
private struct ImageDeletion: Sendable {
    /// Further users are counted and not named.
    static let namedUsersMax = 10

    let bundleID: String
    let imageID: String
    let users: [String]
    /// The catalogue's revision for which `users` was determined.
    let revision: Int64

    /// Leaves with false if the catalogue has changed since.
    func write(_ house: HouseLine) throws -> Ending<Bool> {
        let writing = house.writing
        let key: [SQLValue] = [.text(bundleID), .text(imageID)]
        guard let now = try writing.first(Statement.Catalogues.holdRevision, []) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        guard try now.integer("catalogue_revision") == revision else { return .leave(false) }
        guard let image = try writing.first(Statement.Catalogues.image, key) else {
            throw CatalogueRoom.imageUnknown(imageID)
        }
        let page = try writing.first(Statement.AppPages.one, [.text(bundleID)])
        let isIcon = try page?.optionalText("image_id") == imageID
        let users = users + (isIcon ? ["the app's page"] : [])
        guard users.isEmpty else { throw inUse(users) }
        try writing.execute(Statement.Catalogues.deleteImage, key)
        try house.audit(
            "image.delete", "\(bundleID)/\(imageID)",
            before: CatalogueRoom.audited(try image.blob("contents")), after: nil)
        return .commit(true)
    }

    private func inUse(_ users: [String]) -> Refusal {
        let more = users.count - Self.namedUsersMax
        let named =
            users.prefix(Self.namedUsersMax).joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
        return Refusal(
            .conflict, code: "imageInUse", "The image `\(imageID)` is used by \(named).",
            field: "imageId", rule: "an image that nothing uses may be deleted",
            remedy: "show those by another image, or by none, in the file where it names it")
    }
}

extension Shelf.App {
    /// The products that an image shows, including withdrawn ones, as text.
    func products(shownBy image: String) -> [String] {
        byID.values.filter { $0.listing.state != .removed && $0.listing.images.contains(image) }
            .map { "product `\($0.product.id)`" }.sorted()
    }
}
