// SPDX-License-Identifier: Apache-2.0

import Commerce

/// Reads one file from the top, collecting what is wrong on the way.
///
/// A wrong type, a missing id or type, and a price that is no price are
/// errors: guessing would sell something else. What half-edited files hold,
/// and what does not matter to a sale, are warnings.
struct CatalogueReader {
    let file: String
    private(set) var errors: [CatalogueProblem] = []
    private(set) var warnings: [CatalogueProblem] = []
    private var pathsByID: [ProductID: String] = [:]

    init(file: String) {
        self.file = file
    }

    mutating func catalogue(_ root: Node) -> Catalogue {
        guard root.isObject else {
            refuse("", "the file must hold a JSON object", "start it with { and end it with }")
            return Catalogue(products: [], storefront: "USA", locale: "en_US")
        }
        var products: [Product] = []
        for key in ["products", "nonRenewingSubscriptions"] {
            for item in list(root, key) {
                if let product = product(item, group: nil) { products.append(product) }
            }
        }
        for group in list(root, "subscriptionGroups") { products += subscriptions(group) }
        warnOfUnread(root)
        return settings(root, products)
    }

    // MARK: Products

    private mutating func subscriptions(_ group: Node) -> [Product] {
        guard isObject(group) else { return [] }
        let id = text(group, "id")
        if id == nil {
            warn(
                group.path(to: "id"), "a subscription group has an id",
                "give it one; it is listed without")
        }
        var products: [Product] = []
        for item in list(group, "subscriptions") {
            if let own = text(item, "subscriptionGroupID"), let id, own != id {
                warn(
                    item.path(to: "subscriptionGroupID"),
                    "it differs from the id of the group around it",
                    "make it \(id), which is taken")
            }
            if let product = product(item, group: id) { products.append(product) }
        }
        return products
    }

    private mutating func product(_ item: Node, group: String?) -> Product? {
        guard isObject(item) else { return nil }
        let id = requiredText(item, "productID")
        let type = type(item)
        let price = price(item)
        let isFamilyShareable = familyShareable(item)
        let localizations = localizations(item)
        let period = type == .autoRenewable ? period(item) : nil
        let referenceName = text(item, "referenceName") ?? ""
        guard let id, let type, let price, isNew(id, item) else { return nil }
        return Product(
            id: ProductID(id), type: type, referenceName: referenceName, price: price,
            isFamilyShareable: isFamilyShareable, localizations: localizations,
            groupID: type == .autoRenewable ? group : nil, period: period)
    }

    private mutating func isNew(_ id: String, _ item: Node) -> Bool {
        let path = item.path(to: "productID")
        guard !id.isEmpty else {
            warn(path, "a product's id is not empty", "give it one; the product is left out")
            return false
        }
        if let first = pathsByID[ProductID(id)] {
            warn(
                path, "a product's id stands once in a file",
                "rename it; the one at \(first) is taken")
            return false
        }
        pathsByID[ProductID(id)] = path
        return true
    }

    private mutating func type(_ item: Node) -> ProductType? {
        switch requiredText(item, "type") {
        case nil: return nil
        case "Consumable": return .consumable
        case "NonConsumable": return .nonConsumable
        case "NonRenewingSubscription": return .nonRenewing
        case "RecurringSubscription": return .autoRenewable
        default:
            refuse(
                item.path(to: "type"), "the type is none that a product can have",
                "write Consumable, NonConsumable, NonRenewingSubscription or "
                    + "RecurringSubscription")
            return nil
        }
    }

    private mutating func price(_ item: Node) -> Amount? {
        let path = item.path(to: "displayPrice")
        let written: String?
        if case .number(let number)? = item["displayPrice"]?.value {
            warn(path, "a price is written in quotes", "write \"\(number)\", as which it is read")
            written = "\(number)"
        } else {
            written = text(item, "displayPrice")
        }
        guard let written, !written.isEmpty else {
            let isWrongType = item["displayPrice"] != nil && written == nil
            if !isWrongType {
                warn(path, "a product has a price", "write one such as \"0.99\"; 0 is taken")
            }
            return isWrongType ? nil : Amount(milliunits: 0)
        }
        guard let amount = Amount(decimal: written) else {
            refuse(
                path, "a price is digits with at most one point and three decimals",
                "write it like \"0.99\", without currency, sign or thousands separator")
            return nil
        }
        return amount
    }

    private mutating func familyShareable(_ item: Node) -> Bool {
        if item["familyShareable"] == nil, item["familySharable"] != nil {
            warn(
                item.path(to: "familySharable"), "the key is spelt familyShareable",
                "add the e; it is read all the same")
            return boolean(item, "familySharable") ?? false
        }
        return boolean(item, "familyShareable") ?? false
    }

    private mutating func localizations(_ item: Node) -> [Localization] {
        var answer: [Localization] = []
        for entry in list(item, "localizations") where isObject(entry) {
            let displayName = text(entry, "displayName") ?? ""
            let details = text(entry, "description") ?? ""
            guard let locale = text(entry, "locale"), !locale.isEmpty else {
                warn(
                    entry.path(to: "locale"), "a localization names its locale",
                    "write one such as en_US; the entry is left out")
                continue
            }
            answer.append(Localization(locale: locale, displayName: displayName, details: details))
        }
        return answer
    }

