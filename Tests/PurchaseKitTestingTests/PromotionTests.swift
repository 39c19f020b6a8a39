// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// `SKProductStorePromotionController` against a whole store.
@Suite(.timeLimit(.minutes(5))) struct PromotionTests {
    @Test func `an app orders and hides promoted products on its own device only`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        let other = try await shop.device()
        let controller = SKProductStorePromotionController(device: device.device)
        let products = try await device.products("credits.5", "pro")
            .sorted { $0.productIdentifier < $1.productIdentifier }

        #expect(try await controller.promotionOrder().isEmpty)
        try await controller.update(promotionOrder: products.reversed())
        try await controller.update(promotionVisibility: .hide, for: products[0])

        #expect(
            try await controller.promotionOrder().map(\.productIdentifier)
                == ["pro", "credits.5"])
        #expect(try await controller.promotionVisibility(for: products[0]) == .hide)
        #expect(try await controller.promotionVisibility(for: products[1]) == .default)
        let foreign = SKProductStorePromotionController(device: other.device)
        #expect(try await foreign.promotionOrder().isEmpty)
        #expect(try await foreign.promotionVisibility(for: products[0]) == .default)
        try await controller.update(promotionOrder: [])
        #expect(try await controller.promotionOrder().isEmpty)
        await shop.close()
    }

    @Test func `handlers get the same answers and errors`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        let controller = SKProductStorePromotionController(device: device.device)
        let product = try #require(try await device.products("pro").first)
        let unknown = SKProduct()
        unknown.setValue("nothing", forKey: "productIdentifier")

        let told = Mutex<[String]>([])
        controller.update(storePromotionOrder: [product]) { error in
            told.withLock { $0.append("updated \(error == nil)") }
            controller.fetchStorePromotionOrder { products, _ in
                told.withLock { $0.append(products.map(\.productIdentifier).joined()) }
            }
        }
        await until("the order is fetched") { told.withLock { $0.count } == 2 }
        controller.fetchStorePromotionVisibility(for: product) { visibility, _ in
            told.withLock { $0.append("\(visibility)") }
        }
        await until("the visibility is fetched") { told.withLock { $0.count } == 3 }
        controller.update(storePromotionVisibility: .show, for: unknown) { error in
            told.withLock { $0.append("\((error as? SKError)?.code == .storeProductNotAvailable)") }
        }
        await until("the update is refused") { told.withLock { $0.count } == 4 }

        #expect(told.withLock { $0 } == ["updated true", "pro", "default", "true"])
        await shop.close()
        await #expect(throws: (any Error).self) { try await controller.promotionOrder() }
    }
}
