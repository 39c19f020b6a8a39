// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// The customer's country, and payments that a move overtakes.
@Suite(.timeLimit(.minutes(5)))
struct StorefrontTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    /// Answers as told, and keeps what it was asked.
    final class Decider: NSObject, SKPaymentQueueDelegate, Sendable {
        let diary = Diary()
        let answer: Bool
        /// Waited for before answering.
        let gate: DispatchSemaphore?

        init(_ answer: Bool, gate: DispatchSemaphore? = nil) {
            self.answer = answer
            self.gate = gate
        }

        func paymentQueue(
            _ paymentQueue: SKPaymentQueue, shouldContinue transaction: SKPaymentTransaction,
            in newStorefront: SKStorefront
        ) -> Bool {
            diary.write(
                "\(transaction.payment.productIdentifier) \(newStorefront.countryCode) "
                    + newStorefront.identifier)
            gate?.wait()
            return answer
        }
    }

    /// Written by an app that needs none of the methods.
    final class SilentDelegate: NSObject, SKPaymentQueueDelegate {}

    /// On a thread of its own, because it blocks.
    private func storefront(of app: Rig.Launch) async -> String? {
        let answer = Diary()
        let queue = app.queue
        Thread.detachNewThread { answer.write(queue.storefront?.countryCode ?? "none") }
        await answer.wait(for: "")
        return answer.lines.first
    }

    @Test func `the storefront is asked for, and known from then on`() async {
        let app = rig.launch(observer: nil)
        let calls = { rig.store.count { $0 == .signIn } }
        #expect(calls() == 0)

        #expect(await storefront(of: app) == "USA")
        #expect(app.queue.storefront?.identifier == "143441")
        #expect(calls() == 1)
    }

    @Test func `a store that is away has no storefront`() async {
        rig.store.always(.lost(.notSent(URLError(.cannotConnectToHost)))) { _ in true }
        #expect(await storefront(of: rig.launch(observer: nil)) == "none")
    }

    @Test func `a move is reported once, and the first storefront is no move`() async throws {
        let app = rig.launch()
        _ = try await ProductsListener.ask(["credits.5"], app.device)
        rig.store.move(to: "DEU")
        _ = try await ProductsListener.ask(["credits.5"], app.device)
        _ = try await ProductsListener.ask(["credits.5"], app.device)
        await app.observer.diary.wait(for: "storefront")

        #expect(app.observer.diary.lines == ["storefront DEU"])
        #expect(app.queue.storefront?.identifier == "1")
    }

    /// Adds a payment whose price the customer saw in the first storefront.
    private func buyAcrossMove(
        _ app: Rig.Launch, to country: String = "DEU"
    ) async throws {
        _ = try await ProductsListener.ask(["credits.5"], app.device)
        rig.store.move(to: country)
        app.add("credits.5")
    }

    @Test func `the app ends a payment that a move overtook`() async throws {
        let app = rig.launch()
        let decider = Decider(false)
        app.queue.delegate = decider

        try await buyAcrossMove(app)
        await app.observer.diary.wait(for: "failed")

        #expect(decider.diary.lines == ["credits.5 DEU 1"])
        #expect(app.observer.diary.lines.last == "failed credits.5 5")
        #expect(app.observer.diary.lines.contains("storefront DEU"))
        #expect(rig.sheet.shown.lines.count == 1)
        #expect(rig.store.state.withLock { $0.sales.isEmpty })
    }

    @Test func `a payment that goes on shows the new price`() async throws {
        let app = rig.launch()
        let decider = Decider(true)
        app.queue.delegate = decider

        try await buyAcrossMove(app)
        await app.observer.diary.wait(for: "purchased")

        #expect(decider.diary.lines.count == 1)
        #expect(rig.sheet.shown.lines.last?.hasSuffix("$1.99 changed") == true)
    }

    @Test func `without a delegate, or with one that does not decide, it goes on`() async throws {
        let app = rig.launch()
        try await buyAcrossMove(app)
        await app.observer.diary.wait(for: "purchased")
        let delegate = SilentDelegate()
        app.queue.delegate = delegate
        try await buyAcrossMove(app, to: "JPN")
        await app.observer.diary.wait(for: "purchased", count: 2)
        #expect(rig.store.state.withLock { $0.sales.count } == 2)
    }

    @Test func `a new price in the same storefront is no question`() async throws {
        let app = rig.launch()
        let decider = Decider(false)
        app.queue.delegate = decider

        try await buyAcrossMove(app, to: "USA")
        await app.observer.diary.wait(for: "purchased")

        #expect(decider.diary.lines == [])
    }

    @Test func `a delegate that does not answer in time ends the payment`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let app = rig.launch(answerMilliseconds: 1)
        let decider = Decider(true, gate: gate)
        app.queue.delegate = decider

        try await buyAcrossMove(app)
        await until("the payment has failed") { rig.files.text.contains("\"failed\"") }
        gate.signal()
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines.last == "failed credits.5 5")
        #expect(rig.store.state.withLock { $0.sales.isEmpty })
    }

    // MARK: Codes

    @Test func `a code buys what the store names`() async {
        rig.store.state.withLock { $0.quoted = "credits.10" }
        rig.sheet.codes.withLock { $0 = ["SPRING26"] }
        let app = rig.launch()

        app.queue.presentCodeRedemptionSheet()
        await app.observer.diary.wait(for: "purchased")

        #expect(app.observer.diary.lines.last == "purchased credits.10 2000000000000001")
        let asked = rig.store.state.withLock { $0.purchases.values.compactMap(\.offer) }
        #expect(asked == [OfferRequest(kind: "code", code: "SPRING26")])
    }

    @Test func `a code that is not valid is reported to the customer only`() async {
        rig.sheet.codes.withLock { $0 = ["SPRING26"] }
        let app = rig.launch()

        app.queue.presentCodeRedemptionSheet()
        await rig.sheet.shown.wait(for: "No such offer.")
        app.queue.presentCodeRedemptionSheet()
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(
            app.observer.diary.lines == [
                "purchasing credits.5", "purchased credits.5 2000000000000001",
            ])
    }
}