    private mutating func period(_ item: Node) -> String? {
        let known = ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"]
        let period = text(item, "recurringSubscriptionPeriod")
        if let period, known.contains(period) { return period }
        warn(
            item.path(to: "recurringSubscriptionPeriod"), "a subscription has a period",
            "write one of \(known.joined(separator: ", ")); it is listed without")
        return nil
    }

    // MARK: Settings

    private mutating func settings(_ root: Node, _ products: [Product]) -> Catalogue {
        let settings = root["settings"] ?? Node(.object([:]), "settings")
        guard isObject(settings) else {
            return Catalogue(products: products, storefront: "USA", locale: "en_US")
        }
        var storefront = text(settings, "_storefront") ?? "USA"
        if Storefront.named(storefront) == nil {
            warn(
                settings.path(to: "_storefront"), "there is no storefront with this code",
                "write three letters such as USA, which is taken")
            storefront = "USA"
        }
        let locale = text(settings, "_locale") ?? ""
        warnOfSwitches(settings)
        return Catalogue(
            products: products, storefront: storefront, locale: locale.isEmpty ? "en_US" : locale,
            appID: appID(settings))
    }

    private mutating func appID(_ settings: Node) -> Int64? {
        guard let digits = text(settings, "_applicationInternalID") else { return nil }
        if let number = Int64(digits), number > 0, number < 1 << 53 { return number }
        warn(
            settings.path(to: "_applicationInternalID"), "an app's number is decimal digits",
            "write the app's Apple ID; it is taken as unknown")
        return nil
    }

    /// Switches that would make a purchase end otherwise, were they obeyed.
    private mutating func warnOfSwitches(_ settings: Node) {
        let switches = [
            "_askToBuyEnabled", "_billingIssuesEnabled", "_failTransactionsEnabled",
        ]
        for key in switches where settings[key]?.value == .boolean(true) {
            warn(
                settings.path(to: key), "this switch is not obeyed yet",
                "purchases go on as if it were off")
        }
        for entry in list(settings, "_storeKitErrors")
        where entry["enabled"]?.value == .boolean(true) {
            warn(
                entry.path, "simulated errors are not obeyed yet",
                "calls go on as if it were off")
        }
    }

    /// Lists that hold something and are not read.
    private mutating func warnOfUnread(_ root: Node) {
        let unread = [
            "nonConsumableIAP", "nonConsumableProducts", "nonRenewableSubscriptions",
            "nonRenewingSubscriptionProducts", "subscriptions", "subscriptionBundleGroups",
            "subscriptionSuiteGroups",
        ]
        for key in unread {
            guard let node = root[key], node.value != .array([]) else { continue }
            warn(
                node.path, "this list is not read",
                key.hasSuffix("Groups")
                    ? "its products are left out"
                    : "move its products to products, nonRenewingSubscriptions or "
                        + "subscriptionGroups")
        }
    }
}

// MARK: Values of a type

extension CatalogueReader {
    private mutating func list(_ node: Node, _ key: String) -> [Node] {
        guard let member = node[key] else { return [] }
        guard case .array(let elements) = member.value else {
            refuse(member.path, "it must be an array", "put it in [ and ]")
            return []
        }
        return elements.enumerated().map { Node($1, "\(member.path)[\($0)]") }
    }

    private mutating func isObject(_ node: Node) -> Bool {
        if !node.isObject { refuse(node.path, "it must be an object", "put it in { and }") }
        return node.isObject
    }

    private mutating func requiredText(_ node: Node, _ key: String) -> String? {
        if node[key] == nil { refuse(node.path(to: key), "it is missing", "add it, as text") }
        return text(node, key)
    }

    /// Nil also where it is wrong, which is noted.
    private mutating func text(_ node: Node, _ key: String) -> String? {
        guard let member = node[key] else { return nil }
        guard case .string(let text) = member.value else {
            refuse(member.path, "it must be text", "put it in quotes")
            return nil
        }
        guard !text.utf8.contains(0) else {
            refuse(member.path, "a text never holds U+0000", "remove that character")
            return nil
        }
        return text
    }

    private mutating func boolean(_ node: Node, _ key: String) -> Bool? {
        guard let member = node[key] else { return nil }
        guard case .boolean(let flag) = member.value else {
            refuse(member.path, "it must be true or false", "write it without quotes")
            return nil
        }
        return flag
    }

    private mutating func refuse(_ path: String, _ rule: String, _ remedy: String) {
        errors.append(
            CatalogueProblem(file: file, keyPath: path, rule: rule, remedy: remedy))
    }

    private mutating func warn(_ path: String, _ rule: String, _ remedy: String) {
        warnings.append(
            CatalogueProblem(file: file, keyPath: path, rule: rule, remedy: remedy))
    }
}
