// SPDX-License-Identifier: Apache-2.0

import Commerce
import StrictJSON

/// Reads groups, levels, billing plans and offers.
extension CatalogueReader {
    mutating func subscriptions(_ group: Node, into contents: inout CatalogueContents) {
        guard isObject(group) else { return }
        let id = text(group, "id")
        if id == nil {
            warn(
                group.path(to: "id"), "a subscription group has an id",
                "give it one; its subscriptions are listed without a group")
        }
        if let id, !IDText.isID(id) {
            refuse(
                group.path(to: "id"), "a subscription group's id is \(IDText.rule)",
                "rename it, also as the subscriptionGroupID of its subscriptions")
        }
        var members: [ProductID] = []
        for item in list(group, "subscriptions") {
            checkGroup(of: item, id)
            guard let product = product(item, group: id) else { continue }
            contents.catalogue.products.append(product)
            members.append(product.id)
            if let id, let period = product.period.flatMap({ Period(iso8601: $0) }) {
                contents.terms[product.id] = terms(item, group: id, period)
            }
        }
        let name = text(group, "name") ?? ""
        let localizations = localizations(group)
        guard let id else { return }
        if let first = groupPaths[id] {
            warn(
                group.path(to: "id"), "a group's id stands once in a file",
                "give it an id of its own; its subscriptions join the group at \(first), and the "
                    + "name and texts of that one are used")
            join(members, group: id, in: &contents)
            return
        }
        groupPaths[id] = group.path
        contents.groups.append(
            SubscriptionGroup(
                id: id, referenceName: name, localizations: localizations, products: members))
    }

    private func join(
        _ members: [ProductID], group id: String, in contents: inout CatalogueContents
    ) {
        contents.groups = contents.groups.map { known in
            guard known.id == id else { return known }
            return SubscriptionGroup(
                id: id, referenceName: known.referenceName,
                localizations: known.localizations, products: known.products + members)
        }
    }

    private mutating func checkGroup(of item: Node, _ id: String?) {
        guard item.isObject, let own = text(item, "subscriptionGroupID"), let id, own != id
        else { return }
        warn(
            item.path(to: "subscriptionGroupID"), "it differs from the id of the group around it",
            "change it to \(id), which is used")
    }

    private mutating func terms(
        _ item: Node, group: String, _ period: Period
    ) -> SubscriptionTerms {
        SubscriptionTerms(
            groupID: group, level: level(item), period: period, billingPlans: plans(item),
            introductoryOffers: introductory(item, period),
            promotionalOffers: offers(item, "adHocOffers", .promotional, period),
            codeOffers: offers(item, "codeOffers", .code, period),
            winBackOffers: offers(item, "winbackOffers", .winBack, period))
    }

    private mutating func level(_ item: Node) -> Int {
        let level = integer(item, "groupNumber")
        if let level, (1...Self.levelMax).contains(level) { return level }
        warn(
            item.path(to: "groupNumber"),
            "a subscription has a level from 1 to \(Self.levelMax) in its group",
            "write one; 1, the highest, is used until then")
        return 1
    }

    /// Files may leave gaps between levels; none is known to go near it.
    private static let levelMax = 1_000_000

    private mutating func plans(_ item: Node) -> [BillingPlan] {
        var plans: [BillingPlan] = []
        for entry in list(item, "billingPlans") where isObject(entry) {
            guard let kind = plan(entry) else {
                warn(
                    entry.path(to: "billingPlanType"), "a billing plan has a type",
                    "write BILLED_UPFRONT or MONTHLY; the plan is left out")
                continue
            }
            let (subject, otherwise) = ("a billing plan", "the plan is left out")
            guard let price = price(entry, of: subject, otherwise: otherwise) else { continue }
            // The price of all parts.
            let commitment =
                entry["commitmentDisplayPrice"] == nil
                ? price * (kind == .monthly ? Commitment.periods : 1)
                : self.price(
                    entry, "commitmentDisplayPrice", of: subject, otherwise: otherwise)
            guard let commitment else { continue }
            plans.append(
                BillingPlan(
                    kind: kind, price: price, commitmentPrice: commitment,
                    isEnabled: boolean(entry, "isEnabled") ?? true))
        }
        return plans
    }

    // MARK: Offers

    /// Reads the newer list if it exists. The single offer repeats one of its
    /// offers.
    private mutating func introductory(_ item: Node, _ period: Period) -> [Offer] {
        if item["introductoryOffers"] != nil {
            return offers(item, "introductoryOffers", .introductory, period)
        }
        guard let entry = item["introductoryOffer"], isObject(entry) else { return [] }
        return offer(entry, period).map { [$0] } ?? []
    }

