// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// Changes of every subscription to a product.
extension RealmSchema {
    /// At the home: what was requested under an id, and how far it has come. `body` is
    /// the ``BulkChange`` as JSON, and `cursor` the last subscription that was
    /// visited. The counts are those of ``bulkMarks`` when it was complete.
    static let bulkChanges = Table(
        "bulk_changes", key: ["bundle_id", "request_id"],
        [
            "bundle_id": .bundleID, "request_id": .uuid, "product_id": .id, "body": .json,
            "asked_at": .time, "cursor": .text("two numbers, joined by `.`", isCursor).optional,
            "completed_at": .time.optional, "succeeded": .count.optional,
            "failed": .count.optional,
        ],
        references: [ofApp, .init(["bundle_id", "product_id"], to: "products")])

    /// With its customer: that a change has come to a subscription, and whether it
    /// could be made. The key keeps it from being made twice. `request_id` also
    /// stands for a merchant's request about one subscription.
    static let bulkMarks = Table(
        "bulk_marks", key: ["customer_id", "bundle_id", "request_id", "subscription_id"],
        as: .tree,
        [
            "customer_id": .customer, "bundle_id": .bundleID, "request_id": .uuid,
            "subscription_id": .number(.transaction), "is_done": .flag, "revision": .count,
        ],
        references: [
            ofCustomer, ofApp, .init(["customer_id", "subscription_id"], to: "subscriptions"),
        ])

    private static func isCursor(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { Edge.number(String($0)) != nil }
    }
}
