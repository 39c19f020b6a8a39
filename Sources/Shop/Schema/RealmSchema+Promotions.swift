// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Pictures
import Storage

/// Promoted products. An app's are at the home. What a device overrides is a fact of its
/// customer.
extension RealmSchema {
    /// `place` is the position in the store's own order.
    static let promotions = Table(
        "promotions", key: ["bundle_id", "product_id"],
        [
            "bundle_id": .bundleID, "product_id": .id, "place": .place, "is_shown": .flag,
            "image_sha256": .packageDigest,
            "image_type": .word(PromotionImage.Format.allCases.map(\.rawValue)),
            "changed_at": .time,
            "image": .blob(bytes: 1...PromotionImage.bytesMax, " of \(PromotionImage.rule)") {
                (try? PromotionImage(Array($0), readsPixels: false)) != nil
            },
        ], references: [ofApp, .init(["bundle_id", "product_id"], to: "products")])

    /// `place` is the position in the device's own order, and null for a product that is
    /// not in it. `is_shown` is null where the store decides.
    static let promotionOverrides = Table(
        "promotion_overrides", key: ["customer_id", "bundle_id", "device_uuid", "product_id"],
        as: .tree,
        [
            "customer_id": .customer, "bundle_id": .bundleID, "device_uuid": .uuid,
            "product_id": .id, "place": .place.optional, "is_shown": .flag.optional,
        ],
        references: [
            ofCustomer, ofApp, .init(["bundle_id", "product_id"], to: "products"),
        ])
}
