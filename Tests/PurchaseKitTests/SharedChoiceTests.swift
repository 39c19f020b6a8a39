// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// Two processes on one device folder that add the same choice.
@Suite(.timeLimit(.minutes(5)))
struct SharedChoiceTests {
    private static let choice = "0b0c0d0e-0000-4000-8000-000000000001"
    let rig: Rig

    init() throws { rig = try Rig() }

    private func choose(_ app: Rig.Launch) {
        app.queue.add(
            SKPayment(
                contents: PaymentContents(
                    productID: "credits.5", quantity: 1, intentID: Self.choice)))
    }

    /// Two launches that have opened the queue before either adds something.
    private func pair(
        _ first: any PaymentSheet, naps: Bool = true
    ) async -> (Rig.Launch, Rig.Launch) {
        let apps = (rig.launch(naps: naps, sheet: first), rig.launch())
        for app in [apps.0, apps.1] {
            await until("an open queue") { await app.device.record != nil }
        }
        return apps
    }

    @Test func `it is bought once, and both hear of it`() async throws {
        let sheet = GatedSheet()
        let (first, second) = await pair(sheet)
        choose(first)
        await first.observer.diary.wait(for: "purchasing")
        choose(second)
        await second.observer.diary.wait(for: "purchasing")
        sheet.open()
        await first.observer.diary.wait(for: "purchased")
        await second.observer.diary.wait(for: "purchased")
        first.queue.finishTransaction(try #require(first.observer.transactions.last))
        await first.observer.diary.wait(for: "removed")
        await second.observer.diary.wait(for: "removed")

        #expect(rig.store.state.withLock { $0.sales.map(\.purchaseID) } == [Self.choice])
        #expect(rig.sheet.shown.lines == [])
        #expect(
            second.observer.diary.lines == [
                "purchasing credits.5", "purchased credits.5 2000000000000001",
                "removed credits.5",
            ])
        #expect(second.queue.transactions == [])
        await first.device.close()
        await second.device.close()
    }

    @Test func `the process that did not carry it may finish it`() async throws {
        let (first, second) = await pair(rig.sheet)
        choose(first)
        await first.observer.diary.wait(for: "purchased")
        choose(second)
        await second.observer.diary.wait(for: "purchased")
        second.queue.finishTransaction(try #require(second.observer.transactions.last))
        await second.observer.diary.wait(for: "removed")
        first.queue.finishTransaction(try #require(first.observer.transactions.last))
        await first.observer.diary.wait(for: "removed")

        await rig.acknowledged()
        #expect(rig.store.state.withLock { $0.sales.map(\.isFinished) } == [true])
        await first.device.close()
        await second.device.close()
    }

    /// Also if the other one comes to the foreground, where it takes over what processes have
    /// left.
    @Test(arguments: [true, false])
    func `one whose process ends before the sheet is answered goes on in the other`(
        entersForeground: Bool
    ) async throws {
        let (first, second) = await pair(SilentSheet())
        choose(first)
        await first.observer.diary.wait(for: "purchasing")
        choose(second)
        await second.observer.diary.wait(for: "purchasing")
        #expect(rig.sheet.shown.lines == [])
        await first.device.close()
        if entersForeground { second.device.enterForeground() }
        await second.observer.diary.wait(for: "purchased")

        #expect(rig.sheet.shown.lines.count == 1)
        #expect(rig.store.state.withLock { $0.sales.map(\.purchaseID) } == [Self.choice])
        await second.device.close()
    }

    @Test func `one that was confirmed and whose process has ended is not confirmed again`()
        async throws
    {
        let (first, second) = await pair(rig.sheet, naps: false)
        rig.store.always(.replyLost(.unknown(nil)), when: \.isPurchase)
        choose(first)
        await rig.sold(1)
        await first.device.close()
        rig.store.recover()
        choose(second)
        await second.observer.diary.wait(for: "purchased")

        #expect(rig.sheet.shown.lines.count == 1)
        #expect(rig.store.state.withLock { $0.sales.map(\.purchaseID) } == [Self.choice])
        await second.device.close()
    }
}

/// Confirms when a test lets it.
private final class GatedSheet: PaymentSheet {
    private let isOpen = Mutex(false)

    func open() { isOpen.withLock { $0 = true } }

    func present(_ contents: SheetContents) async -> SheetAnswer {
        await until("an open gate") { isOpen.withLock { $0 } }
        return .confirm
    }

    func notify(_ sentence: String) async {}
}
