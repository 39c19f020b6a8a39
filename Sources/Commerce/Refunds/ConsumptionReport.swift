// SPDX-License-Identifier: Apache-2.0

/// What a merchant reports about a purchase whose money the customer asked for.
///
/// Stores keep it as JSON, so the names of cases and properties are part of the
/// stored form.
public struct ConsumptionReport: Hashable, Sendable, Codable {
    /// The version of the request that contained it: 1 or 2.
    public let version: Int
    public let delivery: Delivery
    /// Whether the customer could try the content before the purchase.
    public let isSampleProvided: Bool
    /// How much of it was used, in thousandths of a percent. Nil if the merchant did
    /// not say.
    public let used: Int?
    public let preference: Preference?
    /// The further answers of version 1, by Apple's names: `playTime`, `userStatus`
    /// and so on. They are kept, and decide nothing.
    public let account: [String: Int]

    /// All that can be used.
    public static let whole = 100_000

    public init(
        version: Int, delivery: Delivery, isSampleProvided: Bool, used: Int? = nil,
        preference: Preference? = nil, account: [String: Int] = [:]
    ) {
        self.version = version
        self.delivery = delivery
        self.isSampleProvided = isSampleProvided
        self.used = used
        self.preference = preference
        self.account = account
    }

    /// Whether it works. The raw values are those of version 2.
    /// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/deliverystatus)
    public enum Delivery: String, Hashable, Sendable, CaseIterable, Codable {
        case delivered = "DELIVERED"
        case poorQuality = "UNDELIVERED_QUALITY_ISSUE"
        case wrongItem = "UNDELIVERED_WRONG_ITEM"
        case serverOutage = "UNDELIVERED_SERVER_OUTAGE"
        case other = "UNDELIVERED_OTHER"
    }

    /// What the merchant would decide. The raw values are those of version 2.
    /// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/refundpreference)
    public enum Preference: String, Hashable, Sendable, CaseIterable, Codable {
        case decline = "DECLINE"
        case full = "GRANT_FULL"
        case prorated = "GRANT_PRORATED"
    }
}

/// What a request for a refund should come to, by the customer's reason and the
/// merchant's report.
public enum RefundAdvice: String, Hashable, Sendable, CaseIterable {
    case full, prorated, declined

    /// The first of these that applies:
    ///
    /// 1. A legal reason: the whole sum.
    /// 2. No report, or the purchase was not delivered: the whole sum.
    /// 3. The merchant's preference. A sum for the unused part is the whole sum if
    ///    the part is unknown, and nothing if everything was used.
    /// 4. Nothing was used: the whole sum. Everything was used, or the customer
    ///    could try it before: declined.
    /// 5. A part was used: a sum for the rest. Otherwise the whole sum.
    ///
    /// ``RefundableSale/advice`` declines where the sum for the rest would be nothing.
    ///
    /// `unused`: the part that is left. Nil if it is unknown.
    public init(for wish: RefundWish, _ report: ConsumptionReport?, unused: UnusedTime?) {
        guard wish != .legal, let report, report.delivery == .delivered else {
            self = .full
            return
        }
        let byPart: RefundAdvice =
            switch unused?.percentage {
            case nil, ConsumptionReport.whole: .full
            case 0: .declined
            default: .prorated
            }
        switch report.preference {
        case .decline: self = .declined
        case .full: self = .full
        case .prorated: self = byPart
        case nil:
            let isUntouched = unused?.percentage == ConsumptionReport.whole
            self = report.isSampleProvided && !isUntouched ? .declined : byPart
        }
    }
}