    private mutating func offers(
        _ item: Node, _ key: String, _ kind: OfferKind, _ period: Period
    ) -> [Offer] {
        var offers: [Offer] = []
        var paths: [String: String] = [:]
        for entry in list(item, key) where isObject(entry) {
            guard let offer = offer(entry, period), hasName(entry, in: key) else { continue }
            let name = offer.name(as: kind)
            // Codes and ids that are missing name nothing.
            if !name.isEmpty, let first = paths.updateValue(entry.path, forKey: name) {
                paths[name] = first
                warn(
                    entry.path(to: Self.nameKey(of: kind)),
                    "an offer's \(Self.nameWords(of: kind)) stands once among those of its kind",
                    "give it another; the one at \(first) is taken")
                continue
            }
            offers.append(offer)
        }
        return offers
    }

    private static func nameKey(of kind: OfferKind) -> String {
        switch kind {
        case .introductory: "billingPlanType"
        case .code: "referenceName"
        case .promotional, .winBack: "offerID"
        }
    }

    private static func nameWords(of kind: OfferKind) -> String {
        switch kind {
        case .introductory: "billing plan"
        case .code: "name"
        case .promotional, .winBack: "id"
        }
    }

    /// Whether the offer has a valid id. Apps request these offers by id.
    private mutating func hasName(_ entry: Node, in key: String) -> Bool {
        guard ["adHocOffers", "winbackOffers"].contains(key),
            let id = text(entry, "offerID"), !IDText.isID(id)
        else { return true }
        warn(
            entry.path(to: "offerID"), "an offer's id is \(IDText.rule)",
            "rename it, in the file and in the app; the offer is left out")
        return false
    }

    private mutating func offer(_ entry: Node, _ own: Period) -> Offer? {
        guard let mode = mode(entry), let period = offerPeriod(entry, mode, own) else {
            return nil
        }
        let price =
            mode == .free
            ? Amount(milliunits: 0)
            : price(entry, of: "an offer that is paid", otherwise: "the offer is left out")
        guard let price else { return nil }
        return Offer(
            id: text(entry, "offerID").flatMap { IDText.isID($0) ? $0 : nil },
            referenceName: text(entry, "referenceName"), mode: mode, period: period,
            periodCount: mode == .payAsYouGo ? periodCount(entry) : 1,
            price: price, billingPlan: plan(entry), eligibility: eligibility(entry),
            isStackable: boolean(entry, "isStackable") ?? false,
            isEligible: boolean(entry, "isEligible") ?? false)
    }

    private mutating func mode(_ entry: Node) -> Offer.PaymentMode? {
        if entry["paymentMode"] == nil, entry["offerMode"] != nil {
            warn(
                entry.path(to: "offerMode"),
                "an offer's keys are paymentMode and subscriptionPeriod",
                "write it with them; the offer is left out")
            return nil
        }
        let written = text(entry, "paymentMode") ?? "none"
        if let mode = Offer.PaymentMode(rawValue: written) { return mode }
        let modes = Offer.PaymentMode.allCases.map(\.rawValue).joined(separator: ", ")
        warn(
            entry.path(to: "paymentMode"), "an offer is paid in one of the ways \(modes)",
            "write one; the offer is left out")
        return nil
    }

    private mutating func offerPeriod(
        _ entry: Node, _ mode: Offer.PaymentMode, _ own: Period
    ) -> Period? {
        guard let written = text(entry, "subscriptionPeriod"),
            let period = Period(iso8601: written)
        else {
            if mode == .payAsYouGo { return own }
            warn(
                entry.path(to: "subscriptionPeriod"), "an offer has a length such as P1W or P3M",
                "write one; the offer is left out")
            return nil
        }
        guard mode == .payAsYouGo, period != own else { return period }
        warn(
            entry.path(to: "subscriptionPeriod"),
            "an offer paid as you go has the subscription's own period",
            "write \(own), which is used")
        return own
    }

    private mutating func periodCount(_ entry: Node) -> Int {
        guard let count = integer(entry, "numberOfPeriods") else { return 1 }
        if (1...999).contains(count) { return count }
        warn(
            entry.path(to: "numberOfPeriods"), "an offer is for 1 to 999 periods",
            "write how many; 1 is used until then")
        return 1
    }

    private mutating func plan(_ entry: Node) -> BillingPlan.Kind? {
        guard let written = text(entry, "billingPlanType") else { return nil }
        if let kind = BillingPlan.Kind(rawValue: written) { return kind }
        warn(
            entry.path(to: "billingPlanType"), "the billing plan is unknown",
            "write BILLED_UPFRONT or MONTHLY; it counts as any")
        return nil
    }

    private mutating func eligibility(_ entry: Node) -> Set<Offer.Eligibility> {
        var known: Set<Offer.Eligibility> = []
        for (index, word) in list(entry, "eligibility").enumerated() {
            if case .string(let text) = word.value, let one = Offer.Eligibility(rawValue: text) {
                known.insert(one)
            } else {
                warn(
                    entry.path(to: "eligibility") + "[\(index)]",
                    "customers are new, existing or expired", "write one of them; it is ignored"
                )
            }
        }
        return known
    }
}
