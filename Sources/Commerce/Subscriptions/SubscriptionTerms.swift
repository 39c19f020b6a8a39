// SPDX-License-Identifier: Apache-2.0

/// A group of subscriptions. A customer has one of them at a time.
public struct SubscriptionGroup: Hashable, Sendable {
    public let id: String
    /// The merchant's own label.
    public let referenceName: String
    /// The group's displayed name, in `displayName`.
    public let localizations: [Localization]
    /// The subscriptions, in the file's order.
    public let products: [ProductID]

    public init(
        id: String, referenceName: String, localizations: [Localization], products: [ProductID]
    ) {
        self.id = id
        self.referenceName = referenceName
        self.localizations = localizations
        self.products = products
    }
}

/// The conditions of an auto-renewable subscription, other than its price.
public struct SubscriptionTerms: Hashable, Sendable {
    public let groupID: String
    /// From 1, which is the highest service. A change to a lower number is an
    /// upgrade, a change to the same number with another period a crossgrade.
    public let level: Int
    public let period: Period
    public let billingPlans: [BillingPlan]
    /// At most one for each billing plan.
    public let introductoryOffers: [Offer]
    public let promotionalOffers: [Offer]
    public let codeOffers: [Offer]
    public let winBackOffers: [Offer]

    public init(
        groupID: String, level: Int, period: Period, billingPlans: [BillingPlan] = [],
        introductoryOffers: [Offer] = [], promotionalOffers: [Offer] = [],
        codeOffers: [Offer] = [], winBackOffers: [Offer] = []
    ) {
        self.groupID = groupID
        self.level = level
        self.period = period
        self.billingPlans = billingPlans
        self.introductoryOffers = introductoryOffers
        self.promotionalOffers = promotionalOffers
        self.codeOffers = codeOffers
        self.winBackOffers = winBackOffers
    }
}

/// How a year's subscription is paid for.
public struct BillingPlan: Hashable, Sendable {
    /// The raw values are Apple's.
    public enum Kind: String, Sendable, CaseIterable {
        /// One charge for the whole commitment.
        case upfront = "BILLED_UPFRONT"
        /// Twelve charges for a commitment of twelve months.
        case monthly = "MONTHLY"
    }

    public let kind: Kind
    /// The price of one charge.
    public let price: Amount
    /// The price of the whole commitment.
    public let commitmentPrice: Amount
    public let isEnabled: Bool

    public init(kind: Kind, price: Amount, commitmentPrice: Amount, isEnabled: Bool) {
        self.kind = kind
        self.price = price
        self.commitmentPrice = commitmentPrice
        self.isEnabled = isEnabled
    }
}

/// A lower price for a limited time.
public struct Offer: Hashable, Sendable {
    /// The raw values are those of catalogue files.
    public enum PaymentMode: String, Sendable, CaseIterable, Codable {
        case free
        /// One charge for the whole length of the offer.
        case payUpFront
        /// One charge for each of the subscription's periods.
        case payAsYouGo
    }

    /// The customers that an offer code is for. The raw values are those of
    /// catalogue files.
    public enum Eligibility: String, Sendable, CaseIterable {
        case new, existing, expired
    }

    /// The id that apps and servers use. Introductory offers and codes have
    /// none.
    public let id: String?
    /// The merchant's own label. Introductory offers have none.
    public let referenceName: String?
    public let mode: PaymentMode
    /// The length of one period. With `payAsYouGo` it is the subscription's
    /// own.
    public let period: Period
    /// The number of periods. 1 unless `payAsYouGo`.
    public let periodCount: Int
    /// The price of one period with `payAsYouGo`, otherwise of all. 0 for free
    /// offers.
    public let price: Amount
    /// The billing plan that it is for. Nil for any.
    public let billingPlan: BillingPlan.Kind?
    /// Only used for codes.
    public let eligibility: Set<Eligibility>
    /// Only used for codes: whether the introductory offer may come before it.
    public let isStackable: Bool
    /// Only used for win-back offers: whether it is offered after the
    /// subscription has expired.
    public let isEligible: Bool

    public init(
        id: String? = nil, referenceName: String? = nil, mode: PaymentMode, period: Period,
        periodCount: Int = 1, price: Amount, billingPlan: BillingPlan.Kind? = nil,
        eligibility: Set<Eligibility> = [], isStackable: Bool = false, isEligible: Bool = false
    ) {
        self.id = id
        self.referenceName = referenceName
        self.mode = mode
        self.period = period
        self.periodCount = periodCount
        self.price = price
        self.billingPlan = billingPlan
        self.eligibility = eligibility
        self.isStackable = isStackable
        self.isEligible = isEligible
    }
}
