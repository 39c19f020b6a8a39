// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StorageSQLite
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// What a purchase grants after every order of news about it, against a model of a
/// few values, for each policy.
@Suite(.unforgiven, .timeLimit(.minutes(LongPlay.minutes))) struct GrantOrderTests {
    static func rules() throws -> GrantRules {
        try GrantRules(
            Dictionary(
                uniqueKeysWithValues: Grant.Reversal.allCases.map { policy in
                    let entitlement = Grant(
                        name: "pro", kind: .entitlement(.period(Period(30, .day))),
                        onReversal: policy == .keep ? .keep : .remove)
                    let coins = Grant(
                        name: "coins", kind: .credits(perUnit: 10), onReversal: policy)
                    return (ProductID(policy.rawValue), [entitlement, coins])
                }))
    }

    @Test func `every order of news up to length 6 agrees with a model`() async throws {
        // A run plays a share of the longest; `SHOPKEEPER_CUTS=all` plays all.
        let (short, shareOf) = Shelf.isOnPostgres ? (2, 2003) : (3, 601)
        let book = try await Book.open(grants: Self.rules())
        let sequences =
            Array(News.sequences(length: short)) + News.share(of: 6, oneIn: shareOf)
        var wrong: [String] = []
        var number = 0
        for policy in Grant.Reversal.allCases {
            for sequence in sequences {
                number += 1
                wrong += try await play(sequence, policy, book, number)
            }
        }
        #expect(sequences.count > 36)
        #expect(wrong.prefix(5) == [])
        #expect(try await book.imbalances() == [])
    }

    private func play(
        _ sequence: [News], _ policy: Grant.Reversal, _ book: Book, _ number: Int
    ) async throws -> [String] {
        var model = Model(policy: policy)
        let account = "\(number)"
        for (step, news) in sequence.enumerated() {
            let isDone = try await news.arrive(at: book, number, step, policy)
            let isExpected = model.hear(news)
            let balance = try await book.balance(account) ?? 0
            let isActive = try await book.active(account) == ["pro"]
            if isDone != isExpected || balance != model.balance || isActive != model.isActive {
                return ["\(policy): \(sequence) at \(step): \(balance), not \(model.balance)"]
            }
        }
        return []
    }

    /// What can arrive about a purchase of ten coins and thirty days.
    enum News: OrderLetter {
        /// The app sends the signed transaction, for its account.
        case call
        /// The store sends the same transaction, which names no account.
        case notification
        /// The store sends that it was refunded, signed later.
        case refund
        /// The store sends that the refund was taken back, signed last.
        case reversal
        /// The same, signed at the date of the refund by a store whose clock stands.
        case sameDateReversal
        /// The app spends six coins, under a key of its own each time.
        case spend
        /// The app spends six coins, always under the same key.
        case retry

        /// Whether it was accepted.
        func arrive(
            at book: Book, _ number: Int, _ step: Int, _ policy: Grant.Reversal
        ) async throws -> Bool {
            let account = "\(number)"
            func prove(
                _ signed: Int64, revoked: Int64? = nil, _ account: String? = nil,
                type: String = "ONE_TIME_CHARGE"
            ) async throws {
                try await book.prove(
                    number, product: policy.rawValue, account: account, signed: signed,
                    revoked: revoked, type: type
                ) { $0.purchaseDate = Book.now }
            }
            switch self {
            case .call: try await prove(1, account)
            case .notification: try await prove(1)
            case .refund: try await prove(3, revoked: 2)
            case .reversal: try await prove(5)
            case .sameDateReversal: try await prove(3, type: "REFUND_REVERSED")
            case .spend, .retry:
                let key = self == .retry ? "same" : "\(step)"
                return try await refusal {
                    try await book.spend(key, 6, account: account)
                } == nil
            }
            return true
        }
    }

    private struct Model {
        let policy: Grant.Reversal
        var isClaimed = false
        var refundHeard = false
        /// Both are signed no earlier than the refund.
        var reversalHeard = false
        var spent: Int64 = 0
        var hasRetried = false

        var isRevoked: Bool { refundHeard && !reversalHeard }
        var isActive: Bool { isClaimed && (!isRevoked || policy == .keep) }
        var balance: Int64 {
            guard isClaimed else { return 0 }
            guard isRevoked else { return 10 - spent }
            return switch policy {
            case .remove: 0
            case .keep: 10 - spent
            case .debt: -spent
            }
        }

        mutating func hear(_ news: News) -> Bool {
            switch news {
            case .call: isClaimed = true
            case .notification: break
            case .refund: refundHeard = true
            case .reversal, .sameDateReversal: reversalHeard = true
            case .spend, .retry:
                if news == .retry, hasRetried { return true }
                guard balance >= 6 else { return false }
                spent += 6
                if news == .retry { hasRetried = true }
            }
            return true
        }
    }

    /// Many purchases of one account, with every policy and quantities. What is left
    /// depends on the facts and on what was spent, and not on the order of the news.
    @Test func `a book of many purchases always balances`() async throws {
        let book = try await Book.open(grants: Self.rules())
        var generator = SeededGenerator(Seeds.fresh)
        for round in 0..<(Shelf.isOnPostgres ? 3 : 12) {
            try await playMany(book, account: "many \(round)", 10_000 * (round + 1), &generator)
        }
        #expect(try await book.imbalances() == [])
    }

    private func playMany(
        _ book: Book, account: String, _ first: Int, _ generator: inout SeededGenerator
    ) async throws {
        struct Bought {
            let policy: Grant.Reversal
            let quantity: Int
            let fate: Int
        }
        let bought = (0..<6).map { _ in
            Bought(
                policy: Grant.Reversal.allCases.randomElement(using: &generator) ?? .keep,
                quantity: .random(in: 1...3, using: &generator),
                fate: .random(in: 0...2, using: &generator))
        }
        // Booked, refunded, refund taken back: each heard in any order, some twice.
        var news = bought.indices.flatMap { index in
            (0...bought[index].fate).map { (index, $0) }
        }
        news += news.prefix(4)
        news.shuffle(using: &generator)
        var spent: Int64 = 0
        for (step, (index, stage)) in news.enumerated() {
            let purchase = bought[index]
            try await book.prove(
                first + index, product: purchase.policy.rawValue, account: account,
                signed: [1, 3, 5][stage], revoked: stage == 1 ? 2 : nil
            ) { $0.quantity = purchase.quantity }
            let amount = Int64.random(in: 1...12, using: &generator)
            let before = try await book.balance(account) ?? 0
            let refused = try await refusal {
                try await book.spend("\(step)", amount, account: account)
            }
            #expect((refused == nil) == (before >= amount), "\(account) at \(step)")
            if refused == nil { spent += amount }
        }
        let told = try await book.ledger.balances(account: account).balances
        let granted = bought.filter { $0.fate != 1 }.reduce(0) { $0 + 10 * $1.quantity }
        #expect(told.map(\.granted) == [Int64(granted)], "\(account)")
        #expect(told.map(\.spent) == [spent], "\(account)")
    }
}
