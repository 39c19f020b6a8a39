// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Testing

@testable import PurchaseKit

/// Restored entries in the pure machine.
extension QueueRecordTests {
    func restoration(_ ids: String..., owner: Owner? = nil) -> Restoration {
        let items = ids.map { id in
            var sale = restored
            sale.transactionID = id
            return Restoration.Item(
                key: "r\(id)", payment: PaymentContents(productID: "x", quantity: 1), sale: sale)
        }
        return Restoration(
            owner: owner ?? self.owner, launch: "l", items: items, receipt: receipt)
    }

    @Test func `what is restored is reported at once, and the receipt is kept`() {
        var record = QueueRecord(storeURL: "u", bundleID: nil, deviceUUID: "d")
        #expect(record.apply(.restored(restoration())) == [])
        #expect(record.receipt == receipt)
        #expect(
            record.apply(.restored(restoration("2", "3"))) == [.deliverAll(keys: ["r2", "r3"])])
        #expect(record.entries.map(\.state) == [.restored, .restored])
    }

    @Test(arguments: [QueueEntry.State.purchased, .finished])
    func `what the app has still to finish is not restored`(state: QueueEntry.State) {
        var record = record(state)
        let actions = record.apply(.restored(restoration("2", "3")))
        let expected = state == .purchased ? ["r3"] : ["r2", "r3"]
        #expect(actions == [.deliverAll(keys: expected)])
        record = self.record(state)
        let other = Owner(realm: "r", customer: "another")
        #expect(
            record.apply(.restored(restoration("2", owner: other)))
                == [.deliverAll(keys: ["r2"])])
    }

    @Test func `a restored entry does not hide the delivery of its sale`() {
        var record = record(.restored)
        #expect(record.apply(event("arrived")) == [.deliver(key: "k2")])
    }

    @Test func `a revoked or cleared sale is not owed as restored either`() {
        var record = record(.restored)
        var lost = Arrivals(owner: owner, launch: "l", items: [], revoked: ["2"])
        #expect(record.apply(.arrived(lost)) == [.remove(key: "k")])
        record = self.record(.restored)
        lost = Arrivals(owner: owner, launch: "l", items: [], cleared: 6)
        #expect(record.apply(.arrived(lost)) == [])
        lost.cleared = 7
        #expect(record.apply(.arrived(lost)) == [.remove(key: "k")])
    }
}
