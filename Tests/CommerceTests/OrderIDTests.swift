// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct OrderIDTests {
    @Test(arguments: [
        (2_000_000_000_000_000, "M0000000000"), (2_000_000_000_001_000, "M00000000Z8"),
        (2_999_999_999_999_999, "MWDFTJCCZZZ"),
    ])
    func `an order has the id of its transaction`(number: Int64, text: String) throws {
        #expect(OrderID(of: TransactionID(number))?.text == text)
    }

    @Test func `an id reads back, in either case`() throws {
        for number: Int64 in [0, 1, 31, 32, 999, 123_456_789_012, 999_999_999_999_999] {
            let transaction = TransactionID(2_000_000_000_000_000 + number)
            let order = try #require(OrderID(of: transaction))
            #expect(OrderID(order.text) == order)
            #expect(OrderID(order.text.lowercased())?.transaction == transaction)
        }
    }

    @Test(arguments: [
        "", "M", "M000000000", "M00000000000", "N0000000000", "M000000000I", "M000000000L",
        "M000000000U", "M00000000-0", "MZZZZZZZZZZ", "MÄ000000000",
    ])
    func `a text that no order can have is none`(text: String) {
        #expect(OrderID(text) == nil)
    }

    @Test(arguments: [1_000_000_000_000_000, 4_000_000_000_000_000, 5])
    func `only a transaction has an order`(number: Int64) {
        #expect(OrderID(of: TransactionID(number)) == nil)
    }
}
