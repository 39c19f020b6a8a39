// SPDX-License-Identifier: Apache-2.0

/// When an app's request for a review is shown to a customer.
public enum ReviewPolicy {
    /// How often an app may ask a customer in ``daysOfWindow``.
    public static let asksMax = 3
    /// The days in which requests are counted, and for which one review is enough.
    public static let daysOfWindow: Int64 = 365

    /// Where the app runs.
    public enum Setting: Hashable, Sendable, CaseIterable {
        /// In a sandbox, so that a developer sees the request.
        case development
        /// A version that testers try before it is sold.
        case beta
        /// As customers have it.
        case released
    }

    /// What is known of one customer and one app.
    public struct Past: Hashable, Sendable {
        /// When the customer was asked. Only the last ``asksMax`` matter.
        public var asked: [Timestamp]
        /// The version that the customer's review is about. Nil without a review.
        public var ratedVersion: String?
        /// When the customer rated the app. Nil without a review.
        public var ratedAt: Timestamp?
        /// Whether the customer wants no requests of any app.
        public var isSwitchedOff: Bool

        public init(
            asked: [Timestamp] = [], ratedVersion: String? = nil, ratedAt: Timestamp? = nil,
            isSwitchedOff: Bool = false
        ) {
            self.asked = asked
            self.ratedVersion = ratedVersion
            self.ratedAt = ratedAt
            self.isSwitchedOff = isSwitchedOff
        }
    }

    /// Whether the customer is asked. The first rule that applies decides: never in a
    /// beta; always in development; not if the customer has switched requests off; not
    /// after a review of this version, or within 365 days of any review; not a fourth
    /// time within 365 days.
    public static func asks(
        _ past: Past, version: String, in setting: Setting, at now: Timestamp
    ) -> Bool {
        switch setting {
        case .beta: return false
        case .development: return true
        case .released: break
        }
        if past.isSwitchedOff { return false }
        let start = now.adding(seconds: -daysOfWindow * 86_400)
        if let ratedAt = past.ratedAt, ratedAt > start || past.ratedVersion == version {
            return false
        }
        return past.asked.count { $0 > start } < asksMax
    }
}
