// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import SignedData
import StoreKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// What the scenarios buy.
enum Goods {
    static let bundleID: BundleID = "com.example.monkeys"

    static let catalogue = Catalogue(
        products: [
            product("credits.5", .consumable, 990), product("credits.10", .consumable, 1990),
            product("pro", .nonConsumable, 4990),
        ], storefront: "USA", locale: "en_US", appID: 1234)

    private static func product(_ id: String, _ type: ProductType, _ price: Int64) -> Product {
        Product(
            id: ProductID(id), kind: ProductKind(type), referenceName: id,
            price: Amount(milliunits: price),
            localizations: [
                Localization(locale: "en_US", displayName: "The \(id)", details: "About \(id)")
            ])
    }
}

extension TestShop {
    static func monkeys(_ change: (inout Options) -> Void = { _ in }) async throws -> TestShop {
        try await selling(Goods.catalogue, change)
    }

    /// A store on the run's engine that sells these products.
    static func selling(_ products: [Product]) async throws -> TestShop {
        try await selling(
            Catalogue(products: products, storefront: "USA", locale: "en_US", appID: 1234))
    }

    private static func selling(
        _ catalogue: Catalogue, _ change: (inout Options) -> Void = { _ in }
    ) async throws -> TestShop {
        var options = Options()
        let engine = TestEngine()
        options.places = engine.places
        options.dialect = engine.dialect
        change(&options)
        return try await TestShop(catalogue, bundleID: Goods.bundleID, options: options)
    }

    func records() async throws -> [TransactionRecord] {
        try await realm.purchases.listTransactions().transactions
    }

    func root() async throws -> [UInt8] { try await store.rootCertificate(.sandbox).der }

    func receipt(of device: TestDevice) async throws -> AppReceipt {
        try ReceiptVerifier(roots: [try await root()])
            .verify(try #require(try device.receipt()), bundleID: bundleID)
    }
}

/// App, device and store together, in one process and without sockets.
@Suite(.timeLimit(.minutes(5))) struct ScenarioTests {
    @Test func `a payment is bought, delivered and finished`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()

        try await device.buy("credits.5", quantity: 3)
        let bought = try await device.heard.first(.purchased)
        let id = try #require(bought.transactionIdentifier)
        #expect(try await shop.receipt(of: device).purchases.map(\.transactionID) == [id])
        device.queue.finishTransaction(bought)
        try await device.heard.removed()

        #expect(device.heard.entries.map(\.state) == [.purchasing, .purchased, nil])
        #expect(bought.payment.quantity == 3)
        let records = try await shop.records()
        #expect(records.map(\.payload.transactionId) == [id])
        #expect(device.sheet.shown.map(\.total.amount.milliunits) == [2970])
    }

    @Test func `the first receipt is made for the device that keeps it`() async throws {
        struct Queue: Decodable { var deviceUUID: String }
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()

        try await device.buy("pro")
        _ = try await device.heard.first(.purchased)

        let file = device.folder.appendingPathComponent("queue.json")
        let queue = try JSONDecoder().decode(Queue.self, from: try Data(contentsOf: file))
        let uuid = try #require(UUID(uuidString: queue.deviceUUID)).uuid
        let receipt = try ReceiptVerifier(roots: [try await shop.root()])
            .verify(
                try #require(try device.receipt()), bundleID: Goods.bundleID,
                device: withUnsafeBytes(of: uuid) { Array($0) })
        #expect(receipt.purchases.map(\.productID) == ["pro"])
    }

    @Test func `products are asked for, and unknown ones left out`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()

        let products = try await device.products("pro", "nothing")

