// SPDX-License-Identifier: Apache-2.0

/// How customers come by an offer.
public enum OfferKind: String, Sendable, CaseIterable {
    /// To who subscribes to the group for the first time.
    case introductory
    /// To whom the app's server signs it.
    case promotional
    /// To who has a code.
    case code
    /// To who has left.
    case winBack = "win-back"
}

extension Offer {
    /// What an introductory offer of any billing plan is called.
    public static let anyPlan = "any"

    /// What the offer is called among those of its kind: an introductory one
    /// by its billing plan, a code's by its label, others by their ids.
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

    /// The same terms with other offers of a kind.
    public func with(_ offers: [Offer], of kind: OfferKind) -> SubscriptionTerms {
        func these(_ own: OfferKind) -> [Offer] { own == kind ? offers : self.offers(own) }
        return SubscriptionTerms(
            groupID: groupID, level: level, period: period, billingPlans: billingPlans,
            introductoryOffers: these(.introductory), promotionalOffers: these(.promotional),
            codeOffers: these(.code), winBackOffers: these(.winBack))
    }

    /// The same terms on another level of the group.
    public func at(level: Int) -> SubscriptionTerms {
        SubscriptionTerms(
            groupID: groupID, level: level, period: period, billingPlans: billingPlans,
            introductoryOffers: introductoryOffers, promotionalOffers: promotionalOffers,
            codeOffers: codeOffers, winBackOffers: winBackOffers)
    }
}
