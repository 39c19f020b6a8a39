// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// The customer's consent to a higher price of a subscription.
@Suite(.timeLimit(.minutes(5)))
struct PriceConsentTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
        rig.store.state.withLock { store in
            store.products["paper"] = 4990
            store.increases = [
                PriceIncreaseDescription(
                    subscriptionId: "2000000000000001", productId: "paper", presentPrice: 4990,
                    price: 5990, currency: "USD",
                    startDate: Timestamp(milliseconds: 1_709_251_200_000))
            ]
        }
    }

    /// Chooses the moment itself.
    final class Decider: NSObject, SKPaymentQueueDelegate, Sendable {
        let diary = Diary()

        func paymentQueueShouldShowPriceConsent(_ paymentQueue: SKPaymentQueue) -> Bool {
            diary.write("asked")
            return false
        }
    }

    private static let question =
        "From 2024-03-01, Title of paper costs $5.99 instead of $4.99. Without your consent it "
        + "ends. Do you agree?"

    private var consents: [String] { rig.store.state.withLock { $0.consents } }

    @Test func `the customer is asked at the launch, and the consent is sent`() async {
        let app = rig.launch()
        await until("a consent", seen: "\(rig.sheet.shown.lines)") { !consents.isEmpty }

        #expect(consents == ["2000000000000001 5990"])
        #expect(rig.sheet.shown.lines == [Self.question])
        #expect(app.observer.diary.lines == [])
    }

    @Test func `a customer who does not agree is asked again at the next launch`() async {
        rig.sheet.answers.withLock { $0 = [.cancel] }
        let app = rig.launch()
        await rig.sheet.shown.wait(for: "From")
        await app.device.close()
        #expect(consents == [])

        let second = rig.launch()
        await until("a consent") { !consents.isEmpty }
        #expect(second.observer.diary.lines == [])
        #expect(rig.sheet.shown.lines == [Self.question, Self.question])
    }

    @Test func `a delegate chooses the moment`() async {
        let decider = Decider()
        let app = rig.launch(observer: nil)
        app.queue.delegate = decider
        app.queue.add(app.observer)
        await decider.diary.wait(for: "asked")
        #expect(consents == [])

        app.queue.showPriceConsentIfNeeded()
        await until("a consent") { !consents.isEmpty }
        #expect(rig.sheet.shown.lines == [Self.question])
        #expect(decider.diary.lines == ["asked"])
    }

    @Test func `an app that comes to the foreground delivers and asks again`() async {
        rig.sheet.answers.withLock { $0 = [.cancel] }
        let app = rig.launch()
        await rig.sheet.shown.wait(for: "From")
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        app.device.enterForeground()
        await until("a consent") { !consents.isEmpty }
        await app.observer.diary.wait(for: "purchased", count: 2)
        let lines = app.observer.diary.lines.filter { $0.hasPrefix("purchased") }
        #expect(lines[0] == lines[1])
        #expect(Set(app.observer.transactions.map(ObjectIdentifier.init)).count == 1)
    }

    @Test func `nobody is asked where nothing waits, and the store only on demand`() async {
        rig.store.state.withLock { $0.increases = [] }
        let app = rig.launch()
        await until("the launch") { rig.store.count(\.isTransactions) > 0 }
        #expect(rig.store.count { $0 == .priceIncreases } == 0)

        app.queue.showPriceConsentIfNeeded()
        await until("a request") { rig.store.count { $0 == .priceIncreases } == 1 }
        #expect(rig.sheet.shown.lines == [])
    }

    @Test func `a sandbox without dialogs consents to nothing`() async {
        rig.store.state.withLock { $0.disablesDialogs = (true, true) }
        let app = rig.launch()
        app.queue.showPriceConsentIfNeeded()
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(consents == [])
        #expect(rig.store.count { $0 == .priceIncreases } == 0)
    }

    /// An app's own sheet that was written before there was such a question.
    @Test func `a sheet without the question does not consent`() async throws {
        let dollar = try #require(Currency(code: "USD"))
        let increase = SheetPriceIncrease(
            productID: "paper", title: "Paper", presentPrice: Money(Amount(milliunits: 1), dollar),
            price: Money(Amount(milliunits: 2), dollar), priceLocale: "en_US@currency=USD",
            startDay: "2024-03-01")
        #expect(await SilentSheet().askForConsent(increase) == .cancel)
        #expect(await AutomaticSheet(.confirm).askForConsent(increase) == .confirm)
    }
}
