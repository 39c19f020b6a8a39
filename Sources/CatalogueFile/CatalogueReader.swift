// SPDX-License-Identifier: Apache-2.0

import Commerce
import StrictJSON

/// Reads one file from the top and collects its problems.
///
/// A wrong type, a missing id or type, and an invalid price are errors, because
/// guessing would sell something else. States of half-edited files, and
/// problems that do not affect a sale, are warnings.
struct CatalogueReader {
    let file: String
    /// Ids of the images beside the file.
    let images: Set<String>
    var errors: [CatalogueProblem] = []
    var warnings: [CatalogueProblem] = []
    /// The products that the file shows with an image, in the order of the
    /// file.
    private(set) var imageUsers: [String: [ProductID]] = [:]
    private var unpriced: Set<ProductID> = []
    private var pathsByID: [ProductID: String] = [:]
    /// The path of the first group with an id.
    var groupPaths: [String: String] = [:]

    init(file: String, images: Set<String> = []) {
        self.file = file
        self.images = images
    }

    mutating func contents(_ root: Node) -> CatalogueContents {
        var contents = CatalogueContents()
        guard root.isObject else {
            refuse("", "the file must hold a JSON object", "start it with { and end it with }")
            return contents
        }
        for key in ["products", "nonRenewingSubscriptions"] {
            for item in list(root, key) {
                if let product = product(item, group: nil) {
                    contents.catalogue.products.append(product)
                }
            }
        }
        for group in list(root, "subscriptionGroups") { subscriptions(group, into: &contents) }
        contents.catalogue.unpriced = unpriced
        warnOfUnread(root)
        warnOfVersion(root)
        if contents.catalogue.products.isEmpty {
            warn("", "the file names no product", "add one to products, or the app sells nothing")
        }
        settings(root, into: &contents)
        contents.policies = policies(root)
        contents.offersKey = offersKey(root)
        return contents
    }

    // MARK: Products

    mutating func product(_ item: Node, group: String?) -> Product? {
        guard isObject(item) else { return nil }
        let id = requiredText(item, "productID")
        let type = type(item)
        let errorsBefore = errors.count
        let price = price(item)
        let hasWrongPrice = errors.count > errorsBefore
        let isFamilyShareable = familyShareable(item)
        let localizations = localizations(item)
        let period = type == .autoRenewable ? period(item) : nil
        let referenceName = shownText(item, "referenceName") ?? ""
        checkImage(item, of: id)
        guard let id, let type, !hasWrongPrice, isNew(id, item) else { return nil }
        if price == nil { unpriced.insert(ProductID(id)) }
        return Product(
            id: ProductID(id),
            kind: type == .autoRenewable
                ? .autoRenewable(groupID: group, period: period?.description)
                : ProductKind(type),
            referenceName: referenceName, price: price ?? Amount(milliunits: 0),
            isFamilyShareable: isFamilyShareable, localizations: localizations)
    }

    private mutating func isNew(_ id: String, _ item: Node) -> Bool {
        let path = item.path(to: "productID")
        guard !id.isEmpty else {
            warn(path, "a product's id is not empty", "give it one; the product is left out")
            return false
        }
        guard IDText.isID(id) else {
            refuse(
                path, "a product's id is \(IDText.rule)",
                "rename it, in the file and in the app")
            return false
        }
        if let first = pathsByID[ProductID(id)] {
            warn(
                path, "a product's id stands once in a file",
                "rename it; the one at \(first) is used")
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
                item.path(to: "type"), "the type is not a product type",
                "write Consumable, NonConsumable, NonRenewingSubscription or "
                    + "RecurringSubscription")
            return nil
        }
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

    mutating func localizations(_ item: Node) -> [Localization] {
        var answer: [Localization] = []
        for entry in list(item, "localizations") where isObject(entry) {
            let displayName = shownText(entry, "displayName") ?? ""
            let details = shownText(entry, "description", hasLines: true) ?? ""
            guard let locale = text(entry, "locale"), !locale.isEmpty else {
                warn(
                    entry.path(to: "locale"), "a localization names its locale",
                    "write one such as en_US; the entry is left out")
                continue
            }
            if answer.contains(where: { $0.locale.isSame(as: locale) }) {
                warn(
                    entry.path(to: "locale"), "a locale stands once among localizations",
                    "remove one of them; the first is shown")
            }
            answer.append(Localization(locale: locale, displayName: displayName, details: details))
        }
        return answer
    }

    private mutating func period(_ item: Node) -> Period? {
        let known = Period.ofSubscriptions
        let period = text(item, "recurringSubscriptionPeriod")
        if let period, known.contains(period) { return Period(iso8601: period) }
        warn(
            item.path(to: "recurringSubscriptionPeriod"), "a subscription has a period",
            "write one of \(known.joined(separator: ", ")); it is listed without")
        return nil
    }

    private mutating func checkImage(_ item: Node, of product: String?) {
        guard let id = text(item, "promotionalImageID") else { return }
        imageUsers[id, default: []].append(ProductID(product ?? ""))
        guard !images.contains(id) else { return }
        warn(
            item.path(to: "promotionalImageID"), "the image \(id) is not in the package's Assets",
            "add Assets/\(id).png, or remove the key; the product has no image")
    }

    /// Warns only, because reading depends on the keys that are present. A
    /// newer editor may have added others.
    private mutating func warnOfVersion(_ root: Node) {
        guard case .number(let major)? = root["version"]?["major"]?.value,
            let number = Int(major), number > Self.versionMax
        else { return }
        var minor = "0"
        if case .number(let digits)? = root["version"]?["minor"]?.value { minor = digits }
        warn(
            "version",
            "the version \(number).\(minor) is newer than \(Self.versionMax), the newest known",
            "what is new in it is kept and not read")
    }

    private static let listKeys = ["products", "nonRenewingSubscriptions", "subscriptionGroups"]

    /// The newest version of files that was examined.
    private static let versionMax = 6

    /// Warns about lists that are not empty and are not read.
    private mutating func warnOfUnread(_ root: Node) {
        let unread = [
            "nonConsumableIAP", "nonConsumableProducts", "nonRenewableSubscriptions",
            "nonRenewingSubscriptionProducts", "subscriptions", "subscriptionBundleGroups",
            "subscriptionSuiteGroups",
        ]
        for key in root.keys {
            guard
                let known = Self.listKeys.first(where: {
                    $0 != key && $0.lowercased() == key.lowercased()
                })
            else { continue }
            warn(key, "the key is spelt \(known)", "rename it; it is not read")
        }
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
