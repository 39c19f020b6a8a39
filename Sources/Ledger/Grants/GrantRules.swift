// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import StoreWire

/// What one purchase of a product grants to its account.
public struct Grant: Hashable, Sendable {
    /// How long an entitlement lasts.
    public enum Lasting: Hashable, Sendable {
        case forever
        /// Each unit extends it by the period: from the later of the purchase
        /// date and the end of what earlier purchases gave.
        case period(Period)
        /// Until the subscription's period ends. `grace`: also in the grace
        /// period that the store has signed.
        case subscription(grace: Bool)
    }

    public enum Kind: Hashable, Sendable {
        case entitlement(Lasting)
        /// The credits of each unit.
        case credits(perUnit: Int64)
    }

    /// What happens when the store revokes the purchase.
    public enum Reversal: String, Hashable, Sendable, CaseIterable {
        /// The entitlement ends, or the credits that are left are taken back.
        case remove
        /// Nothing is taken back.
        case keep
        /// All its credits are taken back, also those that are spent. The balance
        /// may fall below zero.
        case debt
    }

    /// The entitlement, or the currency.
    public let name: String
    public let kind: Kind
    public let onReversal: Reversal

    public init(name: String, kind: Kind, onReversal: Reversal = .remove) {
        self.name = name
        self.kind = kind
        self.onReversal = onReversal
    }

    /// The most credits of a unit. With 10,000 units to a transaction, no book
    /// comes near the end of 64 bits.
    public static let perUnitMax: Int64 = 1_000_000_000
    /// The longest name.
    public static let nameBytesMax = 64

    /// Whether a text can be the name of an entitlement or a currency: letters,
    /// digits, `.`, `-` and `_`.
    public static func isName(_ text: String) -> Bool {
        (1...nameBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// The word for the kind in the books.
    var kindWord: String {
        if case .credits = kind { GrantKind.credits } else { GrantKind.entitlement }
    }
}

/// The words for the kinds of grants in the books.
enum GrantKind {
    static let entitlement = "entitlement"
    static let credits = "credits"
}

/// What each product grants. The rules of a moment: what was granted under them
/// keeps the terms of that moment.
public struct GrantRules: Hashable, Sendable {
    public let products: [ProductID: [Grant]]

    /// No product grants anything. Its units are redeemed.
    public static let none = GrantRules(checked: [:])

    /// The most grants of a product.
    public static let grantsMax = 20

    private init(checked: [ProductID: [Grant]]) { products = checked }

    /// Throws ``WireError`` `grantInvalid` with the product in its field.
    public init(_ products: [ProductID: [Grant]]) throws(WireError) {
        for (product, grants) in products.sorted(by: { $0.key.value < $1.key.value }) {
            if let rule = Self.broken(by: grants) {
                throw WireError(
                    code: "grantInvalid", message: "\(product.value) cannot grant this.",
                    field: "products.\(product.value)", rule: rule,
                    remedy: "correct the product's grants")
            }
        }
        self.products = products
    }

    /// Returns the rule that a product's grants break, or nil.
    public static func broken(by grants: [Grant]) -> String? {
        guard (1...grantsMax).contains(grants.count) else {
            return "a product has 1 to \(grantsMax) grants"
        }
        guard Set(grants.map { "\($0.kindWord) \($0.name)" }).count == grants.count else {
            return "a product grants each entitlement and each currency once"
        }
        return grants.lazy.compactMap(broken(by:)).first
    }

    /// Returns the rule that a grant breaks, or nil.
    public static func broken(by grant: Grant) -> String? {
        guard Grant.isName(grant.name) else {
            return "a name has 1 to \(Grant.nameBytesMax) letters, digits, `.`, `-` and `_`"
        }
        switch grant.kind {
        case .credits(let perUnit):
            return (1...Grant.perUnitMax).contains(perUnit)
                ? nil : "an amount is 1 to \(Grant.perUnitMax)"
        case .entitlement:
            return grant.onReversal == .debt ? "only credits can become a debt" : nil
        }
    }

    func grants(of productID: String) -> [Grant] { products[ProductID(productID)] ?? [] }
}
