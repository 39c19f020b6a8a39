// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StorageSQLite
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// What the ledger answers after every order of news about one purchase, against a
/// model of a few values.
@Suite(.engineFree, .unforgiven, .timeLimit(.minutes(LongPlay.minutes))) struct OrderTests {
    /// All of them, in every run.
    @Test func `every order of call, notification, refund and retry agrees with a model`()
        async throws
    {
        try await check(
            Array(News.sequences(of: [.call, .notification, .refund, .retry], length: 6)))
    }

    @Test func `so does every order with receipts and a reversal`() async throws {
        // A run plays a share of the longest; `SHOPKEEPER_CUTS=all` plays all.
        try await check(Array(News.sequences(length: 3)) + News.share(of: 6, oneIn: 961))
    }

    /// Each sequence is checked after each step, so all shorter ones are checked too.
    private func check(_ sequences: [[News]]) async throws {
        let storage = try await SQLiteStorage.open(file: nil, migrations: Ledger.migrations)
        let book = try await Book.open(storage: storage)
        var wrong: [String] = []
        for (number, sequence) in sequences.enumerated() {
            var model = Model()
            for news in sequence {
                let isDone = try await news.arrive(at: book, number)
                let left = try await book.unspent("\(number)")[News.id(number)] ?? 0
                if isDone != model.hear(news) || left != model.left {
                    wrong.append("\(sequence) at \(news)")
                }
            }
        }
        #expect(sequences.count > 500)
        #expect(wrong.prefix(5) == [])
    }

    /// What can arrive about a purchase of one unit.
    private enum News: OrderLetter {
        /// The app sends the signed transaction, for its account.
        case call
        /// The store sends the same transaction, which names no account.
        case notification
        /// The store sends that it was refunded, signed later.
        case refund
        /// The app asks to redeem, always under the same key.
        case retry
        /// The store sends that the refund was taken back, signed last.
        case reversal
        /// The store, whose clock stands, sends that the refund was taken back, signed at
        /// the date of the refund.
        case sameDateReversal
        /// The app sends a receipt that was made last, and does not show the refund.
        case receipt
        /// The app sends a receipt that shows the refund.
        case laterReceipt

        static func id(_ number: Int) -> String { "\(2_000_000_000_000_000 + number)" }

        /// Whether it was accepted.
        func arrive(at book: Book, _ number: Int) async throws -> Bool {
            let account = "\(number)"
            switch self {
            case .call: try await take(book, number, signed: 1, account)
            case .notification: try await take(book, number, signed: 1, nil)
            case .refund: try await take(book, number, signed: 3, revoked: 2, nil)
            case .reversal: try await take(book, number, signed: 5, nil)
            case .sameDateReversal:
                try await take(book, number, signed: 3, nil, type: "REFUND_REVERSED")
            case .receipt: try await take(book, number, receipt: 6, account)
            case .laterReceipt: try await take(book, number, receipt: 4, revoked: 2, account)
            case .retry:
                return try await refusal {
                    try await book.redeem("a", id: number, account: account)
                } == nil
            }
            return true
        }

        private func take(
            _ book: Book, _ number: Int, signed: Int64, revoked: Int64? = nil,
            _ account: String?, type: String = "ONE_TIME_CHARGE"
        ) async throws {
            let payload = Book.payload(number) {
                $0.signedDate = Book.now.adding(seconds: 100_000 + signed)
                $0.revocationDate = revoked.map { Book.now.adding(seconds: 100_000 + $0) }
            }
            _ = try await book.ledger.book(
                try ProvenPurchase(
                    payload, root: String(repeating: "0", count: 64), environment: .sandbox,
                    bundleID: Book.bundleID.value
                ).reported(by: type), account: account)
        }

        private func take(
            _ book: Book, _ number: Int, receipt: Int64, revoked: Int64? = nil,
            _ account: String
        ) async throws {
            let root = String(repeating: "0", count: 64)
            let record = Book.record(number) {
                $0.cancellationDate = revoked.map { Book.now.adding(seconds: 100_000 + $0) }
            }
            _ = try await book.ledger.book(
                try ProvenPurchase(
                    record, root: root, environment: .sandbox, bundleID: Book.bundleID.value,
                    createdAt: Book.now.adding(seconds: 100_000 + receipt)), account: account)
        }
    }

    /// What should come of it: which dates were heard of, and three flags.
    private struct Model {
        var isClaimed = false
        var isRedeemed = false
        var refundHeard = false
        var laterReceiptHeard = false
        var reversalHeard = false
        var sameDateReversalHeard = false

        /// The reversal is dated after both refund and receipt, and the other one before
        /// the receipt.
        var isRevoked: Bool {
            !reversalHeard && (refundHeard && !sameDateReversalHeard || laterReceiptHeard)
        }
        var left: Int { isClaimed && !isRevoked && !isRedeemed ? 1 : 0 }

        mutating func hear(_ news: News) -> Bool {
            switch news {
            case .call, .receipt: isClaimed = true
            case .notification: break
            case .refund: refundHeard = true
            case .reversal: reversalHeard = true
            case .sameDateReversal: sameDateReversalHeard = true
            case .laterReceipt: (isClaimed, laterReceiptHeard) = (true, true)
            case .retry:
                guard isRedeemed || left == 1 else { return false }
                isRedeemed = true
            }
            return true
        }
    }
}
