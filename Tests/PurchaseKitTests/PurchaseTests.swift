// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import SignedData
import StoreWire
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PurchaseTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `a purchase is reported as purchasing, then as purchased`() async throws {
        let app = rig.launch()

        app.add("credits.5", quantity: 3)
        await app.observer.diary.wait(for: "purchased")

        #expect(
            app.observer.diary.lines == [
                "purchasing credits.5", "purchased credits.5 2000000000000001",
            ])
        #expect(rig.sheet.shown.lines == ["Title of credits.5: 3 × $0.99 = $2.97"])
        #expect(app.observer.transactions[0] === app.observer.transactions[1])
        let transaction = try #require(app.queue.transactions.first)
        #expect(transaction.payment.quantity == 3)
        #expect(transaction.transactionDate == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(transaction.error == nil)
    }

    @Test func `a purchase costs three durable writes and two round trips`() async throws {
        let app = rig.launch()
        _ = try await app.products("credits.5")
        let writes = rig.files.replacements
        let calls = rig.store.count { !$0.isTransactions }

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(rig.files.replacements - writes == 3)
        #expect(rig.store.count { !$0.isTransactions } - calls == 2)
    }

    @Test func `the receipt is on disk before the purchase is reported`() async throws {
        let app = rig.launch()
        #expect(app.device.receiptURL == nil)

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        let receipt = try rig.files.read("sandboxReceipt")
        #expect(receipt == Array("receipt 2000000000000001".utf8))
        #expect(app.device.receiptURL?.lastPathComponent == "sandboxReceipt")
    }

    @Test func `cancelling the sheet fails the payment as cancelled and sends nothing`() async {
        rig.sheet.answers.withLock { $0 = [.cancel] }
        let app = rig.launch()

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines == ["purchasing credits.5", "failed credits.5 2"])
        #expect(rig.store.count(\.isPurchase) == 0)
    }

    @Test func `a restricted device shows a notice and fails the payment`() async throws {
        let app = rig.launch(isRestricted: true)
        #expect(!app.device.canMakePayments)

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines == ["purchasing credits.5", "failed credits.5 4"])
        #expect(rig.sheet.shown.lines == ["Payments are not allowed on this device."])
        #expect(try await app.products("credits.5").products.count == 1)
    }

    @Test func `a customer who may not buy is as restricted as the device`() async {
        rig.store.state.withLock { $0.mayBuy = false }
        let app = rig.launch()

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines.last == "failed credits.5 4")
        #expect(!app.device.canMakePayments)
    }

    @Test func `a customer who may buy again buys, in the same launch`() async {
        rig.store.state.withLock { $0.mayBuy = false }
        let app = rig.launch()
        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        rig.store.state.withLock { $0.mayBuy = true }
        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased")

        #expect(app.device.canMakePayments)
    }

    @Test func `a products request updates whether the customer may buy`() async throws {
        let refusal = WireError(code: "purchasesNotAllowed", message: "No.")
        rig.store.state.withLock { $0.refusal = refusal }
        let app = rig.launch()
        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")
        #expect(!app.device.canMakePayments)

        rig.store.state.withLock { $0.refusal = nil }
        _ = try await app.products("credits.5")

        #expect(app.device.canMakePayments)
    }

    @Test func `request data is refused`() async {
        let app = rig.launch()
        let payment = SKMutablePayment()
        payment.productIdentifier = "credits.5"
        payment.requestData = Data([1])

        app.queue.add(payment)
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines.last == "failed credits.5 10")
    }

    @Test(arguments: [
        ("unknownProduct", 5), ("notSoldYet", 5), ("quantityOutOfRange", 3),
        ("quantityOfNonConsumable", 3), ("purchasesNotAllowed", 4), ("noProcessor", 0),
        ("declined", 0), ("somethingNewer", 1),
    ])
    func `the store's refusal becomes a code, and its sentence is kept`(
        refusal: String, code: Int
    ) async throws {
        rig.store.state.withLock {
            $0.refusal = WireError(code: refusal, message: "No.", remedy: "do this")
        }
        let app = rig.launch()

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        let error = try #require(app.queue.transactions.first?.error as? SKError)
        #expect(error.code.rawValue == code)
        #expect(error.localizedDescription == "No. Do this.")
        #expect(error.storeRefusal?.code == refusal)
        #expect(error.storeRefusal?.remedy == "do this")
    }

    @Test func `a product that the store does not have fails before the sheet`() async {
        let app = rig.launch()

        app.add("credits.7")
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines.last == "failed credits.7 5")
        #expect(rig.sheet.shown.lines == [])
        #expect(
            rig.log.lines == ["No product \"credits.7\": the catalogue has no such id"])
    }

    @Test func `the same payment twice is two transactions`() async {
        let app = rig.launch()
        let payment = SKMutablePayment()
        payment.productIdentifier = "credits.5"

        app.queue.add(payment)
        payment.productIdentifier = "credits.10"
        app.queue.add(payment)
        await app.observer.diary.wait(for: "purchased", count: 2)

        #expect(Set(app.queue.transactions.map(\.payment.productIdentifier)).count == 2)
        #expect(rig.store.state.withLock { $0.sales.count } == 2)
    }

    @Test func `a changed price shows the sheet again under a new purchase id`() async throws {
        let app = rig.launch()
        _ = try await app.products("credits.5")
        rig.store.state.withLock { $0.products["credits.5"] = 1490 }

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(
            rig.sheet.shown.lines == [
                "Title of credits.5: 1 × $0.99 = $0.99",
                "Title of credits.5: 1 × $1.49 = $1.49 changed",
            ])
        let purchases = rig.store.state.withLock { $0.purchases }
        let replacement = try #require(purchases.first { $0.value.replaces != nil })
        #expect(purchases.count == 2)
        #expect(purchases.keys.contains(replacement.value.replaces ?? ""))
        #expect(Set(app.observer.transactions.map(ObjectIdentifier.init)).count == 1)
    }

    @Test func `a changed price may be cancelled`() async throws {
        let app = rig.launch()
        _ = try await app.products("credits.5")
        rig.store.state.withLock { $0.products["credits.5"] = 1490 }
        rig.sheet.answers.withLock { $0 = [.confirm, .cancel] }

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines.last == "failed credits.5 2")
        #expect(rig.store.state.withLock { $0.sales.count } == 0)
    }

    /// On a clock that never ends a nap by itself.
    @Test func `an answer that is told with transactions is fetched at once`() async throws {
        rig.store.state.withLock { $0.waits = true }
        let page = TransactionsResponse(
            transactions: [], revision: 1, hasMore: false,
            now: rig.store.state.withLock { $0.now }, answeredPurchases: ["any"])
        rig.store.next(
            .answered(DeviceReply(status: 200, body: Array(try JSONEncoder().encode(page)))),
            when: \.isTransactions)
        let store = HoldingStore(rig.store)
        store.hold(when: \.isTransactions)
        let app = rig.launch(naps: false, transport: store)
        await store.diary.wait(for: "held GET")
        app.add("credits.5")
        await app.observer.diary.wait(for: "deferred")

        rig.store.state.withLock { $0.waits = false }
        store.release()

        await app.observer.diary.wait(for: "purchased")
    }

    @Test func `what waits for approval is deferred, then purchased`() async {
        rig.store.state.withLock { $0.waits = true }
        let app = rig.launch(naps: false)
        app.add("credits.5")
        await app.observer.diary.wait(for: "deferred")

        rig.store.state.withLock { $0.waits = false }
        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased", count: 2)

        #expect(app.observer.diary.lines.filter { $0.hasPrefix("deferred") }.count == 1)
    }
}

extension Rig.Launch {
    /// Asks for products as an app does.
    func products(_ ids: String...) async throws -> SKProductsResponse {
        try await ProductsListener.ask(Set(ids), device)
    }
}
