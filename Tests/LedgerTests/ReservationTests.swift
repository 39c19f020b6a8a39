// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// Redemption in two steps.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct ReservationTests {
    private let clock = MovedClock()

    /// A ledger that has booked purchase 1.
    private func book(quantity: Int = 1, storage: (any Storage)? = nil) async throws -> Book {
        let book = try await Book.open(storage: storage, wall: clock.wall)
        try await book.take { $0.quantity = quantity }
        return book
    }

    @Test func `a reserved unit is not spent otherwise, and is spent once when confirmed`()
        async throws
    {
        let book = try await book(quantity: 2)

        let held = try await book.reserve("a")
        let again = try await book.reserve("a")
        #expect(held == again)
        #expect(held.state == "held")
        #expect(held.expiresDate == Book.now.adding(seconds: 900))
        #expect(try await book.unspent() == ["2000000000000001": 1])
        #expect(try await book.redeem("b").unit == 1)
        #expect(try await book.unspent().isEmpty)
        #expect(
            try await refusal { try await book.redeem("c") }
                == ["purchaseReserved", "transactionId"])

        let confirmed = try await book.confirm("a")
        #expect(confirmed.unit == 2)
        #expect(try await book.confirm("a") == confirmed)
        #expect(try await book.redeem("a") == confirmed)
        let told = try await book.reserve("a")
        #expect(told.state == "confirmed")
        #expect(told.redemption == confirmed)
        #expect(try await refusal { try await book.redeem("c") }?.first == "purchaseSpent")
        #expect(
            try await refusal { try await book.release("a") }?.first == "reservationConfirmed")
    }

    @Test func `a released unit can be spent, and its key is used up`() async throws {
        let book = try await book()
        try await book.reserve("a")

        let released = try await book.release("a")
        clock.move(seconds: 1)

        #expect(released.state == "released")
        #expect(try await book.release("a") == released)
        #expect(
            try await refusal { try await book.confirm("a") }?.first == "reservationReleased")
        #expect(try await refusal { try await book.redeem("a") }?.first == "keyReserved")
        #expect(try await book.reserve("a").state == "released")
        #expect(try await book.unspent() == ["2000000000000001": 1])
        #expect(try await book.redeem("b").unit == 1)
    }

    @Test func `a reservation ends at its expiry, without anyone doing anything`() async throws {
        let book = try await book()
        try await book.reserve("a", seconds: 60)
        clock.move(seconds: 59)
        #expect(try await refusal { try await book.reserve("b") }?.first == "purchaseReserved")

        clock.move(seconds: 1)

        #expect(try await book.reserve("a").state == "expired")
        #expect(try await book.unspent() == ["2000000000000001": 1])
        #expect(try await book.reserve("b").state == "held")
        #expect(
            try await refusal { try await book.confirm("a") }?.first == "reservationExpired")
        #expect(try await book.confirm("b").unit == 1)
    }

    @Test func `an expired reservation is still confirmed while a unit is left`() async throws {
        let book = try await book()
        try await book.reserve("a", seconds: 60)
        clock.move(seconds: 3600)

        let late = try await book.confirm("a")

        #expect(late.unit == 1)
        #expect(late.redeemedDate == Book.now.adding(seconds: 3600))
        #expect(try await refusal { try await book.redeem("b") }?.first == "purchaseSpent")
    }

    /// Two servers' clocks differ, or a clock was set back, so that both reservations
    /// are held by their dates.
    @Test func `a reservation whose unit was reserved again after its expiry stays expired`()
        async throws
    {
        let book = try await book()
        try await book.reserve("a", seconds: 10)
        clock.move(seconds: 10)
        try await book.reserve("b")
        clock.move(seconds: -1)

        #expect(try await book.reserve("a").state == "held")
        #expect(try await refusal { try await book.confirm("a") }?.first == "reservationExpired")
        #expect(try await book.confirm("b").unit == 1)
        #expect(try await refusal { try await book.confirm("a") }?.first == "reservationExpired")
    }

    /// By the clock of the server that grants it, the reservation has expired.
    @Test func `a held unit is not spent once its purchase has granted what it is worth`()
        async throws
    {
        let storage = try await Shelf.storage()
        let book = try await book(quantity: 2, storage: storage)
        try await book.reserve("a", seconds: 10)
        clock.move(seconds: 10)
        let ahead = try await Book.open(
            storage: storage, wall: clock.wall,
            grants: try GrantRules([
                "credits.5": [Grant(name: "coins", kind: .credits(perUnit: 100))]
            ]))
        let applied = try await ahead.ledger.applyGrants()
        clock.move(seconds: -1)

        #expect(applied == GrantsApplied(granted: 1, left: 0))
        #expect(try await book.reserve("a").state == "held")
        #expect(try await refusal { try await book.confirm("a") }?.first == "reservationExpired")
        #expect(try await refusal { try await book.redeem("b") }?.first == "purchaseGranted")
        #expect(try await book.release("a").state == "released")
        #expect(try await ahead.balance() == 200)
    }

    @Test func `with a unit more both are confirmed`() async throws {
        let book = try await book(quantity: 2)
        try await book.reserve("a", seconds: 10)
        clock.move(seconds: 10)
        try await book.reserve("b")
        clock.move(seconds: -1)

        #expect(try await book.confirm("a").unit == 1)
        #expect(try await book.confirm("b").unit == 2)
    }

    @Test func `a held unit is spent although the purchase was revoked, an expired one is not`()
        async throws
    {
        let book = try await book(quantity: 2)
        try await book.reserve("a", seconds: 60)
        try await book.reserve("b", seconds: 30)
        try await book.take {
            $0.quantity = 2
            $0.signedDate = Book.now.adding(seconds: 1)
            $0.revocationDate = Book.now
        }
        clock.move(seconds: 30)

        #expect(try await book.confirm("a").unit == 1)
        #expect(
            try await refusal { try await book.confirm("b") }?.first == "reservationExpired")
        #expect(try await refusal { try await book.reserve("c") }?.first == "purchaseRevoked")
    }

    @Test func `a key is one redemption, and a request is checked first`() async throws {
        let book = try await book(quantity: 3)
        try await book.redeem("direct")
        try await book.reserve("a")

        #expect(
            try await refusal { try await book.reserve("direct") }
                == ["keyRedeemed", "idempotencyKey"])
        #expect(
            try await refusal { try await book.reserve("a", purpose: "another") }
                == ["redemptionContradicts", "purpose"])
        for seconds in [0, -1, Ledger.reservationSecondsMax + 1] {
            #expect(
                try await refusal { try await book.reserve("b", seconds: seconds) }
                    == ["secondsInvalid", "seconds"])
        }
        for key in ["direct", "nothing"] {
            #expect(
                try await refusal { try await book.confirm(key) }
                    == ["reservationUnknown", "idempotencyKey"])
            #expect(
                try await refusal { try await book.release(key) }?.first == "reservationUnknown")
        }
        #expect(
            try await refusal { try await book.confirm("a", account: "glob") }?.first
                == "reservationUnknown")
        #expect(
            try await refusal { try await book.reserve("b", account: "glob") }?.first
                == "purchaseUnknown")
    }

    @Test func `many at once reserve, confirm and release each unit once`() async throws {
        let (one, other) = try await Shelf.pair()
        let first = try await book(quantity: 5, storage: one)
        let books = [first, try await Book.open(storage: other, wall: clock.wall)]

        let spent = try await withThrowingTaskGroup(of: [Int].self) { group in
            for racer in 0..<16 {
                group.addTask {
                    let book = books[racer % 2]
                    let key = "racer-\(racer / 2)"
                    guard try await refusal({ try await book.reserve(key) }) == nil else {
                        return []
                    }
                    if racer / 2 % 4 == 3 {
                        _ = try await refusal { try await book.release(key) }
                        return []
                    }
                    return [try await book.confirm(key).unit]
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }

        // Each key was raced for by two, which got the same unit.
        let units = Set(spent).sorted()
        #expect(units == Array(1...units.count))
        #expect(units.count <= 5)
        let left = try await first.unspent().values.first ?? 0
        #expect(units.count + left == 5)
    }
}
