// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// A row of `reviews`.
struct ReviewRow: Sendable {
    let bundleID: String
    let customer: CustomerID
    let stars: Int64
    let text: String?
    let reviewer: String
    let appVersion: String
    let reviewedAt: Timestamp
    let answer: String?
    let answeredAt: Timestamp?
    let removedAt: Timestamp?

    init(row: Row) throws {
        bundleID = try row.text("bundle_id")
        customer = CustomerID(try row.integer("customer_id"))
        stars = try row.integer("stars")
        text = try row.optionalText("body")
        reviewer = try row.text("reviewer")
        appVersion = try row.text("app_version")
        reviewedAt = Timestamp(milliseconds: try row.integer("reviewed_at"))
        answer = try row.optionalText("answer")
        answeredAt = try row.optionalInteger("answered_at").map(Timestamp.init(milliseconds:))
        removedAt = try row.optionalInteger("removed_at").map(Timestamp.init(milliseconds:))
    }

    /// The review for operators.
    var record: ReviewRecord {
        var record = ReviewRecord(
            customerId: customer.description, reviewer: reviewer, stars: Int(stars), text: text,
            appVersion: appVersion, reviewedDate: reviewedAt)
        record.answer = answer
        record.answeredDate = answeredAt
        record.removedDate = removedAt
        return record
    }

    /// The place in a list.
    var cursor: String { "\(reviewedAt.milliseconds).\(customer)" }
}

/// How many reviews of an app visitors see, and their stars.
struct ReviewSummary: Sendable {
    let count: Int64
    private let stars: Int64

    init(_ bundleID: String, _ reading: any Reading) throws {
        let row = try reading.first(Statement.Reviews.summary, [.text(bundleID)])
        count = try row?.integer("reviews") ?? 0
        stars = try row?.integer("stars") ?? 0
    }

    /// The average with one decimal, rounded half up. Nil without a review.
    var average: String? {
        guard count > 0 else { return nil }
        let tenths = (stars * 20 + count) / (2 * count)
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// The name of a reviewer as others see it.
enum ReviewerName {
    /// Returns the first word of a name that has several, and otherwise only the first
    /// letter, so that no name is shown in full. Of an e-mail address, the part before
    /// the `@` counts as the name, and letters and digits as words.
    static func shown(_ name: String) -> String {
        let isAddress = name.contains("@")
        let local = isAddress ? String(name.prefix { $0 != "@" }) : name
        let words = local.split { isAddress ? !($0.isLetter || $0.isNumber) : $0.isWhitespace }
        guard let first = words.first else { return "?" }
        if words.count > 1 { return String(first) }
        return first.first.map { "\($0)…" } ?? "?"
    }
}
