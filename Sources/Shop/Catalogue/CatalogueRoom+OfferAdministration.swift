// SPDX-License-Identifier: Apache-2.0

import Commerce
public import StoreWire

/// Adds and removes offers of subscriptions. Each change is audited.
extension CatalogueRoom {
    /// The most offers of one kind of one subscription.
    static let offersMax = 100

    /// Returns a subscription's offers, by kind. Refusals: `bundleIdUnknown`,
    /// `productIdUnknown`.
    public func offers(_ product: String, bundleID: String) async throws -> OfferList {
        let app = try await app(bundleID)
        let id = ProductID(product)
        guard let listed = app.byID[id] else { throw Self.unknownProduct }
        return OfferList(offers: listed.terms?.offerRecords ?? [])
    }

    /// Adds an offer. Refusals, in order: `bundleIdUnknown`, those of the offer
    /// itself (`offerKindUnknown`, `offerIdInvalid`, `textEmpty`, `textTooLong`,
    /// `offerFieldUnused`, `paymentModeUnknown`, `periodInvalid`, `priceInvalid`,
    /// `billingPlanUnknown`, `eligibilityInvalid`), `productIdUnknown`,
    /// `productRemoved`, `notASubscription`, `termsUnknown`,
    /// `offerPeriodOfAnother`, `offerExists`, `tooManyEntries`.
    public func addOffer(
        _ request: OfferRecord, product: String, bundleID: String, _ context: RequestContext
    ) async throws -> OfferRecord {
        let draft = try OfferDraft(request)
        _ = try await alter(product, bundleID, "product.addOffer", context) { before in
            var after = before
            after.terms = try draft.added(to: try before.toldTerms())
            return after
        }
        let name = draft.name
        let all = try await offers(product, bundleID: bundleID).offers
        guard let made = all.first(where: { $0.kind == draft.kind.rawValue && $0.name == name })
        else { throw Self.unknownOffer }
        return made
    }

    /// Removes an offer. Earlier sales with it do not change. Refusals, in
    /// order: `bundleIdUnknown`, `offerKindUnknown`, `productIdUnknown`,
    /// `productRemoved`, `notASubscription`, `termsUnknown`, `offerUnknown`.
    public func removeOffer(
        _ name: String, kind: String, product: String, bundleID: String,
        _ context: RequestContext
    ) async throws {
        let kind = try OfferDraft.kind(kind)
        _ = try await alter(product, bundleID, "product.removeOffer", context) { before in
            var after = before
            let terms = try before.toldTerms()
            let left = terms.offers(kind).filter { $0.name(as: kind) != name }
            guard left.count < terms.offers(kind).count else { throw Self.unknownOffer }
            after.terms = terms.with(left, of: kind)
            return after
        }
    }

    private static var unknownOffer: Refusal {
        Refusal(
            .notFound, code: "offerUnknown", "The subscription has no such offer.",
            field: "name", rule: "an offer's name from the list of offers",
            remedy: "list the offers")
    }
}

/// An offer that satisfies every rule that does not need the subscription.
private struct OfferDraft: Sendable {
    let kind: OfferKind
    private let request: OfferRecord
    private let mode: Offer.PaymentMode
    private let period: Period?
    private let price: Amount
    private let plan: BillingPlan.Kind?
    private let eligibility: Set<Offer.Eligibility>

    init(_ request: OfferRecord) throws {
        self.request = request
        kind = try Self.kind(request.kind)
        switch kind {
        case .promotional, .winBack:
            guard let id = request.offerId, IDText.isID(id) else { throw Self.noID }
            try Edge.name(request.referenceName ?? id, "referenceName")
        case .code: try Edge.name(request.referenceName ?? "", "referenceName")
        case .introductory: break
        }
        try Self.checkFields(request, of: kind)
        guard let mode = Offer.PaymentMode(rawValue: request.paymentMode) else {
            throw Self.unknown(
                "paymentMode", "paymentModeUnknown", Offer.PaymentMode.allCases.map(\.rawValue))
        }
        self.mode = mode
        period = request.period.flatMap { Period(iso8601: $0) }
        let count = request.periodCount ?? 1
        guard period != nil || request.period == nil && mode == .payAsYouGo,
            mode == .payAsYouGo ? (1...999).contains(count) : count == 1
        else { throw Self.noPeriod }
        price = try Edge.price(request.price ?? (mode == .free ? 0 : -1), "price")
        guard (mode == .free) == (price.milliunits == 0) else { throw Self.noPrice }
        plan = request.billingPlan.flatMap(BillingPlan.Kind.init(rawValue:))
        guard plan != nil || request.billingPlan == nil else {
            throw Self.unknown(
                "billingPlan", "billingPlanUnknown", BillingPlan.Kind.allCases.map(\.rawValue))
        }
        let words = request.eligibility ?? []
        eligibility = Set(words.compactMap(Offer.Eligibility.init(rawValue:)))
        guard eligibility.count == words.count, (kind == .code) == !words.isEmpty else {
            throw Self.unknown(
                "eligibility", "eligibilityInvalid",
                Offer.Eligibility.allCases.map(\.rawValue), of: "codes only, each once")
        }
    }

