// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Storage

/// What the store's pages show of apps beside their products.
extension RealmSchema {
    /// One row for each app that an operator has described. `image_id` is that
    /// of the icon. `featured` is the position among the featured apps.
    static let appPages = Table(
        "app_pages", key: ["bundle_id"],
        [
            "bundle_id": .bundleID, "description": .reviewText.optional, "image_id": .id.optional,
            "price": .label(bytes: 1...AppPageRules.priceBytesMax).optional,
            "url": .httpsAddress.optional,
            "featured": .integer(1...AppPageRules.featuredMax).optional, "changed_at": .time,
        ],
        references: [
            ofApp,
            .init(
                ["bundle_id", "image_id"], to: "catalogue_images",
                where: "t.image_id IS NOT NULL"),
        ])
}

/// Rules of apps' pages.
enum AppPageRules {
    /// The last position of a featured app.
    static let featuredMax: Int64 = 1000
    static let priceBytesMax = 50
    static let urlBytesMax = 1024
    static let urlRule =
        "an address of `https` with a host and without a password, at most \(urlBytesMax) bytes"

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }

    static func isURL(_ text: String) -> Bool {
        guard text.utf8.count <= urlBytesMax, text.utf8.allSatisfy({ (33...126).contains($0) }),
            let parts = URLComponents(string: text)
        else { return false }
        let host = parts.percentEncodedHost ?? ""
        return parts.scheme?.lowercased() == "https" && parts.user == nil && parts.password == nil
            && (1...65_535).contains(parts.port ?? 443)
            && host.utf8.contains(where: isLetterOrDigit)
            && host.utf8.allSatisfy { isLetterOrDigit($0) || "-.:[]".utf8.contains($0) }
    }
}

extension ValueRule {
    static let httpsAddress = text(AppPageRules.urlRule, AppPageRules.isURL)
}
