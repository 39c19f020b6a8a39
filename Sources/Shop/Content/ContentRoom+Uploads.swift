// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Uploads: they begin, receive pieces in order, and are completed. Each step may be
/// repeated after an interruption. A version is ready only when its bytes are checked
/// and durable, and is never replaced.
extension ContentRoom {
    /// Begins the upload of a version, or returns how far it has come, and whether the
    /// upload is new. Refusals, in
    /// order: `contentVersionInvalid`, `contentLengthInvalid`, `contentDigestInvalid`,
    /// `contentNotHosted`, `bundleIdUnknown`, `productIdUnknown`, `productRemoved`,
    /// `contentOfOtherType`, `contentVersionTaken`, `contentVersionRemoved`,
    /// `tooManyUploads`. Of a version that is ready, the bytes that the store has are read,
    /// and set aside if they are damaged.
    public func begin(
        _ request: BeginContentRequest, product: String, bundleID: String,
        _ context: RequestContext
    ) async throws -> (record: ContentRecord, isNew: Bool) {
        let key = try ContentKey(bundleID, product, request.version)
        try Self.check(request)
        let files = try files()
        _ = try await realm.catalogue.app(bundleID)
        let values = RealmSchema.contentVersions.row([
            "bundle_id": .text(bundleID), "product_id": .text(product),
            "version": .text(key.version), "state": .text(ContentState.processing.rawValue),
            "sha256": .text(request.sha256), "length": .integer(request.length),
            "made_at": .optional(realm.ports.wall.now),
        ])
        let (row, isNew) = try await realm.house(.rows, context) { house in
            let writing = house.writing
            try Self.checkProduct(key, writing)
            let isNew = try writing.first(Statement.Contents.begin, values) != nil
            guard let stored = try writing.first(Statement.Contents.one, key.values) else {
                throw StorageFault(.unreadable, "a version of content cannot be read back")
            }
            let row = try ContentRow(row: stored)
            guard isNew else {
                try Self.check(request, against: row)
                return .leave((row, false))
            }
            let count = try writing.first(Statement.Contents.countUploads)?.integer("uploads") ?? 0
            guard count <= Self.uploadsMax else { throw Self.tooManyUploads }
            try house.audit("content.begin", key.subject, before: nil, after: row.audited())
            return .commit((row, true))
        }
        if !isNew, row.state == .ready { try await setAsideIfDamaged(row, files, context) }
        return (try await record(row), isNew)
    }

    /// A client that uploads a version again may know that its bytes are damaged. They are read,
    /// and are missing from then on if they are.
    private func setAsideIfDamaged(
        _ row: ContentRow, _ files: any ContentFiles, _ context: RequestContext
    ) async throws {
        guard try await has(row, files) else { return }
        guard try await !files.isWhole(row.sha256, length: row.length) else { return }
        try await files.setAside(row.sha256)
        realm.ports.log(
            .warning, "damaged content set aside", context, ["content": row.key.subject])
    }

    /// Returns one version. With `readsBytes`, its bytes are missing if any of them is
    /// wrong. Refusals: `contentVersionInvalid`, `contentNotHosted`,
    /// `contentUnknown`.
    public func version(
        _ version: String, product: String, bundleID: String, readsBytes: Bool = false
    ) async throws -> ContentRecord {
        let files = try files()
        let row = try await row(try ContentKey(bundleID, product, version))
        var record = try await record(row)
        if readsBytes, row.state == .ready, record.isMissing != true,
            try await !files.isWhole(row.sha256, length: row.length)
        {
            record.isMissing = true
        }
        return record
    }

