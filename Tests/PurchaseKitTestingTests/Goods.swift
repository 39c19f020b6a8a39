// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKitTesting

extension TestShop {
    /// A store that sells two consumables and a non-consumable.
    static func monkeys(_ change: (inout Options) -> Void = { _ in }) async throws -> TestShop {
        var options = Options()
        change(&options)
        let products = [
            ("credits.5", ProductType.consumable), ("credits.10", .consumable),
            ("pro", .nonConsumable),
        ].map { id, type in
            Product(
                id: ProductID(id), kind: ProductKind(type), referenceName: id,
                price: Amount(milliunits: 990),
                localizations: [Localization(locale: "en_US", displayName: id, details: id)])
        }
        return try await TestShop(
            Catalogue(products: products, storefront: "USA", locale: "en_US", appID: 1234),
            bundleID: "com.example.monkeys", options: options)
    }
}