        #expect(products.map(\.productIdentifier) == ["pro"])
        #expect(products.first?.price == NSDecimalNumber(string: "4.99"))
    }

    @Test func `what is not finished is delivered again at each launch`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5")
        let first = try await device.heard.first(.purchased)

        await device.restart()
        let second = try await device.heard.first(.purchased)
        await device.restart()
        let third = try await device.heard.first(.purchased)
        device.queue.finishTransaction(third)
        try await device.heard.removed()
        await device.restart()
        // A payment for something else is heard, and the finished one is not.
        try await device.buy("credits.10")
        let other = try await device.heard.first(.purchased)

        #expect(first.transactionIdentifier == second.transactionIdentifier)
        #expect(first.transactionIdentifier == third.transactionIdentifier)
        #expect(other.payment.productIdentifier == "credits.10")
        #expect(device.heard.transactions(.purchased).count == 1)
        #expect(try await shop.records().count == 2)
    }

    @Test func `a store restarts under a customer's session`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5")
        _ = try await device.heard.first(.purchased)

        try await shop.restart()
        try await device.buy("credits.10")
        let bought = try await device.heard.all(.purchased, count: 2)

        #expect(Set(bought.compactMap(\.transactionIdentifier)).count == 2)
        #expect(try await shop.records().count == 2)
    }

    @Test func `two stores in parallel do not see each other`() async throws {
        let (one, other) = (try await TestShop.monkeys(), try await TestShop.monkeys())
        let devices = [try await one.device(), try await other.device()]

        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices {
                group.addTask {
                    for product in ["credits.5", "credits.10", "pro"] {
                        try await device.buy(product)
                    }
                    _ = try await device.heard.all(.purchased, count: 3)
                }
            }
            try await group.waitForAll()
        }

        #expect(try await one.records().count == 3)
        #expect(try await other.records().count == 3)
        #expect(devices.allSatisfy { $0.heard.transactions(.purchased).count == 3 })
        #expect(devices[0].folder != devices[1].folder)
    }

    @Test func `the same seed gives the same transactions`() async throws {
        func payloads(seed: UInt32) async throws -> [JWSTransactionDecodedPayload] {
            let shop = try await TestShop.monkeys { $0.seed = seed }
            let device = try await shop.device()
            for (count, product) in ["credits.5", "pro"].enumerated() {
                try await device.buy(product)
                _ = try await device.heard.all(.purchased, count: count + 1)
            }
            return try await shop.records().map(\.payload)
        }

        let first = try await payloads(seed: 7)
        let again = try await payloads(seed: 7)

        #expect(first == again)
        #expect(first.map(\.productId) == ["credits.5", "pro"])
    }

    @Test func `a jump of the commercial clock breaks no session`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5")
        _ = try await device.heard.first(.purchased)

        let before = try await shop.clock.now()
        try await shop.clock.advance(seconds: 10 * 365 * 86_400)
        try await device.buy("credits.10")
        _ = try await device.heard.all(.purchased, count: 2)

        let dates = try await shop.records().compactMap(\.payload.purchaseDate)
        #expect(dates == [before, before.adding(seconds: 10 * 365 * 86_400)])
        #expect(shop.wall.now == TestWallClock.start)
    }

    @Test func `a device buys while the commercial clock races`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await shop.clock.run(rate: 86_400)
        shop.wall.run()

        for count in 1...3 {
            try await device.buy("credits.5")
            let bought = try await device.heard.all(.purchased, count: count)
            device.queue.finishTransaction(bought[count - 1])
        }

        shop.wall.stand()
        let dates = try await shop.records().compactMap(\.payload.purchaseDate)
        let now = try await shop.clock.now()
        #expect(dates.count == 3)
        #expect(zip(dates, dates.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(dates.allSatisfy { $0 <= now })
        let wall = shop.wall.now.milliseconds(since: TestWallClock.start)
        #expect(now.milliseconds(since: TestWallClock.start) == wall * 86_400)
    }

    @Test func `an app hears on the main queue, and of each transaction in order`() async throws {
        final class Listener: NSObject, SKPaymentTransactionObserver, Sendable {
            private static let key = DispatchSpecificKey<Bool>()
            let states = Mutex<[String: [SKPaymentTransactionState]]>([:])
            let strays = Mutex(0)

            override init() {
                super.init()
                DispatchQueue.main.setSpecific(key: Self.key, value: true)
            }

            func paymentQueue(
                _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
            ) {
                note()
                states.withLock { states in
                    for transaction in transactions {
                        states[transaction.payment.productIdentifier, default: []]
                            .append(transaction.transactionState)
                    }
                }
            }

            func paymentQueue(
                _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
            ) { note() }

            private func note() {
                if DispatchQueue.getSpecific(key: Self.key) == nil { strays.withLock { $0 += 1 } }
            }
        }
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        let listener = Listener()
        device.queue.add(listener)

        for product in ["credits.5", "credits.10", "pro"] { try await device.buy(product) }
        for bought in try await device.heard.all(.purchased, count: 3) {
            device.queue.finishTransaction(bought)
        }
        try await device.heard.removed(count: 3)
        await until("all that the listener hears") {
            listener.states.withLock { $0.values.allSatisfy { $0.count == 2 } && $0.count == 3 }
        }

        #expect(
            listener.states.withLock { $0.values.allSatisfy { $0 == [.purchasing, .purchased] } })
        #expect(listener.strays.withLock { $0 } == 0)
        await shop.close()
    }

    @Test func `customers have transactions of their own, on all their devices`() async throws {
        let shop = try await TestShop.monkeys()
        try await shop.addCustomer("anna")
        try await shop.addCustomer("ben")
        let phone = try await shop.device(customer: "anna")
        let laptop = try await shop.device(customer: "anna")
        let stranger = try await shop.device(customer: "ben")
        _ = (laptop.heard, stranger.heard)

        try await phone.buy("pro")
        let bought = try await phone.heard.first(.purchased)
        let arrived = try await laptop.heard.first(.purchased)
        try await stranger.buy("credits.5")
        _ = try await stranger.heard.first(.purchased)

        #expect(arrived.transactionIdentifier == bought.transactionIdentifier)
        #expect(
            stranger.heard.transactions(.purchased).map(\.payment.productIdentifier)
                == ["credits.5"])
        #expect(Set(try await shop.records().map(\.customerId)).count == 2)
    }

    @Test func `a sheet that is cancelled fails the payment and charges nobody`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device(sheet: TestSheet([.cancel]))

        try await device.buy("credits.5")
        let failed = try await device.heard.first(.failed)

        #expect((failed.error as? SKError)?.code == .paymentCancelled)
        #expect(try await shop.records().isEmpty)
    }

    @Test func `a store out of reach fails what was not sent`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        let credits = try #require(try await device.products("credits.5").first)
        _ = device.heard
        shop.isReachable = false

        await #expect(throws: (any Error).self) { try await device.products("pro") }
        device.queue.add(SKPayment(product: credits))
        let failed = try await device.heard.first(.failed)
        device.queue.finishTransaction(failed)
        try await device.heard.removed()
        shop.isReachable = true
        #expect(try await shop.records().isEmpty)

        try await device.buy("credits.5")
        _ = try await device.heard.first(.purchased)

        #expect((failed.error as? SKError)?.code == .unknown)
        #expect(device.heard.transactions(.failed).count == 1)
        #expect(try await shop.records().count == 1)
    }
}

extension Product {
    /// A product whose name is its id.
    static func named(_ id: String, _ kind: ProductKind, price: Int64 = 4990) -> Product {
        Product(
            id: ProductID(id), kind: kind, referenceName: id, price: Amount(milliunits: price),
            localizations: [Localization(locale: "en_US", displayName: id, details: "")])
    }

    /// A subscription of the group `press`.
    static func subscription(
        _ id: String, price: Int64 = 4990, period: String = "P1M"
    ) -> Product {
        .named(id, .autoRenewable(groupID: "press", period: period), price: price)
    }
}
