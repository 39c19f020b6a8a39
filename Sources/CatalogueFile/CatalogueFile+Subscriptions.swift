// SPDX-License-Identifier: Apache-2.0

public import Commerce
import StrictJSON

extension CatalogueFile {
    /// Returns the file with these groups, and with these levels and offers of
    /// the given subscriptions. Unchanged parts keep their bytes. A group that
    /// is not in `groups` is removed if it is empty. If `groups` is nil, the
    /// groups stay unchanged.
    public func offering(
        _ groups: [SubscriptionGroup]?, _ terms: [ProductID: SubscriptionTerms]
    ) throws(CatalogueFileFault) -> CatalogueFile {
        let changes = SubscriptionChanges(contents, groups, terms)
        var tree = tree
        changes.apply(to: &tree)
        guard tree != self.tree else { return self }
        return try saying(tree)
    }
}

/// Changes the file's tree from one set of groups and terms to another.
private struct SubscriptionChanges {
    let before: [ProductID: SubscriptionTerms]
    let after: [ProductID: SubscriptionTerms]
    let old: [String: SubscriptionGroup]
    let new: [SubscriptionGroup]?

    init(
        _ contents: CatalogueContents, _ groups: [SubscriptionGroup]?,
        _ terms: [ProductID: SubscriptionTerms]
    ) {
        before = contents.terms
        after = terms
        old = Dictionary(contents.groups.map { ($0.id, $0) }) { first, _ in first }
        new = groups
    }

    func apply(to tree: inout JSONTree) {
        var groups: [JSONTree] = []
        if case .array(let present)? = tree["subscriptionGroups"] { groups = present }
        var told: Set<String> = []
        let wanted =
            groups.compactMap { group -> JSONTree? in
                // If several groups share an id, only the first one's name is
                // read. The others keep their text.
                guard case .string(let id)? = group["id"], told.insert(id).inserted else {
                    return changedMembers(of: group)
                }
                return changed(group)
            } + added
        guard wanted != groups else { return }
        tree.put("subscriptionGroups", .array(wanted))
    }

    private var added: [JSONTree] {
        (new ?? []).filter { old[$0.id] == nil }.map { group in
            .object([
                .init("id", .string(group.id)),
                .init("localizations", group.localizations.tree(over: nil)),
                .init("name", .string(group.referenceName)),
                .init("subscriptions", .array([])),
            ])
        }
    }

    /// Nil if the group is to be removed.
    private func changed(_ group: JSONTree) -> JSONTree? {
        guard case .string(let id)? = group["id"], let known = old[id] else { return group }
        var group = group
        if let wanted = new?.first(where: { $0.id == id }) {
            if wanted.referenceName != known.referenceName {
                group.put("name", .string(wanted.referenceName))
            }
            if wanted.localizations != known.localizations {
                group.put("localizations", wanted.localizations.tree(over: group["localizations"]))
            }
        } else if new != nil, known.products.isEmpty {
            return nil
        }
        return changedMembers(of: group)
    }

    private func changedMembers(of group: JSONTree) -> JSONTree {
        guard case .array(let items)? = group["subscriptions"] else { return group }
        var group = group
        group["subscriptions"] = .array(items.map { changed(subscription: $0) })
        return group
    }

    private func changed(subscription item: JSONTree) -> JSONTree {
        guard case .string(let text)? = item["productID"], let old = before[ProductID(text)],
            let new = after[ProductID(text)]
        else { return item }
        var item = item
        if old.level != new.level { item.put("groupNumber", .number("\(new.level)")) }
        for (kind, key) in OfferText.keys where old.offers(kind) != new.offers(kind) {
            replace(key, kind, from: old.offers(kind), to: new.offers(kind), text, in: &item)
        }
        if old.introductoryOffers != new.introductoryOffers {
            replaceIntroductory(old.introductoryOffers, new.introductoryOffers, text, in: &item)
        }
        return item
    }

    /// Writes the newer list if it exists, or if there is more than one offer.
    /// The single offer repeats the first one for older editors.
    private func replaceIntroductory(
        _ old: [Offer], _ new: [Offer], _ product: String, in item: inout JSONTree
    ) {
        let hadList = item["introductoryOffers"] != nil
        if hadList || new.count > 1 {
            replace("introductoryOffers", .introductory, from: old, to: new, product, in: &item)
        }
        guard item["introductoryOffer"] != nil || !hadList else { return }
        let (before, first) = (
            old.first { $0.billingPlan != .monthly }, new.first { $0.billingPlan != .monthly }
        )
        guard before != first || item["introductoryOffer"] == nil else { return }
        let written = (item["introductoryOffer"] ?? .null, before)
        item.put(
            "introductoryOffer",
            first.map { OfferText.tree($0, .introductory, product, over: written) } ?? .null)
    }

