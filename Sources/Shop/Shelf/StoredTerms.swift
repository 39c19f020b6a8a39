// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage

/// A subscription's level, plans and offers, as JSON in its row, because no
/// query uses them. Group and period have columns of their own.
private struct StoredTerms: Codable {
    struct Plan: Codable {
        let kind: String
        let price: Int64
        let commitmentPrice: Int64
        let isEnabled: Bool
    }

    struct StoredOffer: Codable {
        var id: String?
        var referenceName: String?
        let mode: String
        let period: String
        let periodCount: Int
        let price: Int64
        var billingPlan: String?
        var eligibility: [String]?
        var isStackable: Bool?
        var isEligible: Bool?
    }

    let level: Int
    var plans: [Plan]?
    /// The offers by kind.
    var offers: [String: [StoredOffer]]?
}

extension SubscriptionTerms {
    /// Nil if the product's terms are not set.
    init?(row: Row, _ product: Product) throws {
        guard let text = try row.optionalText("terms"), let group = product.groupID,
            let period = product.period.flatMap({ Period(iso8601: $0) })
        else { return nil }
        try self.init(stored: text, groupID: group, period: period)
    }

    /// What ``stored()`` wrote, of a subscription with this group and period.
    init(stored text: String, groupID: String, period: Period) throws {
        guard let stored = try? JSONDecoder().decode(StoredTerms.self, from: Data(text.utf8))
        else { throw StorageFault(.malformedRow, "a subscription's terms cannot be read") }
        func offers(_ kind: OfferKind) -> [Offer] {
            (stored.offers?[kind.rawValue] ?? []).compactMap { Offer($0) }
        }
        self.init(
            groupID: groupID, level: stored.level, period: period,
            billingPlans: (stored.plans ?? []).compactMap { plan in
                BillingPlan.Kind(rawValue: plan.kind).map {
                    BillingPlan(
                        kind: $0, price: Amount(milliunits: plan.price),
                        commitmentPrice: Amount(milliunits: plan.commitmentPrice),
                        isEnabled: plan.isEnabled)
                }
            }, introductoryOffers: offers(.introductory), promotionalOffers: offers(.promotional),
            codeOffers: offers(.code), winBackOffers: offers(.winBack))
    }

    /// The terms of a subscription without others: the highest level.
    init?(of product: Product) {
        guard product.type == .autoRenewable, let group = product.groupID,
            let period = product.period.flatMap({ Period(iso8601: $0) })
        else { return nil }
        self.init(groupID: group, level: 1, period: period)
    }

    func stored() throws -> String {
        var offers: [String: [StoredTerms.StoredOffer]] = [:]
        for kind in OfferKind.allCases where !self.offers(kind).isEmpty {
            offers[kind.rawValue] = self.offers(kind).map { StoredTerms.StoredOffer($0) }
        }
        let stored = StoredTerms(
            level: level,
            plans: billingPlans.isEmpty
                ? nil
                : billingPlans.map {
                    StoredTerms.Plan(
                        kind: $0.kind.rawValue, price: $0.price.milliunits,
                        commitmentPrice: $0.commitmentPrice.milliunits, isEnabled: $0.isEnabled)
                }, offers: offers.isEmpty ? nil : offers)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(stored), as: UTF8.self)
    }
}

extension StoredTerms.StoredOffer {
    fileprivate init(_ offer: Offer) {
        self.init(
            id: offer.id, referenceName: offer.referenceName, mode: offer.mode.rawValue,
            period: offer.period.description, periodCount: offer.periodCount,
            price: offer.price.milliunits, billingPlan: offer.billingPlan?.rawValue,
            eligibility: offer.eligibility.isEmpty
                ? nil : offer.eligibility.map(\.rawValue).sorted(),
            isStackable: offer.isStackable ? true : nil,
            isEligible: offer.isEligible ? true : nil)
    }
}

extension Offer {
    fileprivate init?(_ stored: StoredTerms.StoredOffer) {
        guard let mode = PaymentMode(rawValue: stored.mode),
            let period = Period(iso8601: stored.period)
        else { return nil }
        self.init(
            id: stored.id, referenceName: stored.referenceName, mode: mode, period: period,
            periodCount: stored.periodCount, price: Amount(milliunits: stored.price),
            billingPlan: stored.billingPlan.flatMap(BillingPlan.Kind.init(rawValue:)),
            eligibility: Set((stored.eligibility ?? []).compactMap(Eligibility.init(rawValue:))),
            isStackable: stored.isStackable ?? false, isEligible: stored.isEligible ?? false)
    }
}
