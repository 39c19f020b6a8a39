// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreKit
import StoreWire
import TestSupport
import Testing

/// The faults of a test's wire: whatever happens on the way, a purchase is paid once.
@Suite(.timeLimit(.minutes(5))) struct WireFaultTests {
    @Test(
        arguments: [
            .requestLost, .answerLost, .unavailable, .late(milliseconds: 5), .doubled, .cutOff,
            .garbage, .trickle(milliseconds: 5),
        ] as [TestWire.Fault])
    func `a purchase survives a fault at each call`(fault: TestWire.Fault) async throws {
        let processor = TestProcessor()
        let shop = try await TestShop.monkeys { $0.processor = processor }
        let device = try await shop.device()
        _ = try await device.products("credits.5")
        for call in [TestWire.Call.purchase, .receipt, .finish, .transactions] {
            shop.wire.fail(call, fault, times: 2)
        }
        try await device.buy("credits.5")
        let sold = try await device.heard.first(.purchased)
        device.queue.finishTransaction(sold)
        try await device.heard.removed()

        await until("the store has the finish") {
            let records = try? await shop.realm.purchases.listTransactions().transactions
            return records?.map(\.isFinished) == [true]
        }
        await until("the sum is captured") { !processor.captured.isEmpty }
        #expect(processor.captured.count == 1)
        await shop.close()
    }

    @Test func `an answer that is no store's is a fault of the service`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        shop.wire.fail(.products, .garbage)
        let error = await #expect(throws: (any Error).self) {
            try await device.products("credits.5")
        }
        #expect((error.map { $0 as NSError })?.code == StoreServiceError.storeFault)
        await shop.close()
    }
}
