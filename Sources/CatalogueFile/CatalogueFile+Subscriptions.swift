// SPDX-License-Identifier: Apache-2.0

public import Commerce
import StrictJSON

extension CatalogueFile {
    /// The same file with these groups and, of the subscriptions named, these
    /// levels and offers. What is as before keeps its very bytes; a group that
    /// is not named goes where it is empty. Nil: the groups stay as they are.
    public func offering(
        _ groups: [SubscriptionGroup]?, _ terms: [ProductID: SubscriptionTerms]
    ) throws(CatalogueFileFault) -> CatalogueFile {
        let changes = SubscriptionChanges(contents, groups, terms)
        var tree = tree
        changes.apply(to: &tree)
        guard tree != self.tree else { return self }
        let text = FileText(tree, endsWithLineFeed: bytes.last == 0x0A)
        return try CatalogueFile(tree, bytes: text.bytes, name: name, images: images)
    }
}

/// From a file's groups and terms to others, on the file's own tree.
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
                // Of groups that share an id the first one's name counts, and
                // the others keep what is written of them.
                guard case .string(let id)? = group["id"], told.insert(id).inserted else {
                    return changedMembers(of: group)
                }
                return changed(group)
            } + added
        guard wanted != groups else { return }
        let isNew = tree["subscriptionGroups"] == nil
        tree["subscriptionGroups"] = .array(wanted)
        if isNew { tree = FileText.topSorted(tree) }
    }

    private var added: [JSONTree] {
        (new ?? []).filter { old[$0.id] == nil }.map { group in
            .object([
                .init("id", .string(group.id)),
                .init("localizations", .array(group.localizations.map(Self.tree))),
                .init("name", .string(group.referenceName)),
                .init("subscriptions", .array([])),
            ])
        }
    }

    /// Nil where the group is to go.
    private func changed(_ group: JSONTree) -> JSONTree? {
        guard case .string(let id)? = group["id"], let known = old[id] else { return group }
        var group = group
        if let wanted = new?.first(where: { $0.id == id }) {
            if wanted.referenceName != known.referenceName {
                group["name"] = .string(wanted.referenceName)
            }
            if wanted.localizations != known.localizations {
                group["localizations"] = .array(wanted.localizations.map(Self.tree))
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
        let written = item
        var item = item
        if old.level != new.level { item["groupNumber"] = .number("\(new.level)") }
        for (kind, key) in OfferText.keys where old.offers(kind) != new.offers(kind) {
            replace(key, kind, from: old.offers(kind), to: new.offers(kind), text, in: &item)
        }
        if old.introductoryOffers != new.introductoryOffers {
            replaceIntroductory(old.introductoryOffers, new.introductoryOffers, text, in: &item)
        }
        return item == written ? written : FileText.topSorted(item)
    }

    /// The newer list where there is one or more than one is wanted; the
    /// single offer repeats the first, so that older editors see it.
    private func replaceIntroductory(
        _ old: [Offer], _ new: [Offer], _ product: String, in item: inout JSONTree
    ) {
        let hadList = item["introductoryOffers"] != nil
        if hadList || new.count > 1 {
            replace("introductoryOffers", .introductory, from: old, to: new, product, in: &item)
        }
        guard item["introductoryOffer"] != nil || !hadList else { return }
        let first = new.first { $0.billingPlan != .monthly }
        item["introductoryOffer"] =
            first.map { OfferText.tree($0, .introductory, product) } ?? .null
    }

    /// Offers that are as before keep what is written of them.
    private func replace(
        _ key: String, _ kind: OfferKind, from old: [Offer], to new: [Offer], _ product: String,
        in item: inout JSONTree
    ) {
        var written: [JSONTree] = []
        if case .array(let present)? = item[key] { written = present }
        // What is written and what was read of it stand in one order only
        // where nothing was passed over.
        let texts = written.count == old.count ? Array(zip(old, written)) : []
        item[key] = .array(
            new.map { offer in
                texts.first { $0.0 == offer }?.1 ?? OfferText.tree(offer, kind, product)
            })
    }

    private static func tree(_ words: Localization) -> JSONTree {
        .object([
            .init("description", .string(words.details)),
            .init("displayName", .string(words.displayName)),
            .init("locale", .string(words.locale)),
        ])
    }
}

/// Offers as files write them.
private enum OfferText {
    static let keys: [(OfferKind, String)] = [
        (.promotional, "adHocOffers"), (.code, "codeOffers"), (.winBack, "winbackOffers"),
    ]

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
    /// The same object with its own keys in Xcode's order.
    static func topSorted(_ tree: JSONTree) -> JSONTree {
        guard case .object(let members) = tree else { return tree }
        return .object(members.sorted { precedes($0.key, $1.key) })
    }

    /// Eight upper-case hexadecimal digits, as editors make them, always the
    /// same for the same name: FNV-1a.
    static func internalID(of name: String) -> String {
        var hash: UInt32 = 2_166_136_261
        for byte in name.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        let digits = String(hash, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
