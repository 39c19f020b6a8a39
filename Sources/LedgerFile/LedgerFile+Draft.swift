// SPDX-License-Identifier: Apache-2.0

public import CatalogueFile
public import Commerce
import Ledger

extension LedgerFile {
    /// Returns a first file for the products of a catalogue. What only the merchant
    /// can decide is a guess, and is marked with a comment.
    public static func draft(of contents: CatalogueContents) -> String {
        draft(of: contents.catalogue, groups: contents.groups)
    }

    /// The same for a catalogue that is in no file.
    public static func draft(of catalogue: Catalogue, groups: [SubscriptionGroup]) -> String {
        let products = catalogue.products.sorted { $0.id.value < $1.id.value }
        let groups = Dictionary(
            groups.map { ($0.id, $0.referenceName) },
            uniquingKeysWith: { first, _ in first })
        let head = """
            # What a ledger grants for each product: `shopkeeper ledger check` checks this file,
            # `shopkeeper ledger serve --config` serves with it. docs/LEDGER.md explains it.
            products:

            """
        guard !products.isEmpty else { return head.replacing("products:", with: "products: {}") }
        return head + products.map { entry($0, groups) }.joined()
    }

    private static func entry(_ product: Product, _ groups: [String: String]) -> String {
        let lines: [String]
        switch product.kind {
        case .nonConsumable:
            lines = ["entitlement: \(name(product.id.value))", "lasts: forever"]
        case .autoRenewable(let groupID, _):
            let group = groupID.map { groups[$0] ?? $0 }
            lines = [
                "# One name for each level of service: here, the subscription group.",
                "entitlement: \(name(group ?? product.id.value))", "lasts: subscribed",
                "grace: true",
            ]
        case .nonRenewing:
            lines = [
                "# The store knows no length: how long does one unit last?",
                "entitlement: \(name(product.id.value))", "lasts: P1Y",
            ]
        case .consumable:
            lines = [
                "# How much is one unit? Remove the product to redeem its units one by one.",
                "credits: \(name(product.id.value))", "amount: 1", "onReversal: remove",
            ]
        }
        return "  \(quoted(product.id.value)):\n" + lines.map { "    \($0)\n" }.joined()
    }

    /// A name from what may contain other characters.
    private static func name(_ text: String) -> String {
        let name = String(
            text.map { character in
                Grant.isName(String(character)) ? character : "-"
            }.prefix(Grant.nameBytesMax))
        // A text of digits would be a number, and some words a value, without quotes.
        return "\"\(name)\""
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
