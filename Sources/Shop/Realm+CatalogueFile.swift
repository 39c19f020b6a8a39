// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage

/// What an app sells now, beside the file that it came from.
public struct StoredCatalogue: Sendable {
    /// On sale, drafts included; neither withdrawn nor removed.
    public let catalogue: Catalogue
    public let listings: [ProductID: Listing]
    public let settings: SandboxSettings
    /// Nil where no file was ever imported.
    public let original: CatalogueOriginal?
    public let imageIDs: [String]
    /// Those that a file or an operator has told; nil where nobody has.
    public let groups: [SubscriptionGroup]?
    public let terms: [ProductID: SubscriptionTerms]
}

extension Realm {
    /// The largest image of a product, in bytes.
    public static let imageBytesMax = 8 * 1024 * 1024

    /// What an app sells now, and its file. Refusal: `bundleIdUnknown`.
    public func storedCatalogue(bundleID: String) async throws -> StoredCatalogue {
        let app = try await app(bundleID)
        let bundle = SQLValue.text(bundleID)
        let (file, images) = try await storage.read { reading in
            (
                try reading.first(Statement.Catalogues.file, [bundle]),
                try reading.query(Statement.Catalogues.images, [bundle])
            )
        }
        let original = try file.map {
            CatalogueOriginal(
                name: try $0.text("name"), file: try $0.blob("contents"),
                overlay: try $0.optionalBlob("overlay"))
        }
        return StoredCatalogue(
            catalogue: Catalogue(
                products: app.products, storefront: app.storefront, locale: app.locale,
                appID: app.appID),
            listings: app.listings, settings: app.settings, original: original,
            imageIDs: try images.map { try $0.text("image_id") },
            groups: app.toldGroups.isEmpty
                ? nil : app.groups.filter { app.toldGroups.contains($0.id) }, terms: app.terms)
    }

    /// Keeps an image of an app, in place of one of the same id. Refusals, in
    /// order: `bundleIdUnknown`, `imageIdInvalid`, `imageInvalid`.
    public func putImage(
        _ imageID: String, bundleID: String, _ bytes: [UInt8], _ context: RequestContext
    ) async throws {
        _ = try await app(bundleID)
        try Self.checkImageID(imageID)
        guard bytes.starts(with: Self.pngStart), bytes.count <= Self.imageBytesMax else {
            throw Refusal(
                .badRequest, code: "imageInvalid", "This is no image that the store keeps.",
                field: "body", rule: "a PNG of at most \(Self.imageBytesMax) bytes",
                remedy: "save it as PNG, and smaller")
        }
        let (wall, who) = (ports.wall.now, context.actor)
        try await storage.write { writing in
            let key: [SQLValue] = [.text(bundleID), .text(imageID)]
            let before = try writing.first(Statement.Catalogues.image, key)?.blob("contents")
            let entry = AuditEntry(
                who: who, wall: wall, deed: "image.put", subject: "\(bundleID)/\(imageID)",
                before: before.map { "\($0.count) bytes" }, after: "\(bytes.count) bytes")
            try writing.execute(
                Statement.Catalogues.putImage,
                [.text(bundleID), .text(imageID), .blob(bytes)])
            try entry.write(writing)
        }
    }

    /// An image's bytes. Refusals, in order: `bundleIdUnknown`,
    /// `imageIdInvalid`, `imageUnknown`.
    public func image(_ imageID: String, bundleID: String) async throws -> [UInt8] {
        _ = try await app(bundleID)
        try Self.checkImageID(imageID)
        let row = try await storage.read { reading in
            try reading.first(Statement.Catalogues.image, [.text(bundleID), .text(imageID)])
        }
        guard let row else {
            throw Refusal(
                .notFound, code: "imageUnknown", "The app has no such image.",
                field: "imageId", rule: "one that was put before", remedy: "put it first")
        }
        return try row.blob("contents")
    }

    /// An app of this realm. Refusals: `textInvalid`, `bundleIdUnknown`.
    func app(_ bundleID: String) async throws -> Shelf.App {
        try Edge.text(bundleID, "bundleId")
        guard let app = try await loadShelf().apps[BundleID(bundleID)] else {
            throw Self.unknownApp
        }
        return app
    }

    private static let pngStart: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func checkImageID(_ id: String) throws {
        guard isID(id) else {
            throw Refusal(
                .badRequest, code: "imageIdInvalid", "This is no image's id.",
                field: "imageId", rule: "1 to 100 of letters, digits, `-`, `.` and `_`",
                remedy: "name it as the file's promotionalImageID does")
        }
    }

    /// What ids of an operator's making are: 1 to 100 of `A`–`Z`, `a`–`z`,
    /// `0`–`9`, `-`, `.` and `_`.
    static func isID(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0)
                    || $0 == 45 || $0 == 46 || $0 == 95
            }
    }
}
