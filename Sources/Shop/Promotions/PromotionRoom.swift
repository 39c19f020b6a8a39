// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Pictures
import Storage
public import StoreWire

/// Promoted products: those that an app's page shows, with a picture, in an order.
public struct PromotionRoom: Sendable {
    let realm: Realm

    /// The longest picture.
    public static let imageBytesMax = PromotionImage.bytesMax

    /// Returns an app's promoted products in the store's own order, including hidden
    /// ones. A removed product is not promoted any more. Refusals: `textInvalid`,
    /// `bundleIdUnknown`.
    public func list(bundleID: String) async throws -> PromotionRecords {
        _ = try await realm.catalogue.app(bundleID)
        let rows = try await realm.readHouse { try Self.rows(bundleID, $0) }
        return PromotionRecords(
            promotions: rows.enumerated().map { $1.record(at: $0 + 1) })
    }

    /// Promotes a product at the end of the list, or changes a promoted one. Without
    /// bytes the picture stays, and without a visibility the present one, which is
    /// `show` at first. Refusals, in order: `visibilityUnknown`, `promotionImageInvalid`,
    /// `bundleIdUnknown`, `productIdUnknown`, `productRemoved`, `promotionImageMissing`,
    /// `tooManyPromotions`.
    public func set(
        _ product: String, bundleID: String, image bytes: [UInt8], visibility: String?,
        _ context: RequestContext
    ) async throws -> PromotionRecord {
        try Edge.text(product, "productId")
        let isShown = try visibility.map(Self.isShown)
        let image = bytes.isEmpty ? nil : try Self.image(bytes)
        _ = try await realm.catalogue.app(bundleID)
        let change = PromotionChange(
            bundleID: bundleID, productID: product, isShown: isShown, image: image)
        return try await realm.house(.rows, context) { try change.write($0) }
    }

    /// Moves promoted products to the front, in this order. Refusals, in order:
    /// `bundleIdUnknown`, `entryTwice`, `promotionUnknown`.
    public func order(
        _ request: OrderPromotionsRequest, bundleID: String, _ context: RequestContext
    ) async throws -> PromotionRecords {
        _ = try await realm.catalogue.app(bundleID)
        let first = request.products
        guard Set(first).count == first.count else { throw Self.entryTwice }
        return try await realm.house(.rows, context) { house in
            let writing = house.writing
            try writing.execute(Statement.Catalogues.holdRevision, [])
            let rows = try Self.rows(bundleID, writing)
            let byID = Dictionary(rows.map { ($0.productID, $0) }) { first, _ in first }
            let moved = try first.map { id in
                guard let row = byID[id] else { throw Self.unknown("products") }
                return row
            }
            let all = moved + rows.filter { !first.contains($0.productID) }
            for (place, row) in all.enumerated() where row.place != place {
                try writing.execute(
                    Statement.Promotions.move,
                    [.text(bundleID), .text(row.productID), .integer(Int64(place))])
            }
            try house.audit(
                "promotion.order", bundleID, before: Self.audited(rows), after: Self.audited(all))
            return .commit(
                PromotionRecords(promotions: all.enumerated().map { $1.record(at: $0 + 1) }))
        }
    }

    /// Ends the promotion of a product. Refusals: `bundleIdUnknown`,
    /// `promotionUnknown`.
    public func remove(
        _ product: String, bundleID: String, _ context: RequestContext
    ) async throws {
        _ = try await realm.catalogue.app(bundleID)
        try Edge.text(product, "productId")
        try await realm.house(.rows, context) { house in
            let row = try Self.rows(bundleID, house.writing).first { $0.productID == product }
            guard let row,
                try house.writing.first(
                    Statement.Promotions.remove, [.text(bundleID), .text(product)]) != nil
            else { throw Self.unknown("productId") }
            try house.audit(
                "promotion.remove", "\(bundleID)/\(product)", before: row.audited, after: nil)
            return .commit(())
        }
    }

