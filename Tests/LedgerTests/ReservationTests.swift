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

    /// Every sequence of four steps on a purchase of one unit, against a model of
    /// single values.
    @Test func `every order of reserving, confirming, releasing and waiting agrees with a model`()
        async throws
    {
        let steps = Step.allCases
        for number in 0..<(steps.count * steps.count * steps.count * steps.count) {
            let sequence = (0..<4).map { place in
                steps[number / Self.power(steps.count, place) % steps.count]
            }
            let clock = MovedClock()
            let book = try await Book.open(storage: Self.shared.value, wall: clock.wall)
            try await book.take(number, account: "\(number)")
            var model = Model()
            for step in sequence {
                let done = try await step.run(book, number, clock)
                #expect(done == model.run(step), "\(sequence) at \(step)")
            }
            let left = try await book.unspent("\(number)").values.first ?? 0
            #expect(left == model.left, "\(sequence)")
        }
    }

    private static let shared = Task { try await Shelf.storage() }

    private static func power(_ base: Int, _ exponent: Int) -> Int {
        (0..<exponent).reduce(1) { product, _ in product * base }
    }

    private enum Step: CaseIterable {
        case reserve, confirm, release, redeem, wait

        /// Whether it succeeded.
        func run(_ book: Book, _ number: Int, _ clock: MovedClock) async throws -> Bool {
            let account = "\(number)"
            let told = try await refusal {
                switch self {
                case .reserve: try await book.reserve("a", id: number, account: account)
                case .confirm: try await book.confirm("a", account: account)
                case .release: try await book.release("a", account: account)
                case .redeem: try await book.redeem("b", id: number, account: account)
                case .wait: clock.move(seconds: 900)
                }
            }
            return told == nil
        }
    }

    /// One unit, and a reservation `a` beside a redemption `b`.
    private struct Model {
        var reserved: Int?
        var isConfirmed = false
        var isReleased = false
        var isRedeemed = false
        var time = 0

        var isHeld: Bool {
            reserved.map { time < $0 + 900 } ?? false && !isConfirmed && !isReleased
        }
        var left: Int { isConfirmed || isRedeemed || isHeld ? 0 : 1 }

        mutating func run(_ step: Step) -> Bool {
            switch step {
            case .wait: time += 900
            case .reserve:
                if reserved != nil { return true }
                guard left == 1 else { return false }
                reserved = time
            case .confirm:
                guard reserved != nil, !isReleased else { return false }
                guard isConfirmed || isHeld || left == 1 else { return false }
                isConfirmed = true
            case .release:
                guard reserved != nil, !isConfirmed else { return false }
                isReleased = true
            case .redeem:
                guard isRedeemed || left == 1 else { return false }
                isRedeemed = true
            }
            return true
        }
    }
}

extension Book {
    @discardableResult
    fileprivate func reserve(
        _ key: String, id: Int? = 1, account: String = "blob", purpose: String = "feed a monkey",
        seconds: Int? = nil
    ) async throws -> LedgerReservation {
        try await ledger.reserve(
            ReserveRequest(
                idempotencyKey: key,
                transactionId: id.map { "\(2_000_000_000_000_000 + $0)" }, purpose: purpose,
                seconds: seconds), account: account)
    }

    @discardableResult
    fileprivate func confirm(
        _ key: String, account: String = "blob"
    ) async throws -> LedgerRedemption {
        try await ledger.confirm(reservation: key, account: account)
    }

    @discardableResult
    fileprivate func release(
        _ key: String, account: String = "blob"
    ) async throws -> LedgerReservation {
        try await ledger.release(reservation: key, account: account)
    }
}
