// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// Hosted content. The rows are at the home, and each cluster has a copy. The bytes
/// are files (``ContentFiles``), which several stores may share.
extension RealmSchema {
    /// The longest package: 2 GiB, which is the limit of Apple's store.
    static let contentBytesMax: Int64 = 2 << 30

    /// Versions of products' content. A version is never replaced, and a removed one
    /// stays, so that its number is not used again. How much of an upload is there is
    /// known by its file alone. The dates are wall time.
    static let contentVersions = Table(
        "content_versions", key: ["bundle_id", "product_id", "version"],
        [
            "bundle_id": .bundleID, "product_id": .id, "version": .contentVersion,
            "state": .word(ContentState.allCases.map(\.rawValue)), "sha256": .packageDigest,
            "length": .integer(1...contentBytesMax), "made_at": .time, "ready_at": .time.optional,
            "removed_at": .time.optional,
        ],
        references: [ofApp, .init(["bundle_id", "product_id"], to: "products")],
        check: { row in
            let isRight =
                (try? ContentState(rawValue: row.text("state"))?.hasDates(
                    ready: row.optionalInteger("ready_at") != nil,
                    removed: row.optionalInteger("removed_at") != nil)) == true
            return isRight ? nil : BrokenRule("state", "the dates of its state, and no others")
        })
}

/// The states of a version of content.
enum ContentState: String, CaseIterable, Sendable {
    /// Its bytes are uploaded, or checked.
    case processing
    /// Its bytes are checked and durable.
    case ready
    /// It was ready, and is not delivered any more.
    case removed

    /// Whether a row in this state has these dates.
    func hasDates(ready: Bool, removed: Bool) -> Bool {
        switch self {
        case .processing: !ready && !removed
        case .ready: ready && !removed
        case .removed: ready && removed
        }
    }
}

extension ValueRule {
    /// The SHA-256 of a package.
    static let packageDigest = hex(64...64)
    static let contentVersion = text(ContentVersion.rule) { ContentVersion($0) != nil }
}
