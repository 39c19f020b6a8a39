// SPDX-License-Identifier: Apache-2.0

/// A subscription group, as operators see it.
public struct GroupRecord: Hashable, Sendable, Codable {
    public var bundleId: String
    public var groupId: String
    /// The merchant's own label.
    public var name: String
    /// The displayed name, in `displayName`.
    public var localizations: [ProductWords]
    /// Its subscriptions that are neither withdrawn nor removed, by level.
    public var products: [GroupMember]

    public init(
        bundleId: String, groupId: String, name: String, localizations: [ProductWords],
        products: [GroupMember]
    ) {
        self.bundleId = bundleId
        self.groupId = groupId
        self.name = name
        self.localizations = localizations
        self.products = products
    }
}

/// A subscription's level in its group.
public struct GroupMember: Hashable, Sendable, Codable {
    public var productId: String
    /// From 1, the highest. Missing if it is not set.
    public var level: Int?

    public init(productId: String, level: Int?) {
        self.productId = productId
        self.level = level
    }
}

/// An app's subscription groups.
public struct GroupList: Hashable, Sendable, Codable {
    public var groups: [GroupRecord]

    public init(groups: [GroupRecord]) {
        self.groups = groups
    }
}

/// Requests a new subscription group.
public struct CreateGroupRequest: Hashable, Sendable, Codable {
    /// 1 to 100 letters, digits, `-`, `.` and `_`.
    public var groupId: String
    /// If missing, the id is used.
    public var name: String?
    public var localizations: [ProductWords]?

    public init(groupId: String, name: String? = nil, localizations: [ProductWords]? = nil) {
        self.groupId = groupId
        self.name = name
        self.localizations = localizations
    }
}

/// Changes a group. A missing field stays unchanged.
public struct GroupChange: Hashable, Sendable, Codable {
    public var name: String?
    /// The complete list.
    public var localizations: [ProductWords]?

    public init(name: String? = nil, localizations: [ProductWords]? = nil) {
        self.name = name
        self.localizations = localizations
    }
}

/// An offer, in requests and in answers.
public struct OfferRecord: Hashable, Sendable, Codable {
    /// `introductory`, `promotional`, `code` or `win-back`.
    public var kind: String
    /// The name that identifies it among the offers of its kind: the billing
    /// plan or `any` of an introductory offer, the label of a code's offer, the
    /// id of others. Present in answers, ignored in requests.
    public var name: String?
    /// The id that apps and servers use. Only for promotional and win-back
    /// offers.
    public var offerId: String?
    /// The merchant's own label. Not for introductory offers.
    public var referenceName: String?
    /// `free`, `payUpFront` or `payAsYouGo`.
    public var paymentMode: String
    /// ISO 8601. With `payAsYouGo` it is the subscription's own and may be
    /// missing.
    public var period: String?
    /// The number of periods with `payAsYouGo`. 1 if missing.
    public var periodCount: Int?
    /// Thousandths. For a free offer it is 0 and may be missing.
    public var price: Int64?
    /// `BILLED_UPFRONT` or `MONTHLY`. Any plan if missing.
    public var billingPlan: String?
    /// Only for codes: `new`, `existing`, `expired`.
    public var eligibility: [String]?
    /// Only for codes: whether the introductory offer may come before it.
    public var isStackable: Bool?
    /// Only for win-back offers: whether it is offered after the subscription
    /// has expired.
    public var isEligible: Bool?

    public init(
        kind: String, name: String? = nil, offerId: String? = nil, referenceName: String? = nil,
        paymentMode: String, period: String? = nil, periodCount: Int? = nil, price: Int64? = nil,
        billingPlan: String? = nil, eligibility: [String]? = nil, isStackable: Bool? = nil,
        isEligible: Bool? = nil
    ) {
        self.kind = kind
        self.name = name
        self.offerId = offerId
        self.referenceName = referenceName
        self.paymentMode = paymentMode
        self.period = period
        self.periodCount = periodCount
        self.price = price
        self.billingPlan = billingPlan
        self.eligibility = eligibility
        self.isStackable = isStackable
        self.isEligible = isEligible
    }
}

/// A subscription's offers.
public struct OfferList: Hashable, Sendable, Codable {
    public var offers: [OfferRecord]

    public init(offers: [OfferRecord]) {
        self.offers = offers
    }
}
