// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import TestSupport
import Testing

@testable import Shop

@Suite(.engineFree) struct PurchaseRowTests {
    private static let key = PurchaseKey(
        customer: CustomerID(7), bundleID: "com.example",
        purchaseID: PurchaseID(purchaseID(1)))

    private func row(_ changes: [String: SQLValue] = [:]) -> Row {
        var facts: [String: SQLValue] = [
            "product_id": .text("p"), "quantity": .integer(2), "unit_price": .integer(990),
            "currency": .text("USD"), "application_username": .text("me"),
            "replaces": .text("r"), "state": .text("asked"), "refusal": .null,
            "waiting_for": .null, "transaction_id": .null, "total_price": .integer(1980),
            "simulates_ask_to_buy": .boolean(true), "approval": .null, "asked_at": .integer(9),
            "revision": .integer(5), "history_revision": .null, "void_owed_at": .null,
            "voided_at": .null,
            "processor_reference": .null, "offer": .null, "is_committed": .boolean(false),
        ]
        facts.merge(changes) { $1 }
        let names = facts.keys.sorted()
        return Row(
            columns: Dictionary(uniqueKeysWithValues: zip(names, names.indices)),
            values: names.map { facts[$0] ?? .null })
    }

    @Test func `a row holds the payment as it was sent`() throws {
        let usd = try #require(Currency(code: "USD"))

        let purchase = try #require(try PurchaseRow(row(), key: Self.key))

        #expect(
            purchase.payment
                == Payment(
                    productID: "p", quantity: 2,
                    shownUnitPrice: Money(Amount(milliunits: 990), usd),
                    applicationUsername: "me", replaces: "r", simulatesAskToBuy: true))
        #expect(purchase.total == Amount(milliunits: 1980))
        #expect(purchase.revision == 5)
        #expect(purchase.askedAt == Timestamp(milliseconds: 9))
    }

    @Test(
        arguments: [
            ("sold", true, false, .capture), ("sold", false, false, nil),
            ("refused", true, true, .void),
            ("refused", false, false, nil), ("sold", true, true, .void),
            ("authorising", false, false, nil),
        ] as [(String, Bool, Bool, PurchaseEvent.Debt?)])
    func `a row shows what is owed to the processor`(
        state: String, isReserved: Bool, owesVoid: Bool, debt: PurchaseEvent.Debt?
    ) throws {
        let changes: [String: SQLValue] = [
            "state": .text(state), "refusal": .text("declined"), "transaction_id": .integer(3),
            "processor_reference": isReserved ? .text("r") : .null,
            "void_owed_at": owesVoid ? .integer(7) : .null,
        ]

        #expect(try PurchaseRow(row(changes), key: Self.key)?.debt == debt)
    }

    @Test func `a sum that was given back is owed nothing`() throws {
        let changes: [String: SQLValue] = [
            "state": .text("sold"), "transaction_id": .integer(3),
            "processor_reference": .text("r"), "voided_at": .integer(8),
        ]

        #expect(try PurchaseRow(row(changes), key: Self.key)?.debt == nil)
    }

    @Test func `a row without a purchase is nil`() throws {
        #expect(try PurchaseRow(row(["product_id": .null]), key: Self.key) == nil)
    }

    @Test(
        arguments: [
            ("asked", [:], PurchaseState.asked), ("authorising", [:], .authorising),
            ("sold", ["transaction_id": .integer(3)], .sold(TransactionID(3))),
            ("refused", ["refusal": .text("declined")], .refused(.declined)),
            ("waiting", ["waiting_for": .text("approval")], .waiting(.approval)),
            ("waiting", ["waiting_for": .text("attention")], .waiting(.attention)),
        ] as [(String, [String: SQLValue], PurchaseState)])
    func `every state is read as it is written`(
        word: String, columns: [String: SQLValue], state: PurchaseState
    ) throws {
        let read = try PurchaseRow(
            row(columns.merging(["state": .text(word)]) { $1 }), key: Self.key)

        #expect(read?.state == state)
        #expect(state.word == word)
    }

    @Test(
        arguments: [
            ["state": .text("lost")], ["state": .null], ["state": .text("sold")],
            ["state": .text("refused"), "refusal": .text("whim")],
            ["state": .text("waiting"), "waiting_for": .text("godot")],
            ["currency": .text("dollars")], ["quantity": .text("2")],
        ] as [[String: SQLValue]])
    func `a damaged row is a fault and never a state`(columns: [String: SQLValue]) {
        #expect(throws: StorageFault.self) {
            try PurchaseRow(row(columns), key: Self.key)
        }
    }

    @Test func `a charge key names realm, customer, app and purchase`() throws {
        let key = "0011/7/com.example/" + purchaseID(1)

        #expect(try PurchaseRow(row(), key: Self.key)?.charge(in: "0011") == key)
    }

    @Test func `a charge key names what was deleted before its purchase`() throws {
        let purchase = try PurchaseRow(row(["history_revision": .integer(4)]), key: Self.key)

        #expect(purchase?.charge(in: "0011") == "0011/7/com.example/\(purchaseID(1))/4")
    }

    @Test func `a subject names its purchase again`() {
        #expect(Self.key.subject == "com.example/" + purchaseID(1))
        #expect(PurchaseKey(customer: CustomerID(7), subject: Self.key.subject) == Self.key)
        #expect(PurchaseKey(customer: CustomerID(7), subject: "nothing") == nil)
    }

    @Test func `an answer that came is seen`() throws {
        let purchase = try PurchaseRow(
            row([
                "state": .text("refused"), "refusal": .text("approvalDeclined"),
                "waiting_for": .text("approval"), "approval": .text("declined"),
            ]), key: Self.key)

        #expect(purchase?.approval == .declined)
        #expect(purchase?.waitingFor == .approval)
    }
}

