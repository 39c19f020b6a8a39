// SPDX-License-Identifier: Apache-2.0

public import Commerce
import StrictJSON

extension CatalogueFile {
    /// Returns the file with the products of `catalogue`. Changed prices, texts
    /// and labels are replaced, new products are added, and removed ones are
    /// left out. All other bytes stay as they are, including the order of keys,
    /// white space and unknown keys.
    ///
    /// A new subscription is added to its group at the highest level, because a
    /// catalogue contains no level. A missing group is created.
    public func selling(_ catalogue: Catalogue) throws(CatalogueFileFault) -> CatalogueFile {
        guard catalogue != self.catalogue else { return self }
        var changes = Changes(
            before: Dictionary(uniqueKeysWithValues: self.catalogue.products.map { ($0.id, $0) }),
            unpriced: self.catalogue.unpriced, after: catalogue, file: name)
        var tree = tree
        changes.apply(to: &tree)
        guard changes.problems.isEmpty else {
            throw CatalogueFileFault(problems: changes.problems)
        }
        changes.applySettings(from: self.catalogue, to: &tree)
        return try saying(tree)
    }

    /// Returns the file with another tree, written into the existing text.
    func saying(_ tree: JSONTree) throws(CatalogueFileFault) -> CatalogueFile {
        let text: FileRewriter
        do throws(JSONFailure) {
            text = try FileRewriter(bytes, as: tree, limits: Self.limits)
        } catch {
            throw CatalogueFileFault(
                name, "", "the file is not JSON: \(error)", "import it again")
        }
        return try CatalogueFile(tree, bytes: text.bytes, name: name, images: images)
    }

    /// Makes a new file with keys in Xcode's order.
    public static func new(
        selling catalogue: Catalogue, name: String
    ) throws(CatalogueFileFault) -> CatalogueFile {
        let empty = JSONTree.array([])
        let tree = JSONTree.object([
            .init("nonRenewingSubscriptions", empty), .init("products", empty),
            .init("settings", .object([])), .init("subscriptionGroups", empty),
            .init(
                "version", .object([.init("major", .number("4")), .init("minor", .number("0"))])),
        ])
        return try CatalogueFile(json: FileText(tree).bytes, name: name).selling(catalogue)
    }
}

/// Changes the file's tree from one catalogue to another.
private struct Changes {
    let before: [ProductID: Product]
    /// Products that had no price before.
    let unpriced: Set<ProductID>
    let after: Catalogue
    let file: String
    private(set) var problems: [CatalogueProblem] = []
    private var placed: Set<ProductID> = []

    init(
        before: [ProductID: Product], unpriced: Set<ProductID>, after: Catalogue, file: String
    ) {
        self.before = before
        self.unpriced = unpriced
        self.after = after
        self.file = file
    }

    mutating func apply(to tree: inout JSONTree) {
        let products = Dictionary(after.products.map { ($0.id, $0) }) { first, _ in first }
        for key in ["products", "nonRenewingSubscriptions"] {
            guard case .array(let items)? = tree[key] else { continue }
            tree[key] = .array(kept(items, products))
        }
        if case .array(let groups)? = tree["subscriptionGroups"] {
            tree["subscriptionGroups"] = .array(groups.map { kept($0, products) })
        }
        for product in after.products where !placed.contains(product.id) {
            add(product, to: &tree)
        }
    }

    func applySettings(from old: Catalogue, to tree: inout JSONTree) {
        guard old.storefront != after.storefront || old.locale != after.locale else { return }
        var settings = tree["settings"] ?? .object([])
        if old.storefront != after.storefront {
            settings.put("_storefront", .string(after.storefront))
        }
        if old.locale != after.locale { settings.put("_locale", .string(after.locale)) }
        tree.put("settings", settings)
    }

    private mutating func kept(_ group: JSONTree, _ products: [ProductID: Product]) -> JSONTree {
        guard case .array(let items)? = group["subscriptions"] else { return group }
        var group = group
        group["subscriptions"] = .array(kept(items, products))
        return group
    }

    /// Returns the items that are still sold, with their changes.
    private mutating func kept(
        _ items: [JSONTree], _ products: [ProductID: Product]
    ) -> [JSONTree] {
        items.compactMap { item in
            guard case .string(let text)? = item["productID"], !text.isEmpty,
                let old = before[ProductID(text)]
            else { return item }
            guard let new = products[old.id] else { return nil }
            // If an id occurs twice, only the first item was read. The others
            // stay unchanged.
            guard placed.insert(new.id).inserted else { return item }
            return changed(item, old, new)
        }
    }

