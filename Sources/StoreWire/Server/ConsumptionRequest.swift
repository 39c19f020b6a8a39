// SPDX-License-Identifier: Apache-2.0

/// What a merchant reports about a purchase whose money the customer asked for.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest)
public struct ConsumptionRequest: Hashable, Sendable, Codable {
    /// Must be true.
    public var customerConsented: Bool?
    public var sampleContentProvided: Bool?
    /// `DELIVERED`, `UNDELIVERED_QUALITY_ISSUE`, `UNDELIVERED_WRONG_ITEM`,
    /// `UNDELIVERED_SERVER_OUTAGE` or `UNDELIVERED_OTHER`.
    public var deliveryStatus: String?
    /// In thousandths of a percent. Not for auto-renewable subscriptions.
    public var consumptionPercentage: Int?
    /// `DECLINE`, `GRANT_FULL` or `GRANT_PRORATED`.
    public var refundPreference: String?

    public init() {}
}

/// The same in the earlier form, all of whose fields are required.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/consumptionrequestv1)
public struct ConsumptionRequestV1: Hashable, Sendable, Codable {
    /// Must be true.
    public var customerConsented: Bool?
    /// 0 undeclared, 1 not used, 2 used in part, 3 used up.
    public var consumptionStatus: Int?
    /// 0 undeclared, 1 Apple's, 2 another.
    public var platform: Int?
    public var sampleContentProvided: Bool?
    /// 0 delivered, 1 poor quality, 2 wrong item, 3 server outage, 4 the game's
    /// currency was changed, 5 another reason.
    public var deliveryStatus: Int?
    /// A UUID, or an empty text.
    public var appAccountToken: String?
    /// 0 to 7.
    public var accountTenure: Int?
    /// 0 to 7.
    public var playTime: Int?
    /// 0 to 7.
    public var lifetimeDollarsRefunded: Int?
    /// 0 to 7.
    public var lifetimeDollarsPurchased: Int?
    /// 0 to 4.
    public var userStatus: Int?
    /// 0 undeclared, 1 grant, 2 decline, 3 none.
    public var refundPreference: Int?

    public init() {}
}