@Suite(.engineFree) struct ClockRowTests {
    private func row(ahead: Int64, stands: Int64?, last: Int64?) -> Row {
        Row(
            columns: [
                "clock_ahead": 0, "clock_stands_at": 1, "last_event": 2,
                "catalogue_revision": 3, "clock_rate": 4, "clock_since": 5, "jumped_to": 6,
                "jump_notifications": 7, "clock_id": 8, "clock_tempo": 9, "generation": 10,
            ],
            values: [
                .integer(ahead), stands.map(SQLValue.integer) ?? .null,
                last.map(SQLValue.integer) ?? .null, .integer(9), .integer(1), .integer(0),
                .null, .null, .integer(0), .null, .integer(1),
            ])
    }

    @Test(
        arguments: [
            // ahead, stands at, last event, wall, now
            (Int64(0), nil, nil, Int64(100), Int64(100)), (50, nil, nil, 100, 150),
            (-50, nil, nil, 100, 50), (0, 70, nil, 100, 70), (0, nil, 90, 100, 100),
            (0, nil, 110, 100, 110), (0, 70, 90, 100, 90), (0, 70, 60, 100, 70),
            (-50, nil, 90, 100, 90),
            // Set back by more than clocks may differ.
            (0, nil, 30_100, 100, 30_100), (0, nil, 30_101, 100, 100),
            (0, 70, 30_070, 100, 30_070), (0, 70, 30_071, 100, 70),
        ] as [(Int64, Int64?, Int64?, Int64, Int64)])
    func `now is the clock's, and not before a customer's event of just now`(
        ahead: Int64, stands: Int64?, last: Int64?, wall: Int64, now: Int64
    ) throws {
        let clock = try ClockRow(row(ahead: ahead, stands: stands, last: last))

        #expect(clock.now(wall: Timestamp(milliseconds: wall)).milliseconds == now)
        #expect(clock.catalogueRevision == 9)
    }
}