    /// Returns the picture of a promoted product, and its media type. Refusals:
    /// `bundleIdUnknown`, `promotionUnknown`.
    public func image(
        of product: String, bundleID: String
    ) async throws -> (bytes: [UInt8], type: String) {
        _ = try await realm.catalogue.app(bundleID)
        try Edge.text(product, "productId")
        let row = try await realm.readHouse {
            try $0.first(Statement.Promotions.image, [.text(bundleID), .text(product)])
        }
        guard let row else { throw Self.unknown("productId") }
        return (try row.blob("image"), "image/" + (try row.text("image_type")))
    }

    static func rows(_ bundleID: String, _ reading: any Reading) throws -> [PromotionRow] {
        try reading.query(Statement.Promotions.list, [.text(bundleID)])
            .map(PromotionRow.init(row:))
    }

    private static func audited(_ rows: [PromotionRow]) -> AuditFields {
        ["order": rows.map(\.productID).joined(separator: ", ")]
    }

    private static func isShown(_ word: String) throws -> Bool {
        switch word {
        case "show": return true
        case "hide": return false
        default:
            throw Refusal(
                .badRequest, code: "visibilityUnknown", "There is no such visibility.",
                field: "visibility", rule: "`show` or `hide`", remedy: "choose one of them")
        }
    }

    private static func image(_ bytes: [UInt8]) throws -> PromotionChange.Image {
        let sentence: String
        do throws(PromotionImage.Fault) {
            return PromotionChange.Image(
                format: try PromotionImage(bytes).format, bytes: bytes,
                sha256: hexadecimal(SHA256.hash(data: bytes)))
        } catch {
            sentence =
                switch error {
                case .tooLong: "The picture is too long."
                case .otherFormat: "This is not a PNG or JPEG."
                case .broken: "A part of the picture is missing or wrong."
                case .otherSize(let width, let height):
                    "The picture has \(width) × \(height) pixels."
                }
        }
        throw Refusal(
            .badRequest, code: "promotionImageInvalid", sentence, field: "body",
            rule: PromotionImage.rule, remedy: "save the picture again in this form")
    }

    static let entryTwice = Refusal(
        .badRequest, code: "entryTwice", "A product is listed twice.", field: "products",
        rule: "each product at most once", remedy: "leave one of them out")

    static func unknown(_ field: String) -> Refusal {
        Refusal(
            .notFound, code: "promotionUnknown", "The app does not promote this product.",
            field: field, rule: "one of the app's promoted products", remedy: "list them")
    }
}

extension Realm {
    /// Promoted products: those that an app's page shows, with a picture, in an order.
    public var promotions: PromotionRoom { PromotionRoom(realm: self) }
}

/// A promoted product as its row contains it, without the picture.
struct PromotionRow: Hashable, Sendable {
    let bundleID: String
    let productID: String
    let place: Int
    var isShown: Bool
    var imageType: String
    var imageLength: Int64
    var imageSHA256: String
    var changedAt: Timestamp

    init(row: Row) throws {
        bundleID = try row.text("bundle_id")
        productID = try row.text("product_id")
        place = Int(try row.integer("place"))
        isShown = try row.boolean("is_shown")
        imageType = try row.text("image_type")
        imageLength = try row.integer("image_length")
        imageSHA256 = try row.text("image_sha256")
        changedAt = Timestamp(milliseconds: try row.integer("changed_at"))
    }

    init(_ change: PromotionChange, _ image: PromotionChange.Image, place: Int, at wall: Timestamp)
    {
        bundleID = change.bundleID
        productID = change.productID
        self.place = place
        isShown = change.isShown ?? true
        imageType = image.format.rawValue
        imageLength = Int64(image.bytes.count)
        imageSHA256 = image.sha256
        changedAt = wall
    }

    func record(at position: Int) -> PromotionRecord {
        PromotionRecord(
            bundleId: bundleID, productId: productID, position: position,
            visibility: isShown ? "show" : "hide", imageType: "image/" + imageType,
            imageLength: imageLength, imageSha256: imageSHA256, changedDate: changedAt)
    }

