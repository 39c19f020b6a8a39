// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Changes every subscription to a product: exactly one of `extendByDays` and
/// `price`.
public struct BulkChangeRequest: Hashable, Sendable, Codable {
    /// A UUID. The same request under the same id has no effect. The store draws one
    /// if it is missing.
    public var requestId: String?
    public var productId: String
    /// Only customers in these storefronts (alpha-3). If missing, those of all
    /// storefronts, and for a price those whose price is in the currency of the
    /// app's storefront.
    public var storefronts: [String]?
    /// 1 to 90.
    public var extendByDays: Int?
    /// A higher price.
    public var price: RaisePriceRequest?

    public init(
        requestId: String? = nil, productId: String, storefronts: [String]? = nil,
        extendByDays: Int? = nil, price: RaisePriceRequest? = nil
    ) {
        self.requestId = requestId
        self.productId = productId
        self.storefronts = storefronts
        self.extendByDays = extendByDays
        self.price = price
    }
}

/// A change of every subscription to a product, and how far it has come.
public struct BulkChangeRecord: Hashable, Sendable, Codable {
    public var requestId: String
    public var bundleId: String
    public var productId: String
    public var storefronts: [String]?
    public var extendByDays: Int?
    public var price: RaisePriceRequest?
    /// ISO 4217, of `price`.
    public var currency: String?
    public var requestDate: Timestamp
    /// Missing until every subscription was visited.
    public var completeDate: Timestamp?
    public var succeededCount: Int64
    /// How many could not be changed, such as those whose renewal is unpaid.
    public var failedCount: Int64

    public init(
        requestId: String, bundleId: String, productId: String, storefronts: [String]?,
        requestDate: Timestamp, completeDate: Timestamp?, succeededCount: Int64,
        failedCount: Int64
    ) {
        self.requestId = requestId
        self.bundleId = bundleId
        self.productId = productId
        self.storefronts = storefronts
        self.requestDate = requestDate
        self.completeDate = completeDate
        self.succeededCount = succeededCount
        self.failedCount = failedCount
    }
}

/// A page of an app's changes.
public struct BulkChangeList: Hashable, Sendable, Codable {
    public var changes: [BulkChangeRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(changes: [BulkChangeRecord], next: String? = nil) {
        self.changes = changes
        self.next = next
    }
}

/// Chooses the product of a subscription's next period.
public struct ChooseProductRequest: Hashable, Sendable, Codable {
    public var productId: String

    public init(productId: String) {
        self.productId = productId
    }
}
