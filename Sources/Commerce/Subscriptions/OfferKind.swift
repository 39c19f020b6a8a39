// SPDX-License-Identifier: Apache-2.0

/// How customers get an offer.
public enum OfferKind: String, Sendable, CaseIterable, Codable {
    /// For customers who subscribe to the group for the first time.
    case introductory
    /// For customers for whom the app's server signs it.
    case promotional
    /// For customers who have a code.
    case code
    /// For customers who have left.
    case winBack = "win-back"
}

extension Offer {
    /// The name of an introductory offer that applies to any billing plan.
    public static let anyPlan = "any"

    /// The name that identifies the offer among those of its kind: the billing
    /// plan of an introductory offer, the label of a code's offer, the id of
    /// others.
    public func name(as kind: OfferKind) -> String {
        switch kind {
        case .introductory: billingPlan?.rawValue ?? Self.anyPlan
        case .code: referenceName ?? ""
        case .promotional, .winBack: id ?? ""
        }
    }
}

extension SubscriptionTerms {
    /// The offers of a kind.
    public func offers(_ kind: OfferKind) -> [Offer] {
        switch kind {
        case .introductory: introductoryOffers
        case .promotional: promotionalOffers
        case .code: codeOffers
        case .winBack: winBackOffers
        }
    }

    /// Returns the terms with other offers of a kind.
    public func with(_ offers: [Offer], of kind: OfferKind) -> SubscriptionTerms {
        func these(_ own: OfferKind) -> [Offer] { own == kind ? offers : self.offers(own) }
        return SubscriptionTerms(
            groupID: groupID, level: level, period: period, billingPlans: billingPlans,
            introductoryOffers: these(.introductory), promotionalOffers: these(.promotional),
            codeOffers: these(.code), winBackOffers: these(.winBack))
    }

    /// Returns the terms with another level in the group.
    public func at(level: Int) -> SubscriptionTerms {
        SubscriptionTerms(
            groupID: groupID, level: level, period: period, billingPlans: billingPlans,
            introductoryOffers: introductoryOffers, promotionalOffers: promotionalOffers,
            codeOffers: codeOffers, winBackOffers: winBackOffers)
    }
}
