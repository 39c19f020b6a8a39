// SPDX-License-Identifier: Apache-2.0

/// What a sheet shows when it asks for a review.
public struct SheetReviewQuestion: Hashable, Sendable {
    /// The app's name at the store.
    public var appName: String

    public init(appName: String) {
        self.appName = appName
    }

    /// The question, for a terminal.
    public var question: String { "Do you enjoy \(appName)? Rate it" }
}

/// The customer's review of the app. The store takes at most 4000 characters.
public struct SheetReview: Hashable, Sendable {
    /// 1 to 5.
    public var stars: Int
    /// Nil for stars alone.
    public var text: String?

    public init(stars: Int, text: String? = nil) {
        self.stars = stars
        self.text = text
    }
}
