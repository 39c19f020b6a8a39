// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// An app asks whether the customer may be asked for a review now.
public struct ReviewQuestion: Hashable, Sendable, Codable {
    /// True for a version that testers try before it is sold. Missing for others.
    public var isBeta: Bool?

    public init(isBeta: Bool? = nil) {
        self.isBeta = isBeta
    }
}

/// Whether the device asks the customer. A yes is counted when it is given.
public struct ReviewQuestionResponse: Hashable, Sendable, Codable {
    public var asks: Bool
    /// The app's name, for the question.
    public var appName: String

    public init(asks: Bool, appName: String) {
        self.asks = asks
        self.appName = appName
    }
}

/// The customer's review of the session's app. It replaces an earlier one.
public struct ReviewRequest: Hashable, Sendable, Codable {
    /// 1 to 5.
    public var stars: Int
    /// Missing for stars alone.
    public var text: String?

    public init(stars: Int, text: String? = nil) {
        self.stars = stars
        self.text = text
    }
}

/// A review that the store has recorded.
public struct ReviewResponse: Hashable, Sendable, Codable {
    public var stars: Int
    public var text: String?
    /// Commercial time.
    public var reviewedDate: Timestamp

    public init(stars: Int, text: String? = nil, reviewedDate: Timestamp) {
        self.stars = stars
        self.text = text
        self.reviewedDate = reviewedDate
    }
}
