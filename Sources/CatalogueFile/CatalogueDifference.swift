// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// One difference between two catalogues.
public struct CatalogueDifference: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case added, removed, changed
    }

    public let kind: Kind
    /// The product's id. Nil for the storefront and the locale.
    public let product: ProductID?
    /// The changed field: `price`, `localizations`… Nil for a whole product.
    public let field: String?
    public let before: String?
    public let after: String?

    /// `+ ID`, `- ID`, or `~ ID FIELD: BEFORE -> AFTER`.
    public var description: String {
        let subject = [product?.value, field].compactMap(\.self).joined(separator: " ")
        switch kind {
        case .added: return "+ \(subject)"
        case .removed: return "- \(subject)"
        case .changed: return "~ \(subject): \(before ?? "") -> \(after ?? "")"
        }
    }
}

extension CatalogueContents {
    /// Returns the differences from this catalogue to `other`: first removed
    /// products, then new ones, then changed ones, each in the order of its
    /// file.
    public func differences(to other: CatalogueContents) -> [CatalogueDifference] {
        let old = Dictionary(catalogue.products.map { ($0.id, $0) }) { first, _ in first }
        let new = Dictionary(other.catalogue.products.map { ($0.id, $0) }) { first, _ in first }
        var lines: [CatalogueDifference] = []
        for product in catalogue.products where new[product.id] == nil {
            lines.append(.init(.removed, product.id))
        }
        for product in other.catalogue.products {
            guard let before = old[product.id] else {
                lines.append(.init(.added, product.id))
                continue
            }
            lines += Self.changes(of: product.id, fields(of: before), other.fields(of: product))
            lines += Self.changes(
                of: product.id, terms[product.id]?.fields ?? [],
                other.terms[product.id]?.fields ?? [])
        }
        lines += Self.changes(of: nil, fields, other.fields)
        return lines
    }

    private func fields(of product: Product) -> [(String, String)] {
        let hasPrice = !catalogue.unpriced.contains(product.id)
        return product.fields.filter { hasPrice || $0.0 != "price" }
    }

    private var fields: [(String, String)] {
        [("storefront", catalogue.storefront), ("locale", catalogue.locale)]
    }

    private static func changes(
        of product: ProductID?, _ before: [(String, String)], _ after: [(String, String)]
    ) -> [CatalogueDifference] {
        let old = Dictionary(before) { first, _ in first }
        let new = Dictionary(after) { first, _ in first }
        let names = before.map(\.0) + after.map(\.0).filter { old[$0] == nil }
        return names.compactMap { name in
            guard old[name] != new[name] else { return nil }
            return CatalogueDifference(
                .changed, product, name, old[name] ?? "nothing", new[name] ?? "nothing")
        }
    }
}

extension CatalogueDifference {
    fileprivate init(
        _ kind: Kind, _ product: ProductID?, _ field: String? = nil, _ before: String? = nil,
        _ after: String? = nil
    ) {
        self.kind = kind
        self.product = product
        self.field = field
        self.before = before
        self.after = after
    }
}

extension Product {
    fileprivate var fields: [(String, String)] {
        var fields = [
            ("type", type.rawValue), ("price", price.fileText),
            ("reference name", referenceName),
            ("family sharing", isFamilyShareable ? "on" : "off"),
        ]
        for localization in localizations {
            fields.append(("name in \(localization.locale)", localization.displayName))
            fields.append(("description in \(localization.locale)", localization.details))
        }
        return fields
    }
}

extension SubscriptionTerms {
    fileprivate var fields: [(String, String)] {
        var fields = [
            ("group", groupID), ("level", "\(level)"), ("period", period.description),
        ]
        for plan in billingPlans {
            let words = "\(plan.price.fileText), \(plan.commitmentPrice.fileText) in all"
            fields.append(("billing \(plan.kind.rawValue)", plan.isEnabled ? words : "off"))
        }
        let lists = [
            ("introductory offer", introductoryOffers), ("promotional offer", promotionalOffers),
            ("offer code", codeOffers), ("win-back offer", winBackOffers),
        ]
        for (name, offers) in lists {
            for (index, offer) in offers.enumerated() {
                let own = offer.id ?? offer.referenceName ?? "\(index + 1)"
                fields.append(("\(name) \(own)", offer.words))
            }
        }
        return fields
    }
}

extension Offer {
    fileprivate var words: String {
        var words = "\(mode.rawValue) \(price.fileText) for \(periodCount) x \(period)"
        if let billingPlan { words += ", \(billingPlan.rawValue)" }
        if !eligibility.isEmpty {
            words += ", for " + eligibility.map(\.rawValue).sorted().joined(separator: "/")
        }
        if isStackable { words += ", stackable" }
        if isEligible { words += ", eligible" }
        return words
    }
}