    /// Adds a piece to an upload. Refusals, in order: `contentVersionInvalid`,
    /// `pieceInvalid`, `contentNotHosted`, `contentUnknown`, `contentNotWanted`,
    /// `contentOffsetWrong`, `pieceBeyondEnd`, `contentBusy`.
    public func append(
        _ bytes: [UInt8], at offset: Int64, to version: String, product: String, bundleID: String
    ) async throws -> ContentRecord {
        let key = try ContentKey(bundleID, product, version)
        guard (1...Self.pieceBytesMax).contains(bytes.count), offset >= 0 else {
            throw Refusal(
                .badRequest, code: "pieceInvalid", "This is not a piece of an upload.",
                field: "body", rule: "1 to \(Self.pieceBytesMax) bytes, from the offset 0 on",
                remedy: "send a piece of the package")
        }
        let files = try files()
        let row = try await row(key)
        guard try await wantsBytes(row, files) else { throw Self.notWanted }
        switch try await files.append(bytes, at: offset, to: upload(row)) {
        case .appended(let received):
            var record = row.record
            record.received = received
            if row.state == .ready { record.isMissing = true }
            return record
        case .elsewhere(let received):
            throw Refusal(
                .conflict, code: "contentOffsetWrong", "The upload ends at byte \(received).",
                field: "offset", rule: "the number of bytes that the store has: \(received)",
                remedy: "continue at \(received)")
        case .beyond:
            throw Refusal(
                .badRequest, code: "pieceBeyondEnd",
                "The piece ends after the \(row.length) bytes that were announced.",
                field: "body", rule: "at most \(row.length - offset) bytes at this offset",
                remedy: "shorten the piece, or remove this upload and begin again with the "
                    + "package's length")
        case .busy: throw Self.busy
        }
    }

    private func wantsBytes(_ row: ContentRow, _ files: any ContentFiles) async throws -> Bool {
        switch row.state {
        case .processing: true
        case .ready: try await !has(row, files)
        case .removed: false
        }
    }

    private static func check(_ request: BeginContentRequest) throws {
        guard (1...packageBytesMax).contains(request.length) else {
            throw Refusal(
                .badRequest, code: "contentLengthInvalid", "No package has this length.",
                field: "length", rule: "1 to \(packageBytesMax) bytes",
                remedy: "divide the content among products")
        }
        guard ValueRule.packageDigest.admits(.text(request.sha256)) else {
            throw Refusal(
                .badRequest, code: "contentDigestInvalid", "This is not a SHA-256.",
                field: "sha256", rule: "64 hexadecimal digits in lower case",
                remedy: "send the digest of the package's file")
        }
    }

    private static func checkProduct(_ key: ContentKey, _ reading: any Reading) throws {
        let row = try reading.first(
            Statement.Catalogues.product, [.text(key.bundleID), .text(key.productID)])
        guard let row else { throw CatalogueRoom.unknownProduct }
        let listed = try ListedProduct(row: row)
        guard listed.listing.state != .removed else { throw CatalogueRoom.removedProduct }
        guard listed.product.type == .nonConsumable else {
            throw Refusal(
                .badRequest, code: "contentOfOtherType",
                "The product `\(key.productID)` cannot have content.", field: "productId",
                rule: "content belongs to products that are bought once",
                remedy: "choose a non-consumable product")
        }
    }

    /// Checks that a version which is there is the same.
    private static func check(_ request: BeginContentRequest, against row: ContentRow) throws {
        guard row.state != .removed else {
            throw Refusal(
                .conflict, code: "contentVersionRemoved", "This version was removed.",
                field: "version", rule: "what was removed stays removed",
                remedy: "give the package a higher ContentVersion")
        }
        guard row.sha256 == request.sha256, row.length == request.length else {
            let isReady = row.state == .ready
            throw Refusal(
                .conflict, code: "contentVersionTaken",
                "The product has other bytes under this version.", field: "sha256",
                rule: isReady
                    ? "a version is never replaced" : "an upload of a version has one package",
                remedy: isReady
                    ? "give the package a higher ContentVersion"
                    : "remove that upload, or give the package a higher ContentVersion")
        }
    }

    private static let tooManyUploads = Refusal(
        .conflict, code: "tooManyUploads", "The realm has too many uploads.",
        rule: "at most \(uploadsMax) that are not complete",
        remedy: "complete or remove one")

    private static let notWanted = Refusal(
        .conflict, code: "contentNotWanted", "The store wants no more bytes of this version.",
        field: "version", rule: "pieces belong to an upload that is not complete",
        remedy: "ask for the version's state")

    static let busy: Refusal = {
        var busy = Refusal(
            .conflict, code: "contentBusy", "Another request writes or checks this upload.",
            rule: "one at a time", remedy: "ask how far the upload is, and try again")
        busy.retryAfterSeconds = 1
        return busy
    }()
}