    /// Replaces a list of offers. Unchanged offers, and the unchanged parts of
    /// changed ones, keep their text.
    private func replace(
        _ key: String, _ kind: OfferKind, from old: [Offer], to new: [Offer], _ product: String,
        in item: inout JSONTree
    ) {
        var written: [JSONTree] = []
        if case .array(let present)? = item[key] { written = present }
        let texts = OfferText.pairs(written, old)
        let known = texts.compactMap { text, offer in offer.map { (text, Optional($0)) } }
        var offers = new.map { offer in
            let same =
                known.first { $0.1 == offer }
                ?? known.first { $0.1?.name(as: kind) == offer.name(as: kind) }
            guard let same else { return OfferText.tree(offer, kind, product) }
            return OfferText.tree(offer, kind, product, over: same)
        }
        // Offers that were not read stay in their place.
        for (place, text) in texts.enumerated() where text.1 == nil {
            offers.insert(text.0, at: min(place, offers.count))
        }
        item.put(key, .array(offers))
    }
}

/// Writes offers in the format of the files.
private enum OfferText {
    static let keys: [(OfferKind, String)] = [
        (.promotional, "adHocOffers"), (.code, "codeOffers"), (.winBack, "winbackOffers"),
    ]

    /// Returns the text of an offer in place of another. Equal parts of the
    /// other are kept.
    static func tree(
        _ offer: Offer, _ kind: OfferKind, _ product: String, over written: (JSONTree, Offer?)
    ) -> JSONTree {
        guard case (.object, let old?) = written else { return tree(offer, kind, product) }
        var item = written.0
        item.put(
            changesFrom: tree(old, kind, product), to: tree(offer, kind, product),
            except: ["internalID"])
        return item
    }

    /// Pairs the written offers with those that were read from them. Nil for a
    /// written offer that was skipped.
    static func pairs(_ written: [JSONTree], _ read: [Offer]) -> [(JSONTree, Offer?)] {
        var rest = read[...]
        return written.map { item in
            guard let offer = rest.first, item.text("paymentMode") == offer.mode.rawValue,
                offer.id == nil || item.text("offerID").isSame(as: offer.id),
                item.text("referenceName").isSame(as: offer.referenceName)
            else { return (item, nil) }
            rest.removeFirst()
            return (item, offer)
        }
    }

    static func tree(_ offer: Offer, _ kind: OfferKind, _ product: String) -> JSONTree {
        let own = "\(product)/\(kind.rawValue)/\(offer.name(as: kind))"
        var members: [JSONTree.Member] = [
            .init("internalID", .string(FileText.internalID(of: own))),
            .init("paymentMode", .string(offer.mode.rawValue)),
            .init("subscriptionPeriod", .string(offer.period.description)),
        ]
        if offer.mode != .free {
            members.append(.init("displayPrice", .string(offer.price.fileText)))
        }
        if offer.mode == .payAsYouGo {
            members.append(.init("numberOfPeriods", .number("\(offer.periodCount)")))
        }
        if let plan = offer.billingPlan {
            members.append(.init("billingPlanType", .string(plan.rawValue)))
        }
        if let id = offer.id { members.append(.init("offerID", .string(id))) }
        if let name = offer.referenceName {
            members.append(.init("referenceName", .string(name)))
        }
        if kind == .code {
            let words = Offer.Eligibility.allCases.filter(offer.eligibility.contains)
            members += [
                .init("eligibility", .array(words.map { .string($0.rawValue) })),
                .init("isStackable", .boolean(offer.isStackable)),
            ]
        }
        if kind == .winBack { members.append(.init("isEligible", .boolean(offer.isEligible))) }
        return FileText.sorted(.object(members))
    }
}

extension FileText {
    /// Returns eight upper-case hexadecimal digits, like those of editors. They
    /// depend only on the name (FNV-1a).
    static func internalID(of name: String) -> String {
        var hash: UInt32 = 2_166_136_261
        for byte in name.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        let digits = String(hash, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
