// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreKit
import StoreWire
import TestSupport
import Testing

/// The tools that a test uses beside its store: what they record, and how a wait
/// ends that gets nothing.
@Suite(.timeLimit(.minutes(5))) struct ToolTests {
    private func price() throws -> Money {
        Money(Amount(milliunits: 990), try #require(Currency(code: "USD")))
    }

    private func charge(_ key: String) throws -> Charge {
        Charge(
            key: key, total: try price(), customer: CustomerID(1),
            bundleID: "com.example.monkeys", productID: "pro")
    }

    @Test func `a wait for a transaction ends with its task`() async throws {
        let log = TransactionLog()
        let waiting = Task { try await log.first(.purchased) }
        waiting.cancel()

        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(log.entries.isEmpty)
    }

    @Test func `a wait for a notification ends with its task`() async throws {
        let shop = try await TestShop.monkeys()
        let waiting = Task { try await shop.notifications.first("ONE_TIME_CHARGE") }
        waiting.cancel()

        await #expect(throws: CancellationError.self) { try await waiting.value }
        await shop.close()
    }

    @Test func `a merchant's server answers as the test sets`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        shop.notifications.answer { _ in 500 }
        try await device.buy("credits.5")
        let first = try await shop.notifications.first("ONE_TIME_CHARGE")
        shop.notifications.answer { _ in 200 }
        try await device.buy("credits.10")
        let both = try await shop.notifications.all("ONE_TIME_CHARGE", count: 2)

        #expect(both.map(\.status) == [500, 200])
        #expect(both.map { $0.transaction?.productId } == ["credits.5", "credits.10"])
        #expect(both.first?.signedPayload == first.signedPayload)
        await shop.close()
    }

    @Test func `a sheet answers as it was told, in order, and then always the same`()
        async throws
    {
        let sheet = TestSheet([.cancel], otherwise: .confirm)
        sheet.answer(next: .confirm, .cancel)
        let contents = SheetContents(
            productID: "pro", title: "Pro", details: "All of it", quantity: 1,
            unitPrice: try price(), priceLocale: "en_US@currency=USD")
        var answers: [SheetAnswer] = []
        for _ in 0..<5 { answers.append(await sheet.present(contents)) }
        await sheet.notify("Bought.")

        #expect(answers == [.confirm, .cancel, .cancel, .confirm, .confirm])
        #expect(sheet.shown.count == 5 && sheet.notices == ["Bought."])
    }

    @Test func `a processor charges once for a key, whatever it answered`() async throws {
        let processor = TestProcessor([.loseAnswer, .loseRequest, .decline])

        await #expect(throws: TestProcessor.NoAnswer.self) {
            try await processor.authorise(try charge("a"))
        }
        await #expect(throws: TestProcessor.NoAnswer.self) {
            try await processor.authorise(try charge("b"))
        }
        let declined = try await processor.authorise(try charge("c"))
        let again = try await processor.authorise(try charge("a"))

        #expect(processor.charges.map(\.key) == ["a"])
        #expect(try await processor.outcome(of: "a") == again)
        #expect(try await processor.outcome(of: "b") == nil)
        #expect(declined == .declined && again != .declined)
    }

    /// docs/OPERATING.md: a voided key stays voided.
    @Test func `a key that was given back is declined from then on`() async throws {
        let processor = TestProcessor()
        _ = try await processor.authorise(try charge("a"))
        try await processor.void("a")
        try await processor.void("never charged")

        #expect(try await processor.authorise(try charge("a")) == .declined)
        #expect(try await processor.outcome(of: "a") == .declined)
        #expect(try await processor.authorise(try charge("never charged")) == .declined)
        #expect(processor.charges.isEmpty && processor.voided.map(\.key) == ["a"])
    }

    @Test func `wall time stands until it is run`() {
        let clock = TestWallClock()
        #expect(clock.now == TestWallClock.start && clock.now == clock.now)
        clock.advance(seconds: 60)
        #expect(clock.now == TestWallClock.start.adding(seconds: 60))
        clock.run()
        clock.stand()
        let stood = clock.now
        #expect(stood >= TestWallClock.start.adding(seconds: 60) && clock.now == stood)
    }

    @Test func `moved time ends no session and dates what is sold`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5")
        _ = try await device.heard.first(.purchased)

        try await shop.clock.advance(seconds: 400 * 86_400)
        try await device.buy("credits.10")
        let both = try await device.heard.all(.purchased, count: 2)

        let dates = both.compactMap(\.transactionDate)
        #expect(dates.count == 2 && dates[1].timeIntervalSince(dates[0]) >= 400 * 86_400)
        await shop.close()
    }
}