    /// The start of the SHA-256 distinguishes two pictures of the same size.
    var audited: AuditFields {
        [
            "visibility": isShown ? "show" : "hide", "bytes": "\(imageLength)",
            "sha256": String(imageSHA256.prefix(16)),
        ]
    }
}

/// The commit that promotes a product or changes its promotion.
struct PromotionChange: Sendable {
    struct Image: Sendable {
        let format: PromotionImage.Format
        let bytes: [UInt8]
        let sha256: String
    }

    let bundleID: String
    let productID: String
    let isShown: Bool?
    let image: Image?

    private var key: [SQLValue] { [.text(bundleID), .text(productID)] }

    /// The catalogue's lock comes first, so that two requests cannot both be the
    /// twentieth.
    func write(_ house: HouseLine) throws -> Ending<PromotionRecord> {
        let writing = house.writing
        try writing.execute(Statement.Catalogues.holdRevision, [])
        guard let product = try writing.first(Statement.Catalogues.product, key) else {
            throw CatalogueRoom.unknownProduct
        }
        guard try product.text("state") != ReviewState.removed.rawValue else {
            throw CatalogueRoom.removedProduct
        }
        try writing.execute(Statement.Promotions.sweep, [.text(bundleID)])
        let rows = try PromotionRoom.rows(bundleID, writing)
        guard let index = rows.firstIndex(where: { $0.productID == productID }) else {
            let row = try add(after: rows, house)
            return .commit(row.record(at: rows.count + 1))
        }
        let row = try change(rows[index], house)
        return .commit(row.record(at: index + 1))
    }

    private func add(after rows: [PromotionRow], _ house: HouseLine) throws -> PromotionRow {
        guard let image else { throw Self.imageMissing }
        guard rows.count < Promotion.productsMax else { throw Self.tooMany }
        let row = PromotionRow(
            self, image, place: rows.last.map { $0.place + 1 } ?? 0, at: house.wall)
        try put(row, image, house)
        try house.audit(
            "promotion.set", "\(bundleID)/\(productID)", before: nil, after: row.audited)
        return row
    }

    private func change(_ before: PromotionRow, _ house: HouseLine) throws -> PromotionRow {
        var row = before
        if let isShown { row.isShown = isShown }
        if let image {
            row.imageType = image.format.rawValue
            row.imageLength = Int64(image.bytes.count)
            row.imageSHA256 = image.sha256
        }
        guard row != before else { return before }
        row.changedAt = house.wall
        if let image {
            try put(row, image, house)
        } else {
            try house.writing.execute(
                Statement.Promotions.show,
                key + [.boolean(row.isShown), .integer(house.wall.milliseconds)])
        }
        try house.audit(
            "promotion.set", "\(bundleID)/\(productID)", before: before.audited,
            after: row.audited)
        return row
    }

    private func put(_ row: PromotionRow, _ image: Image, _ house: HouseLine) throws {
        try house.writing.execute(
            Statement.Promotions.put,
            RealmSchema.promotions.row([
                "bundle_id": .text(bundleID), "product_id": .text(productID),
                "place": .integer(Int64(row.place)), "is_shown": .boolean(row.isShown),
                "image_sha256": .text(image.sha256), "image_type": .text(image.format.rawValue),
                "changed_at": .integer(row.changedAt.milliseconds), "image": .blob(image.bytes),
            ]))
    }

    private static let imageMissing = Refusal(
        .badRequest, code: "promotionImageMissing", "A promoted product needs a picture.",
        field: "body", rule: PromotionImage.rule, remedy: "send the picture")

    private static let tooMany = Refusal(
        .conflict, code: "tooManyPromotions",
        "The app promotes \(Promotion.productsMax) products already.", field: "productId",
        rule: "at most \(Promotion.productsMax) products of an app",
        remedy: "remove the promotion of another product first")
}
