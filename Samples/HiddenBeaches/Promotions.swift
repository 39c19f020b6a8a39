// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// How the store's page shows the game's promoted products on this device: what the player
/// owns is hidden, and after level 10 the subscription and the hot spots come first.
final class Promotions {
    private let controller = SKProductStorePromotionController.default()
    private var last: Task<Void, Never>?
    /// A sentence for the player.
    var onNews: ((String) -> Void)?

    /// Compares what the store shows with what it is to show, and changes the difference.
    /// One call after the other, so that the last one counts. What fails is tried again
    /// at the next change and at the next start.
    func update(_ products: [SKProduct], done: @escaping () -> Void = {}) {
        let before = last
        last = Task { @MainActor in
            await before?.value
            try? await self.order(products)
            for product in products { try? await self.show(product) }
            done()
        }
    }

    private func order(_ products: [SKProduct]) async throws {
        let first: [Item] = Island.hasPassedLevel10 ? [.pro, .hotspot] : []
        let wanted = first.compactMap { item in
            products.first { $0.productIdentifier == item.productIdentifier }
        }
        let present = try await controller.promotionOrder()
        guard present.map(\.productIdentifier) != wanted.map(\.productIdentifier) else { return }
        // An empty order is the store's own.
        try await controller.update(promotionOrder: wanted)
        if !wanted.isEmpty { onNews?("The store's page begins with: \(Self.names(wanted)).") }
    }

    /// What is not owned is shown as the store decides. So a product comes back when its
    /// purchase is revoked, or when the subscription has ended.
    private func show(_ product: SKProduct) async throws {
        guard let item = Item(productIdentifier: product.productIdentifier) else { return }
        let wanted: SKProductStorePromotionVisibility =
            Island.isUnlocked(item) ? .hide : .default
        guard try await controller.promotionVisibility(for: product) != wanted else { return }
        try await controller.update(promotionVisibility: wanted, for: product)
        onNews?("The store's page \(wanted == .hide ? "hides" : "shows"): \(item.name).")
    }

    /// What this device changes, as the store has it after the calls before.
    func describe(_ products: [SKProduct], _ done: @escaping ([String]) -> Void) {
        let before = last
        Task { @MainActor in
            await before?.value
            do {
                let order = try await controller.promotionOrder()
                var hidden: [SKProduct] = []
                for product in products
                where try await controller.promotionVisibility(for: product) == .hide {
                    hidden.append(product)
                }
                done(["First in the store: \(Self.names(order))", "Hidden: \(Self.names(hidden))"])
            } catch {
                done(["The store cannot be asked: \(error.localizedDescription)"])
            }
        }
    }

    private static func names(_ products: [SKProduct]) -> String {
        let names = products.compactMap { Item(productIdentifier: $0.productIdentifier)?.name }
        return names.isEmpty ? "–" : names.joined(separator: ", ")
    }
}
