// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// What customers say of apps. All of it is at the home, because a page shows the
/// reviews of all customers. The dates are commercial time.
extension RealmSchema {
    /// One review of a customer for an app, which a newer one replaces. `reviewer` is
    /// the name that the pages show. A review that an operator removed stays, so that
    /// the customer is not asked again.
    static let reviews = Table(
        "reviews", key: ["bundle_id", "customer_id"],
        [
            "bundle_id": .bundleID, "customer_id": .customer, "stars": .integer(1...5),
            "body": .reviewText.optional, "reviewer": .label(bytes: 1...Edge.textBytesMax),
            "app_version": .reportedVersion, "reviewed_at": .time,
            "answer": .reviewText.optional, "answered_at": .time.optional,
            "removed_at": .time.optional,
        ],
        indexes: [
            .init("reviews_by_date", on: ["bundle_id", "reviewed_at", "customer_id"])
        ],
        references: [ofApp, ofCustomer],
        check: { row in
            let isRight =
                (try? (row.value("answer") == .null) == (row.value("answered_at") == .null))
                == true
            return isRight
                ? nil : BrokenRule("answered_at", "present if there is an `answer`, and only then")
        })

    /// When an app asked a customer for a review: the last three times, the newest
    /// first.
    static let reviewRequests = Table(
        "review_requests", key: ["bundle_id", "customer_id"], as: .tree,
        [
            "bundle_id": .bundleID, "customer_id": .customer, "asked_at": .time.optional,
            "asked_before": .time.optional, "asked_first": .time.optional,
        ],
        references: [ofApp, ofCustomer])

    /// The customers who want no requests of any app, and since when.
    static let reviewRefusals = Table(
        "review_refusals", key: ["customer_id"],
        ["customer_id": .customer, "refused_at": .time], references: [ofCustomer])
}

/// The texts of reviews and of the answers to them.
enum ReviewText {
    static let charactersMax = 4000
    static let rule =
        "1 to \(charactersMax) characters, without control or invisible characters other than "
        + "line ends"

    static func isText(_ text: String) -> Bool {
        // What can be far too long is not counted.
        text.utf8.count <= charactersMax * 16 && (1...charactersMax).contains(text.count)
            && text.unicodeScalars.allSatisfy(VisibleText.isAllowedInLines)
    }
}

extension ValueRule {
    static let reviewText = text(ReviewText.rule, ReviewText.isText)
}
