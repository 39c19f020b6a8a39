// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Storage
import StoreWire

/// Hosted content: packages that the store delivers to customers of a product.
public struct ContentRoom: Sendable {
    let realm: Realm

    /// The most uploads of a realm at once.
    static let uploadsMax = 100
    /// The longest piece of an upload. It is held in memory.
    public static let pieceBytesMax = 1 << 20
    /// The longest package.
    public static let packageBytesMax = RealmSchema.contentBytesMax
    /// How long an upload waits for its next piece. In wall time.
    static let uploadKeptSeconds: Int64 = 7 * 86_400
    /// How long a request waits for a check. Then it is to be repeated.
    static let checkWaitSeconds = 20

    /// Where the packages are. Refusal: `contentNotHosted`.
    func files() throws -> any ContentFiles {
        guard let files = realm.ports.content else {
            throw Refusal(
                .notImplemented, code: "contentNotHosted", "This store hosts no content.",
                rule: "packages are kept in a folder",
                remedy: "serve the store with a data directory, or name a --content-folder")
        }
        return files
    }

    /// Returns the version of a row. Refusal: `contentUnknown`.
    func row(_ key: ContentKey) async throws -> ContentRow {
        let values = key.values
        let row = try await realm.readHouse { try $0.first(Statement.Contents.one, values) }
        guard let row else { throw Self.unknown }
        return try ContentRow(row: row)
    }

    /// Returns a version for operators, with what is known of its bytes.
    func record(_ row: ContentRow) async throws -> ContentRecord {
        var record = row.record
        let files = try files()
        switch row.state {
        case .processing:
            let received = try await files.received(upload(row))
            var isThere = false
            if received == 0 { isThere = try await has(row, files) }
            record.received = isThere ? row.length : received
        case .ready:
            guard try await !has(row, files) else { break }
            record.isMissing = true
            record.received = try await files.received(upload(row))
        case .removed: break
        }
        return record
    }

    /// Whether the bytes of a version are there.
    func has(_ row: ContentRow, _ files: any ContentFiles) async throws -> Bool {
        try await files.length(of: row.sha256) == row.length
    }

    /// The upload of a version. Realms and stores that share a folder have uploads of
    /// their own, so that none can spoil another's.
    func upload(_ row: ContentRow) -> ContentUpload {
        let words = [row.key.bundleID, row.key.productID, row.key.version, row.sha256]
        let digest = SHA256.hash(data: Data(words.joined(separator: "\n").utf8))
        return ContentUpload(
            name: "\(realm.description.id).\(hexadecimal(digest).prefix(32))",
            sha256: row.sha256, length: row.length)
    }

    static let unknown = Refusal(
        .notFound, code: "contentUnknown", "The product has no content of this version.",
        field: "version", rule: "a version whose upload was begun",
        remedy: "list the versions, or begin the upload")
}

extension Realm {
    /// Hosted content: packages that the store delivers to customers of a product.
    public var content: ContentRoom { ContentRoom(realm: self) }
}

/// Which version of which product.
struct ContentKey: Hashable, Sendable {
    let bundleID: String
    let productID: String
    let version: String

    /// Refusals: `textInvalid`, `textTooLong`, `contentVersionInvalid`.
    init(_ bundleID: String, _ productID: String, _ version: String) throws {
        try Edge.text(bundleID, "bundleId")
        try Edge.text(productID, "productId")
        guard ContentVersion(version) != nil else {
            throw Refusal(
                .badRequest, code: "contentVersionInvalid", "This is not a version of content.",
                field: "version", rule: ContentVersion.rule,
                remedy: "send the ContentVersion of the package's ContentInfo.plist")
        }
        (self.bundleID, self.productID, self.version) = (bundleID, productID, version)
    }

    fileprivate init(row: Row) throws {
        bundleID = try row.text("bundle_id")
        productID = try row.text("product_id")
        version = try row.text("version")
    }

    var values: [SQLValue] { [.text(bundleID), .text(productID), .text(version)] }

    /// For the audit.
    var subject: String { "\(bundleID)/\(productID)/\(version)" }
}

/// A version as its row contains it.
struct ContentRow: Sendable {
    let key: ContentKey
    let state: ContentState
    let sha256: String
    let length: Int64
    let madeAt: Timestamp
    let readyAt: Timestamp?
    let removedAt: Timestamp?

    init(row: Row) throws {
        func date(_ column: String) throws -> Timestamp? {
            try row.optionalInteger(column).map(Timestamp.init(milliseconds:))
        }
        guard let state = ContentState(rawValue: try row.text("state")) else {
            throw StorageFault(.malformedRow, "a version of content in no known state")
        }
        key = try ContentKey(row: row)
        self.state = state
        sha256 = try row.text("sha256")
        length = try row.integer("length")
        madeAt = Timestamp(milliseconds: try row.integer("made_at"))
        readyAt = try date("ready_at")
        removedAt = try date("removed_at")
    }

    var record: ContentRecord {
        ContentRecord(
            bundleId: key.bundleID, productId: key.productID, version: key.version,
            state: state.rawValue, length: length, sha256: sha256, createdDate: madeAt,
            readyDate: readyAt, removedDate: removedAt)
    }

    /// For the audit, in a state.
    func audited(_ state: ContentState? = nil) -> AuditFields {
        [
            "state": (state ?? self.state).rawValue, "bytes": "\(length)",
            "sha256": String(sha256.prefix(16)),
        ]
    }
}
