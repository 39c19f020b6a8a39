// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// Customers' choices of products on the store's page.
extension RealmSchema {
    /// The id of a choice is also the id of the purchase that follows. `revision` is the
    /// customer's at the last change that devices wait for. `device_uuid` is the device
    /// that has taken it up, since `asked_at`. The dates are wall time.
    static let purchaseIntents = Table(
        "purchase_intents", key: ["customer_id", "intent_id"], as: .tree,
        [
            "customer_id": .customer, "intent_id": .uuid, "bundle_id": .bundleID,
            "product_id": .id, "state": .word(PurchaseIntentState.allCases.map(\.rawValue)),
            "revision": .count, "made_at": .time, "expires_at": .time,
            "device_uuid": .uuid.optional, "asked_at": .time.optional,
            "settled_at": .time.optional,
        ],
        indexes: [
            .unique(
                "purchase_intents_open", on: ["customer_id", "bundle_id", "product_id"],
                where: "state = 'waiting' OR state = 'asked'")
        ],
        references: [
            ofCustomer, ofApp, .init(["bundle_id", "product_id"], to: "products"),
        ],
        check: { row in
            let state = try? PurchaseIntentState(rawValue: row.text("state"))
            let isSettled = (try? row.optionalInteger("settled_at")) != nil
            return state?.isOpen == !isSettled
                ? nil : BrokenRule("settled_at", "a date of a choice that is not open")
        })
}
