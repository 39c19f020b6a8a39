// SPDX-License-Identifier: Apache-2.0

/// Subscriptions of which a customer has one at a time.
public struct SubscriptionGroup: Hashable, Sendable {
    public let id: String
    /// The merchant's own label.
    public let referenceName: String
    /// The group's shown name, in `displayName`.
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

/// What an auto-renewable subscription is sold under, beside its price.
public struct SubscriptionTerms: Hashable, Sendable {
    public let groupID: String
    /// From 1, the highest service: a lower number is an upgrade, the same
    /// one with another period a crossgrade.
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

/// How a year's subscription is paid.
public struct BillingPlan: Hashable, Sendable {
    /// Raw values are Apple's.
    public enum Kind: String, Sendable, CaseIterable {
        /// The whole commitment at once.
        case upfront = "BILLED_UPFRONT"
        /// Twelve charges of a twelve months' commitment.
        case monthly = "MONTHLY"
    }

    public let kind: Kind
    /// What one charge costs.
    public let price: Amount
    /// What the whole commitment costs.
    public let commitmentPrice: Amount
    public let isEnabled: Bool

    public init(kind: Kind, price: Amount, commitmentPrice: Amount, isEnabled: Bool) {
        self.kind = kind
        self.price = price
        self.commitmentPrice = commitmentPrice
        self.isEnabled = isEnabled
    }
}

/// A lower price for a time.
public struct Offer: Hashable, Sendable {
    /// Raw values are those of catalogue files.
    public enum PaymentMode: String, Sendable, CaseIterable {
        case free
        /// Once, for the whole length of the offer.
        case payUpFront
        /// Each of the subscription's own periods.
        case payAsYouGo
    }

    /// Whom an offer code is for. Raw values are those of catalogue files.
    public enum Eligibility: String, Sendable, CaseIterable {
        case new, existing, expired
    }

    /// What apps and servers call it; introductory offers and codes have none.
    public let id: String?
    /// The merchant's own label; introductory offers have none.
    public let referenceName: String?
    public let mode: PaymentMode
    /// One period; with `payAsYouGo` the subscription's own.
    public let period: Period
    /// How many periods: 1 but for `payAsYouGo`.
    public let periodCount: Int
    /// 0 for free ones; for a period with `payAsYouGo`, else for all.
    public let price: Amount
    /// For which billing plan it is; nil for any.
    public let billingPlan: BillingPlan.Kind?
    /// Codes only.
    public let eligibility: Set<Eligibility>
    /// Codes only: whether the introductory offer may come before it.
    public let isStackable: Bool
    /// Win-back offers only: whether it is offered once the subscription has expired.
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
