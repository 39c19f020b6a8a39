// SPDX-License-Identifier: Apache-2.0

/// The offer that a payment asks for, as the device sent it.
///
/// Stores keep it as JSON, so the names of cases and properties are part of the
/// stored form.
public enum RequestedOffer: Hashable, Sendable, Codable {
    /// An offer that the merchant's server has signed for this customer.
    case promotional(id: String, proof: OfferProof)
    /// An offer for customers who have left.
    case winBack(id: String)
    /// The offer of a code, by the code's text.
    case code(text: String)
    /// The merchant's server has decided, in a signed token, whether the customer
    /// gets the introductory offer.
    case introductory(token: String)
}

/// How a merchant's server has signed an offer.
public enum OfferProof: Hashable, Sendable, Codable {
    /// The older form: a signature over the payment's facts.
    case signature(OfferSignature)
    /// The newer form: a token (JWS) that states them.
    case token(String)
}

/// The older form of a signed offer.
public struct OfferSignature: Hashable, Sendable, Codable {
    /// The id of the merchant's key.
    public let keyID: String
    /// A UUID that is used for one payment only.
    public let nonce: UUIDText
    /// When the merchant's server signed, in wall time.
    public let signedAt: Timestamp
    /// ECDSA P-256 with SHA-256, DER in Base64.
    public let signature: String

    public init(keyID: String, nonce: UUIDText, signedAt: Timestamp, signature: String) {
        self.keyID = keyID
        self.nonce = nonce
        self.signedAt = signedAt
        self.signature = signature
    }
}

/// What the store has found out about a requested offer before it decides on the
/// payment: whether it was signed, or the code is valid.
public enum OfferEvidence: Hashable, Sendable {
    /// The offer with this name (``Offer/name(as:)``) may be asked for.
    case proven(OfferKind, name: String)
    /// The merchant's server has decided whether the introductory offer applies.
    case introduction(isAllowed: Bool)
    case refused(PurchaseRefusal)
}

/// An offer of a product that the customer gets.
public struct RedeemedOffer: Hashable, Sendable {
    public let kind: OfferKind
    public let offer: Offer

    public init(_ offer: Offer, as kind: OfferKind) {
        self.kind = kind
        self.offer = offer
    }

    var applied: AppliedOffer { AppliedOffer(offer, as: kind) }
}

extension SubscriptionFacts {
    /// Returns the offer that the payment asks for, if the customer gets it. Nil if
    /// it asks for none, or only for a decision about the introductory offer.
    /// Throws the reason why the customer does not get it.
    func redeemed() throws(PurchaseRefusal) -> RedeemedOffer? {
        switch evidence {
        case nil, .introduction: return nil
        case .refused(let refusal): throw refusal
        case .proven(let kind, let name):
            let offers = plan.redeemableOffers[kind] ?? []
            guard let offer = offers.first(where: { $0.name(as: kind) == name }) else {
                throw .offerUnknown
            }
            guard isEligible(for: offer, kind) else { throw .offerNotEligible }
            return RedeemedOffer(offer, as: kind)
        }
    }

    private func isEligible(for offer: Offer, _ kind: OfferKind) -> Bool {
        switch kind {
        case .introductory: isEligibleForIntroduction
        case .promotional: current != nil
        case .winBack:
            offer.isEligible && current.map { $0.canBeWonBack($0.state) } ?? false
        case .code: offer.eligibility.contains(standing)
        }
    }

    /// The kind of customer that codes distinguish.
    private var standing: Offer.Eligibility {
        guard let current else { return .new }
        return current.hasEnded ? .expired : .existing
    }
}

extension Subscription {
    /// Whether it has expired, in this state of it, and the last period was not itself a
    /// win-back offer's: otherwise a customer could go on with such offers alone.
    fileprivate func canBeWonBack(_ state: State) -> Bool {
        if case .expired = state { return current.offer?.kind != .winBack }
        return false
    }

    /// Returns the names of a plan's win-back offers that the customer may redeem
    /// now, the best one first: the one with the lowest price for the longest time.
    public func winBackOffers(of plan: SubscriptionPlan, at now: Timestamp) -> [String] {
        guard canBeWonBack(state(at: now)) else { return [] }
        return (plan.redeemableOffers[.winBack] ?? []).filter(\.isEligible)
            .sorted { ($0.price, $1.totalDays) < ($1.price, $0.totalDays) }
            .map { $0.name(as: .winBack) }
    }
}

extension Offer {
    /// About how long it lasts.
    fileprivate var totalDays: Int { period.days * periodCount }
}

extension Period {
    fileprivate var days: Int {
        switch unit {
        case .day: count
        case .week: count * 7
        case .month: count * 30
        case .year: count * 365
        }
    }
}
