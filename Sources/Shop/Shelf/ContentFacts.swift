// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// A version of content that can be delivered.
struct ContentFacts: Hashable, Sendable {
    let productID: ProductID
    let version: ContentVersion
    let length: Int64
    let sha256: String

    init(row: Row) throws {
        guard let version = ContentVersion(try row.text("version")) else {
            throw StorageFault(.malformedRow, "a version of content that cannot be read")
        }
        self.version = version
        productID = ProductID(try row.text("product_id"))
        length = try row.integer("length")
        sha256 = try row.text("sha256")
    }

    /// The content on the wire.
    var described: ContentDescription {
        ContentDescription(version: version.description, length: length, sha256: sha256)
    }
}

extension Shelf {
    /// Returns the newest content of each app's products.
    static func newestContent(
        _ reading: any Reading
    ) throws -> [BundleID: [ProductID: ContentFacts]] {
        var newest: [BundleID: [ProductID: ContentFacts]] = [:]
        for row in try reading.query(Statement.Contents.ready, []) {
            let facts = try ContentFacts(row: row)
            let app = BundleID(try row.text("bundle_id"))
            if let known = newest[app]?[facts.productID], known.version > facts.version { continue }
            newest[app, default: [:]][facts.productID] = facts
        }
        return newest
    }

    /// Returns the content of a product as devices see it. Nil if the store
    /// hosts none.
    func content(of product: ProductID, in app: BundleID) -> ContentDescription? {
        guard let app = apps[app], app.byID[product]?.product.type == .nonConsumable else {
            return nil
        }
        return app.content[product]?.described
    }
}
