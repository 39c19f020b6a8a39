// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import StoreWire
import Synchronization
import Testing

/// A sandbox that shows no payment sheet.
@Suite(.timeLimit(.minutes(5))) struct DialogTests {
    private let rig: Rig

    init() throws {
        rig = try Rig()
        // Whoever shows a sheet is told no.
        rig.sheet.answers.withLock { $0 = [.cancel] }
    }

    private func disable(_ signIn: Bool?, _ products: Bool?, environment: Environment = .sandbox) {
        rig.store.state.withLock {
            $0.disablesDialogs = (signIn, products)
            $0.environment = environment
        }
    }

    @Test func `where dialogs are disabled a payment is confirmed by itself`() async {
        disable(true, true)
        let app = rig.launch()

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(rig.sheet.shown.lines == [])
        #expect(rig.store.count(\.isPurchase) == 1)
    }

    @Test(arguments: [(true, Bool?.none), (nil, nil), (false, false)] as [(Bool?, Bool?)])
    func `the last answer with products counts`(signIn: Bool?, products: Bool?) async {
        disable(signIn, products)
        let app = rig.launch()

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        #expect(rig.sheet.shown.lines.count == 1)
        #expect(rig.store.count(\.isPurchase) == 0)
    }

    @Test func `a store that charges cannot do without the sheet`() async {
        disable(true, true, environment: .production)
        let app = rig.launch()

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        #expect(rig.sheet.shown.lines.count == 1)
        #expect(rig.store.count(\.isPurchase) == 0)
    }

    @Test func `a price that changed is confirmed by itself too`() async throws {
        disable(true, true)
        let app = rig.launch()
        _ = try await app.products("credits.5")
        rig.store.state.withLock { $0.products["credits.5"] = 1490 }

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(rig.sheet.shown.lines == [])
        let shown = rig.store.state.withLock { $0.purchases.values.map(\.unitPrice).sorted() }
        #expect(shown == [990, 1490])
    }
}