    private mutating func changed(_ item: JSONTree, _ old: Product, _ new: Product) -> JSONTree {
        let losesPrice = after.unpriced.contains(new.id) && !unpriced.contains(new.id)
        let gainsPrice = unpriced.contains(new.id) && !after.unpriced.contains(new.id)
        guard old != new || losesPrice || gainsPrice else { return item }
        if old.kind != new.kind {
            problems.append(
                CatalogueProblem(
                    file: file, keyPath: new.id.value,
                    rule: "a product keeps its type, its group and its period",
                    remedy: "give the changed one a new id"))
        }
        var item = item
        if old.price != new.price || losesPrice || gainsPrice {
            item.put("displayPrice", .string(priceText(new)))
        }
        if old.referenceName != new.referenceName {
            item.put("referenceName", .string(new.referenceName))
        }
        if old.isFamilyShareable != new.isFamilyShareable {
            item.put("familyShareable", .boolean(new.isFamilyShareable))
            item["familySharable"] = nil
        }
        if old.localizations != new.localizations {
            item.put("localizations", new.localizations.tree(over: item["localizations"]))
        }
        return item
    }

    /// Empty for a product without a price, as in Xcode's files.
    private func priceText(_ product: Product) -> String {
        after.unpriced.contains(product.id) ? "" : product.price.fileText
    }

    private func add(_ product: Product, to tree: inout JSONTree) {
        switch product.kind {
        case .autoRenewable(let groupID, _):
            addSubscription(product, to: groupID ?? Self.internalID(of: product.id), in: &tree)
        case .nonRenewing:
            append(self.tree(product), under: "nonRenewingSubscriptions", to: &tree)
        case .consumable, .nonConsumable:
            append(self.tree(product), under: "products", to: &tree)
        }
    }

    /// Adds a subscription to its group. A missing group is created and named
    /// after its id.
    private func addSubscription(
        _ product: Product, to id: String, in tree: inout JSONTree
    ) {
        var groups: [JSONTree] = []
        if case .array(let present)? = tree["subscriptionGroups"] { groups = present }
        guard let index = groups.firstIndex(where: { $0["id"] == .string(id) }) else {
            var group = Self.group(id)
            append(self.tree(product), under: "subscriptions", to: &group)
            return append(group, under: "subscriptionGroups", to: &tree)
        }
        append(self.tree(product), under: "subscriptions", to: &groups[index])
        tree["subscriptionGroups"] = .array(groups)
    }

    private static func group(_ id: String) -> JSONTree {
        .object([
            .init("id", .string(id)), .init("localizations", .array([])),
            .init("name", .string(id)), .init("subscriptions", .array([])),
        ])
    }

    private func append(_ item: JSONTree, under key: String, to tree: inout JSONTree) {
        var items: [JSONTree] = []
        if case .array(let present)? = tree[key] { items = present }
        tree.put(key, .array(items + [item]))
    }

    private func tree(_ product: Product) -> JSONTree {
        var members: [JSONTree.Member] = [
            .init("displayPrice", .string(priceText(product))),
            .init("familyShareable", .boolean(product.isFamilyShareable)),
            .init("internalID", .string(Self.internalID(of: product.id))),
            .init("localizations", product.localizations.tree(over: nil)),
            .init("productID", .string(product.id.value)),
            .init("referenceName", .string(product.referenceName)),
            .init("type", .string(Self.typeName(product.type))),
        ]
        if case .autoRenewable(let groupID, let period) = product.kind {
            members += [
                .init("adHocOffers", .array([])), .init("codeOffers", .array([])),
                .init("groupNumber", .number("1")),
                .init("recurringSubscriptionPeriod", .string(period ?? "P1M")),
                .init("subscriptionGroupID", .string(groupID ?? "")),
            ]
        }
        return FileText.sorted(.object(members))
    }

    private static func typeName(_ type: ProductType) -> String {
        switch type {
        case .consumable: "Consumable"
        case .nonConsumable: "NonConsumable"
        case .nonRenewing: "NonRenewingSubscription"
        case .autoRenewable: "RecurringSubscription"
        }
    }

    private static func internalID(of id: ProductID) -> String {
        FileText.internalID(of: id.value)
    }
}
