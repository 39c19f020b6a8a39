// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// Observers and finishing.
@Suite(.timeLimit(.minutes(5)))
struct QueueTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `finishing removes the transaction and notifies the store`() async {
        let app = rig.launch(observer: DiaryObserver(finishes: true))

        app.add("credits.5")
        await app.observer.diary.wait(for: "removed")
        await rig.acknowledged()

        #expect(app.queue.transactions.isEmpty)
        #expect(rig.store.state.withLock { $0.sales.first?.isFinished } == true)
        #expect(!rig.files.text.contains("credits.5"))
    }

    @Test func `a finish that the store does not know yet hides the transaction`() async {
        rig.store.always(.lost(.notSent(URLError(.cannotConnectToHost))), when: \.isFinish)
        let first = rig.launch(observer: DiaryObserver(finishes: true), naps: false)
        first.add("credits.5")
        await first.observer.diary.wait(for: "removed")
        await first.device.close()

        #expect(await rig.quietLaunch() == [])
        #expect(rig.files.text.contains(#""finished""#))
        rig.store.recover()
        #expect(await rig.quietLaunch() == [])
        await rig.acknowledged()
        #expect(rig.store.state.withLock { $0.sales.first?.isFinished } == true)
    }

    @Test func `a finish that cannot be written down is not a finish`() async {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        rig.files.fail { _ in true }
        for transaction in first.queue.transactions { first.queue.finishTransaction(transaction) }
        await rig.log.wait(for: "A transaction could not be finished")
        await first.device.close()
        rig.files.fail(when: nil)

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased")

        #expect(rig.store.count(\.isFinish) == 0)
    }

    @Test func `a second observer receives changes, not earlier transactions`() async {
        let app = rig.launch()
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        let second = DiaryObserver()
        app.queue.add(second)
        app.add("credits.10")
        await second.diary.wait(for: "purchased")

        #expect(
            second.diary.lines == [
                "purchasing credits.10", "purchased credits.10 2000000000000002",
            ])
        #expect(app.queue.transactionObservers.count == 2)
    }

    @Test func `an observer is called once however often it is added`() async {
        let app = rig.launch()
        app.queue.add(app.observer)

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(app.observer.diary.lines.count == 2)
    }

    @Test func `an observer of a queue that is gone can be added to another`() async {
        let app = rig.launch(observer: nil)
        let observer = DiaryObserver()
        var gone: SKPaymentQueue? = SKPaymentQueue(device: app.device)
        gone?.add(observer)
        gone = nil

        app.queue.add(observer)
        app.add("credits.5")

        await observer.diary.wait(for: "purchased credits.5")
    }

    @Test func `nothing is bought while there is no observer`() async {
        let app = rig.launch(observer: nil)
        app.add("credits.5")
        _ = try? await app.products("credits.5")
        #expect(rig.store.count(\.isPurchase) == 0)
        #expect(app.queue.transactions.isEmpty)

        app.queue.add(app.observer)
        await app.observer.diary.wait(for: "purchased")

        #expect(
            app.observer.diary.lines == [
                "purchasing credits.5", "purchased credits.5 2000000000000001",
            ])
    }

    @Test func `changes without an observer are reported to the next one`() async {
        let app = rig.launch(sheet: rig.sheet)
        app.queue.remove(app.observer)
        #expect(app.queue.transactionObservers.isEmpty)
        app.add("credits.5")
        let next = DiaryObserver()

        app.queue.add(next)
        await next.diary.wait(for: "purchased")

        #expect(app.observer.diary.lines == [])
        #expect(next.diary.lines.first == "purchasing credits.5")
    }

    @Test func `what was sold while nobody listened is told to the next observer`() async {
        let store = HoldingStore(rig.store)
        store.hold(when: \.isPurchase)
        let app = rig.launch(transport: store)
        app.add("credits.5")
        await store.diary.wait(for: "held")
        app.queue.remove(app.observer)
        store.release()
        await until("the sale on disk") { rig.files.text.contains(#""state" : "purchased""#) }
        // By the device's next turn all is said that it has to say of this.
        _ = await app.device.wakeCount

        let next = DiaryObserver()
        app.queue.add(next)
        await next.diary.wait(for: "purchased")

        #expect(next.diary.lines == ["purchased credits.5 2000000000000001"])
        #expect(app.observer.diary.lines == ["purchasing credits.5"])
    }

    @Test func `observers share one question for news`() async {
        let store = HoldingStore(rig.store)
        store.hold(when: \.isTransactions)
        let app = rig.launch(waitSeconds: 50, transport: store)
        await store.diary.wait(for: "held GET")
        let second = DiaryObserver()

        app.queue.add(second)
        app.add("credits.5")
        await second.diary.wait(for: "purchased")
        await app.device.close()

        #expect(rig.store.count(\.isTransactions) == 1)
    }

    @Test func `the question for news ends when nobody listens, and is asked anew`() async {
        let store = HoldingStore(rig.store)
        for _ in 1...2 { store.hold(when: \.isTransactions) }
        let app = rig.launch(waitSeconds: 50, transport: store)
        await store.diary.wait(for: "held GET")

        app.queue.remove(app.observer)
        await store.diary.wait(for: "cancelled GET")
        app.queue.add(app.observer)
        await store.diary.wait(for: "held GET", count: 2)
        await app.device.close()
    }

    @Test func `observers are held weakly`() {
        let app = rig.launch(observer: nil)
        do {
            let passing = DiaryObserver()
            app.queue.add(passing)
            #expect(app.queue.transactionObservers.count == 1)
        }
        #expect(app.queue.transactionObservers.isEmpty)
    }

    @Test func `a purchase elsewhere is reported while the app runs`() async {
        let app = rig.launch(waitSeconds: 50)

        rig.store.sellElsewhere("credits.10")
        await app.observer.diary.wait(for: "purchased credits.10")
        app.queue.remove(app.observer)
        await app.device.close()

        #expect(app.observer.diary.lines == ["purchased credits.10 2000000000000001"])
    }

    @Test func `a payment is copied when it is added`() async throws {
        let app = rig.launch()
        let payment = SKMutablePayment()
        payment.productIdentifier = "credits.5"
        payment.applicationUsername = "blob"

        app.queue.add(payment)
        payment.productIdentifier = "credits.10"
        await app.observer.diary.wait(for: "purchased")

        let queued = try #require(app.queue.transactions.first?.payment)
        #expect(queued.productIdentifier == "credits.5")
        #expect(queued.applicationUsername == "blob")
        #expect(!(queued is SKMutablePayment))
    }

    @Test func `a quantity below one is a programming error`() async {
        await #expect(processExitsWith: .failure) {
            let payment = SKMutablePayment()
            payment.productIdentifier = "credits.5"
            payment.quantity = 0
            SKPaymentQueue.default().add(payment)
        }
    }

    @Test func `an empty product id is a programming error`() async {
        await #expect(processExitsWith: .failure) {
            SKPaymentQueue.default().add(SKPayment())
        }
    }

    @Test func `finishing what is purchasing is a programming error`() async {
        await #expect(processExitsWith: .failure) {
            SKPaymentQueue.default().finishTransaction(SKPaymentTransaction())
        }
    }
}
