// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import SignedData
import StoreWire
import Synchronization
import TestSupport
import Testing

/// What keeps a device from its work is said to the developer, once.
@Suite(.timeLimit(.minutes(5))) struct LogTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func logged(_ beginning: String) async {
        await rig.log.wait(for: beginning)
        #expect(rig.log.lines.count { $0.hasPrefix(beginning) } == 1)
    }

    @Test func `a queue that cannot be opened is logged with the reason`() async {
        rig.files.state.withLock { $0.failingReads = 1_000_000 }

        let app = rig.launch(naps: false)

        await logged("The queue cannot be opened: the device's files: ")
        await app.device.close()
    }

    @Test func `a store that refuses the device is logged with its sentence`() async {
        rig.store.always(.answered(FakeStore.refusal(403, "notHere"))) { $0 == .signIn }

        let app = rig.launch(naps: false)

        await logged("The store refuses: 403 notHere: No.")
        await app.device.close()
    }

    @Test func `a payment whose outcome is open is logged`() async {
        rig.store.always(.answered(FakeStore.refusal(403, "proxy")), when: \.isPurchase)

        let app = rig.launch(naps: false)
        app.add("credits.5")

        await logged("A payment's outcome is still open: 403 proxy: No.")
        await app.device.close()
    }

    @Test func `a payment whose customer has signed out waits, and that is logged`() async {
        rig.store.next(
            .replyLost(.unknown(URLError(.networkConnectionLost))), when: \.isPurchase)
        let first = rig.launch(naps: false)
        first.add("credits.5")
        await rig.sold(1)
        rig.store.state.withLock {
            $0.customer = "1000000000002000"
            $0.validTokens = []
            $0.sales = []
        }

        first.add("credits.none")

        await logged("A payment waits for the customer who confirmed it.")
        await first.device.close()
    }

    @Test func `a signature by another root is logged`() async throws {
        let other = try Authorities.second.get()
        rig.store.signer.withLock { $0 = other.transactions }
        rig.store.sellElsewhere("credits.5")

        let app = rig.launch()

        await logged("A transaction is not delivered: ")
        await app.device.close()
    }
}
