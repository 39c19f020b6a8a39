// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// Redemption in two steps after every order of what can happen to a purchase, against
/// a model of a few values.
@Suite(.unforgiven, .timeLimit(.minutes(LongPlay.minutes))) struct ReservationOrderTests {
    @Test(arguments: 1...2)
    func `every order of steps and news up to length 6 agrees with a model`(
        quantity: Int
    ) async throws {
        // A run plays a share of the longest; `SHOPKEEPER_CUTS=all` plays all.
        let clock = MovedClock()
        let book = try await Book.open(wall: clock.wall)
        let (short, oneIn) = Shelf.isOnPostgres ? (2, 4801) : (3, 1201)
        let all = Array(Step.sequences(length: short)) + Step.share(of: 6, oneIn: oneIn)
        var wrong: [String] = []
        for (number, steps) in all.enumerated() {
            wrong += try await play(steps, quantity, book, clock, number + 1)
        }
        #expect(all.count > 100)
        #expect(wrong.prefix(5) == [])
    }

    private func play(
        _ steps: [Step], _ quantity: Int, _ book: Book, _ clock: MovedClock, _ number: Int
    ) async throws -> [String] {
        var model = Model(quantity: quantity)
        for (index, step) in steps.enumerated() {
            let isDone = try await step.happen(at: book, clock, number, quantity)
            let isExpected = model.hear(step)
            let left = try await book.unspent("\(number)")[Book.id(number)] ?? 0
            if isDone != isExpected || left != model.left {
                return ["\(steps) at \(index): \(isDone), \(left) and not \(model.left)"]
            }
        }
        return []
    }

    /// What can happen to a purchase.
    private enum Step: OrderLetter {
        /// The app sends the signed transaction, for its account.
        case call
        /// The store sends that it was refunded, signed later.
        case refund
        /// The store sends that the refund was taken back, signed last.
        case reversal
        /// The merchant's server redeems a unit in one step, always under the same key.
        case redeem
        /// It reserves a unit for a minute, always under the same key.
        case reserve
        case confirm
        case release
        /// A minute passes.
        case expiry

        /// Whether it was accepted.
        func happen(
            at book: Book, _ clock: MovedClock, _ number: Int, _ quantity: Int
        ) async throws -> Bool {
            let account = "\(number)"
            func prove(
                _ signed: Int64, revoked: Int64? = nil, _ account: String? = nil
            ) async throws {
                try await book.prove(
                    number, product: "year", account: account, signed: signed, revoked: revoked
                ) { $0.quantity = quantity }
            }
            func isAccepted(_ body: () async throws -> some Sendable) async throws -> Bool {
                try await refusal(body) == nil
            }
            switch self {
            case .call: try await prove(1, account)
            case .refund: try await prove(3, revoked: 2)
            case .reversal: try await prove(5)
            case .expiry: clock.move(seconds: 60)
            case .redeem:
                return try await isAccepted {
                    try await book.redeem("direct", id: number, account: account)
                }
            case .reserve:
                return try await isAccepted {
                    try await book.reserve("held", id: number, account: account, seconds: 60)
                }
            case .confirm:
                return try await isAccepted { try await book.confirm("held", account: account) }
            case .release:
                return try await isAccepted { try await book.release("held", account: account) }
            }
            return true
        }
    }

    private struct Model {
        enum Reservation { case none, held, expired, confirmed, released }

        let quantity: Int
        var isClaimed = false
        var refundHeard = false
        var reversalHeard = false
        var hasRedeemed = false
        var reservation = Reservation.none

        var isRevoked: Bool { refundHeard && !reversalHeard }
        var spent: Int { (hasRedeemed ? 1 : 0) + (reservation == .confirmed ? 1 : 0) }
        var left: Int {
            guard isClaimed, !isRevoked else { return 0 }
            return quantity - spent - (reservation == .held ? 1 : 0)
        }

        mutating func hear(_ step: Step) -> Bool {
            switch step {
            case .call: isClaimed = true
            case .refund: refundHeard = true
            case .reversal: reversalHeard = true
            case .expiry: if reservation == .held { reservation = .expired }
            case .redeem:
                guard hasRedeemed || left > 0 else { return false }
                hasRedeemed = true
            case .reserve:
                guard reservation == .none else { return true }
                guard left > 0 else { return false }
                reservation = .held
            case .confirm: return confirm()
            case .release:
                guard reservation != .none, reservation != .confirmed else { return false }
                reservation = .released
            }
            return true
        }

        /// A unit that is held is spent even if the purchase is revoked.
        private mutating func confirm() -> Bool {
            switch reservation {
            case .none, .released: return false
            case .confirmed: return true
            case .held: break
            case .expired: guard left > 0 else { return false }
            }
            reservation = .confirmed
            return true
        }
    }
}
