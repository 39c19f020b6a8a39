// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A customer's review of an app, as operators see it.
public struct ReviewRecord: Hashable, Sendable, Codable {
    /// The customer's number, which names the review within the app.
    public var customerId: String
    /// The customer's name as the store's pages show it, never in full.
    public var reviewer: String
    /// 1 to 5.
    public var stars: Int
    public var text: String?
    /// The version of the app on the customer's device.
    public var appVersion: String
    /// Commercial time, like every date here.
    public var reviewedDate: Timestamp
    /// What the merchant answered. Missing without an answer.
    public var answer: String?
    public var answeredDate: Timestamp?
    /// When an operator removed the review from the pages. Missing for one that is shown.
    public var removedDate: Timestamp?

    public init(
        customerId: String, reviewer: String, stars: Int, text: String?, appVersion: String,
        reviewedDate: Timestamp
    ) {
        self.customerId = customerId
        self.reviewer = reviewer
        self.stars = stars
        self.text = text
        self.appVersion = appVersion
        self.reviewedDate = reviewedDate
    }
}

/// A page of an app's reviews, the newest first.
public struct ReviewRecords: Hashable, Sendable, Codable {
    /// How many reviews are shown to visitors.
    public var count: Int64
    /// The average of their stars with one decimal, such as `4.3`. Missing without any.
    public var average: String?
    public var reviews: [ReviewRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(
        count: Int64, average: String?, reviews: [ReviewRecord], next: String? = nil
    ) {
        self.count = count
        self.average = average
        self.reviews = reviews
        self.next = next
    }
}

/// The merchant's answer to a review. It replaces an earlier one.
public struct AnswerReviewRequest: Hashable, Sendable, Codable {
    public var text: String

    public init(text: String) {
        self.text = text
    }
}