    /// A field that offers of the kind do not have would be lost. Refusal: `offerFieldUnused`.
    private static func checkFields(_ request: OfferRecord, of kind: OfferKind) throws {
        let hasID = kind == .promotional || kind == .winBack
        let fields: [(name: String, isGiven: Bool, isUsed: Bool)] = [
            ("offerId", request.offerId != nil, hasID),
            ("referenceName", request.referenceName != nil, hasID || kind == .code),
            ("isStackable", request.isStackable == true, kind == .code),
            ("isEligible", request.isEligible == true, kind == .winBack),
        ]
        guard let unused = fields.first(where: { $0.isGiven && !$0.isUsed }) else { return }
        throw Refusal(
            .badRequest, code: "offerFieldUnused",
            "An offer of the kind `\(kind.rawValue)` has no \(unused.name).", field: unused.name,
            rule: "promotional and win-back offers have an id and a name, codes a name and "
                + "`isStackable`, win-back offers `isEligible`", remedy: "leave it out")
    }

    var name: String { offer(Period(1, .month)).name(as: kind) }

    /// Returns the terms with this offer. Refusals: `offerPeriodOfAnother`,
    /// `offerExists`, `tooManyEntries`.
    func added(to terms: SubscriptionTerms) throws -> SubscriptionTerms {
        guard mode != .payAsYouGo || period == nil || period == terms.period else {
            throw Refusal(
                .conflict, code: "offerPeriodOfAnother", "The subscription has another period.",
                field: "period", rule: "what is paid as you go has the subscription's own period",
                remedy: "leave it out, or send \(terms.period)")
        }
        let offers = terms.offers(kind)
        guard offers.allSatisfy({ !$0.name(as: kind).isSame(as: name) }) else {
            throw Refusal(
                .conflict, code: "offerExists", "The subscription has an offer of this name.",
                field: "offerId",
                rule: "an id, a code's label and a billing plan are one offer's of a kind",
                remedy: "remove that one first, or choose another")
        }
        guard offers.count < CatalogueRoom.offersMax else {
            throw Refusal(
                .conflict, code: "tooManyEntries", "The subscription has too many offers.",
                field: "kind", rule: "at most \(CatalogueRoom.offersMax) of a kind",
                remedy: "remove one first")
        }
        return terms.with(offers + [offer(period ?? terms.period)], of: kind)
    }

    private func offer(_ period: Period) -> Offer {
        let hasID = kind == .promotional || kind == .winBack
        return Offer(
            id: hasID ? request.offerId : nil,
            referenceName: kind == .introductory
                ? nil : request.referenceName ?? request.offerId,
            mode: mode, period: period, periodCount: request.periodCount ?? 1, price: price,
            billingPlan: plan, eligibility: eligibility,
            isStackable: kind == .code && request.isStackable == true,
            isEligible: kind == .winBack && request.isEligible == true)
    }

    static func kind(_ text: String) throws -> OfferKind {
        guard let kind = OfferKind(rawValue: text) else {
            throw unknown("kind", "offerKindUnknown", OfferKind.allCases.map(\.rawValue))
        }
        return kind
    }

    private static func unknown(
        _ field: String, _ code: String, _ words: [String], of whom: String? = nil
    ) -> Refusal {
        let list = words.map { "`\($0)`" }.joined(separator: ", ")
        return Refusal(
            .badRequest, code: code, "The offer's \(field) is invalid.", field: field,
            rule: whom.map { "\(list); \($0)" } ?? list, remedy: "send one of them")
    }

    private static var noID: Refusal {
        Refusal(
            .badRequest, code: "offerIdInvalid", "This is not a valid id for an offer.",
            field: "offerId",
            rule: IDText.rule,
            remedy: "give one such as `spring`")
    }

    private static var noPeriod: Refusal {
        Refusal(
            .badRequest, code: "periodInvalid", "The offer has no such length.", field: "period",
            rule: "ISO 8601 of one unit; several periods, 1 to 999, with `payAsYouGo` only",
            remedy: "send one such as `P1W`")
    }

    private static var noPrice: Refusal {
        Refusal(
            .badRequest, code: "priceInvalid", "This is not the price of such an offer.",
            field: "price", rule: "0 for `free`, above 0 for all others",
            remedy: "send the price, or make the offer free")
    }
}

extension SubscriptionTerms {
    fileprivate var offerRecords: [OfferRecord] {
        OfferKind.allCases.flatMap { kind in
            offers(kind).map { offer in
                OfferRecord(
                    kind: kind.rawValue, name: offer.name(as: kind), offerId: offer.id,
                    referenceName: offer.referenceName, paymentMode: offer.mode.rawValue,
                    period: offer.period.description, periodCount: offer.periodCount,
                    price: offer.price.milliunits, billingPlan: offer.billingPlan?.rawValue,
                    eligibility: kind == .code ? offer.eligibility.map(\.rawValue).sorted() : nil,
                    isStackable: kind == .code ? offer.isStackable : nil,
                    isEligible: kind == .winBack ? offer.isEligible : nil)
            }
        }
    }
}
