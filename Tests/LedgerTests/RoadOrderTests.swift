// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StorageSQLite
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// One purchase of ten coins, proven by every road in every order, as the bytes that a
/// store sends, against a model of a few values.
@Suite(.engineFree, .unforgiven, .timeLimit(.minutes(LongPlay.minutes))) struct RoadOrderTests {
    @Test(
        arguments: [
            [.signed, .notification, .refund, .receipt, .number, .retry],
            [.signed, .refund, .receipt, .vouched, .later, .retry],
            [.signed, .refund, .reversal, .receipt, .vouched, .retry],
        ] as [[Road]])
    func `every order of roads up to length 6 agrees with a model`(
        roads: [Road]
    ) async throws {
        // A run plays a share of the longest; `SHOPKEEPER_CUTS=all` plays all.
        try await check(Road.share(of: 6, by: roads, oneIn: 1201))
    }

    @Test func `so does every short order of all roads`() async throws {
        try await check(Array(Road.sequences(length: 2)))
    }

    private func check(_ all: [[Road]]) async throws {
        let table = try await RoadTable.open()
        var wrong: [String] = []
        for roads in all {
            try await table.clear()
            var model = Model()
            for (index, road) in roads.enumerated() {
                let isDone = try await table.present(road)
                model.hear(road)
                let seen = try await table.seen()
                if isDone != model.isAccepted || seen != model.seen {
                    wrong.append("\(roads) at \(index): \(seen), not \(model.seen)")
                    break
                }
            }
        }
        #expect(all.count > 30)
        #expect(wrong.prefix(5) == [])
    }

    private struct Model {
        /// The date of the newest proof.
        private var newest = -1
        private var isClaimed = false
        /// Whether a signed transaction has told the facts that a receipt lacks.
        private var isExact = false
        private var refundHeard = false
        private var reversalHeard = false
        private var vouchedHeard = false
        private var isSpent = false
        private(set) var seen = RoadTable.Seen()
        private(set) var isAccepted = true

        /// The reversal has the date of the refund, and what the store vouches for a later
        /// one.
        private var isRevoked: Bool { vouchedHeard || refundHeard && !reversalHeard }

        mutating func hear(_ road: Road) {
            isAccepted = true
            switch road {
            case .signed, .number: prove(1, isExact: true, claims: true)
            case .later:
                prove(1, isExact: true, claims: true)
            case .notification:
                prove(1, isExact: true, claims: false)
                seen.kept.insert("ONE_TIME_CHARGE")
            case .refund:
                prove(3, isExact: true, claims: false)
                refundHeard = true
                seen.kept.insert("REFUND")
            case .reversal:
                prove(
                    3, isExact: true, claims: false,
                    outranks: newest == 3 && !reversalHeard)
                reversalHeard = true
                seen.kept.insert("REFUND_REVERSED")
            case .receipt: prove(0, isExact: false, claims: true)
            case .vouched:
                prove(4, isExact: false, claims: true)
                vouchedHeard = true
            case .retry: retry()
            }
            seen.balance = isClaimed && !isRevoked ? (isSpent ? 4 : 10) : 0
            seen.isActive = isClaimed && !isRevoked
        }

        private mutating func retry() {
            guard !isSpent else { return }
            isAccepted = seen.balance >= 6
            guard isAccepted else { return }
            isSpent = true
            seen.messages["credits.spent"] = 1
        }

        private mutating func prove(
            _ date: Int, isExact: Bool, claims: Bool, outranks: Bool = false
        ) {
            let isNews =
                outranks || date > newest || claims && !isClaimed || isExact && !self.isExact
            if newest < 0 {
                seen.messages["purchase.booked"] = 1
            } else if isNews {
                seen.messages["purchase.updated", default: 0] += 1
            }
            newest = max(newest, date)
            isClaimed = isClaimed || claims
            self.isExact = self.isExact || isExact
        }
    }
}

/// A road of proof, and what the app does with it.
enum Road: OrderLetter {
    /// The app sends the signed transaction, for its account.
    case signed
    /// The store sends the same transaction, which names no account.
    case notification
    /// The store sends that it was refunded.
    case refund
    /// The store, whose clock stands, sends that the refund was taken back.
    case reversal
    /// The app sends a receipt that was made last, and does not show the refund.
    case receipt
    /// The store verifies a receipt, and says that it was refunded.
    case vouched
    /// The store is asked about the transaction's number.
    case number
    /// The same, while the store is down at first. The worker settles it.
    case later
    /// The app spends six coins, always under the same key.
    case retry
}

/// A ledger whose rows are deleted after each sequence, and the proofs, each signed once.
private struct RoadTable {
    /// What the books and the messages have.
    struct Seen: Hashable {
        var balance: Int64 = 0
        var isActive = false
        /// The types of the kept notifications.
        var kept: Set<String> = []
        /// The number of messages of each type.
        var messages: [String: Int] = [:]
    }

    private let book: Book
    private let store: FakeStore
    private let clock: MovedClock
    private let plain: String
    private let notification: ResponseBodyV2
    private let refund: ResponseBodyV2
    private let reversal: ResponseBodyV2
    private let receipt: String
    private let late: String

    static func open() async throws -> RoadTable {
        let (store, clock) = (FakeStore(), MovedClock())
        let book = try await Book.open(
            asking: store, environments: [.sandbox],
            storage: try await SQLiteStorage.open(file: nil, migrations: Ledger.migrations),
            grants: GrantRules([
                "coins": [
                    Grant(name: "coins", kind: .credits(perUnit: 10)),
                    Grant(name: "pro", kind: .entitlement(.forever)),
                ]
            ]), wall: clock.wall)
        var configuration = book.ledger.configuration
        configuration.webhooks = [
            try WebhookEndpoint(url: "https://merchant.example", secret: WebhookTests.secret)
        ]
        return try RoadTable(
            Book(
                ledger: try await Ledger.open(
                    storage: book.storage, configuration: configuration,
                    ports: book.ledger.ports), storage: book.storage), store, clock)
    }

    private init(_ book: Book, _ store: FakeStore, _ clock: MovedClock) throws {
        (self.book, self.store, self.clock) = (book, store, clock)
        func signed(_ date: Int64, revoked: Int64? = nil) throws -> String {
            try Book.signed {
                $0.productId = "coins"
                $0.signedDate = Book.now.adding(seconds: date)
                $0.revocationDate = revoked.map { Book.now.adding(seconds: $0) }
            }
        }
        plain = try signed(1)
        notification = try Book.notification(plain)
        refund = try Book.notification(
            try signed(3, revoked: 2), type: "REFUND", id: "7c2f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11")
        reversal = try Book.notification(
            try signed(3), type: "REFUND_REVERSED", id: "8c2f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11")
        let records = [Book.record(product: "coins")]
        receipt = try Book.receipt(records, madeAt: Book.now.adding(seconds: 6))
        late = try Book.receipt(records, madeAt: Book.now.adding(seconds: 4))
    }

    private static let tables =
        [
            "webhooks_out", "notifications_in", "proofs_waiting", "credit_entries", "credit_books",
            "grants", "terms", "refund_reversals", "redemptions", "purchases", "accounts",
        ].map { Statement("test.clear.\($0)", "DELETE FROM \($0)") } + [
            // Nothing deletes these, or counts them from the beginning again.
            Statement("test.clear.originals", "UPDATE originals SET revision = revision + 1")
        ]

    func clear() async throws {
        try await book.storage.write { writing in
            for statement in Self.tables { try writing.execute(statement, []) }
        }
    }

    /// Whether it was accepted.
    func present(_ road: Road) async throws -> Bool {
        answers()
        switch road {
        case .signed:
            _ = try await book.ledger.take(
                TakePurchaseRequest(signedTransaction: plain, account: "blob"))
        case .notification: _ = try await book.ledger.take(notification)
        case .refund: _ = try await book.ledger.take(refund)
        case .reversal: _ = try await book.ledger.take(reversal)
        case .receipt:
            _ = try await book.ledger.take(TakeReceiptRequest(receipt: receipt, account: "blob"))
        case .vouched:
            _ = try await book.ledger.present(
                TakeReceiptRequest(receipt: late, account: "blob", mode: "verifyReceipt"))
        case .number: _ = try await book.present()
        case .later:
            store.isDown()
            _ = try await book.present()
            answers()
            clock.move(seconds: 3600)
            return try await book.ledger.settleProofs() == 1
        case .retry: return try await refusal { try await book.spend("same", 6) } == nil
        }
        return true
    }

    private struct Reply: Encodable {
        struct Entry: Encodable {
            let transaction_id = Book.id(1)
            let cancellation_date_ms = "\(Book.now.adding(seconds: 2).milliseconds)"
        }
        let status = 0
        let environment = "Sandbox"
        let latest_receipt_info = [Entry()]
    }

    private func answers() {
        let signed = plain
        store.answers { call in
            call.url.hasSuffix("/verifyReceipt")
                ? try FakeStore.json(Reply())
                : try FakeStore.json(TransactionInfoResponse(signedTransactionInfo: signed))
        }
    }

    func seen() async throws -> Seen {
        let (kept, messages) = try await book.storage.read { reading in
            (
                try reading.query(
                    Statement("test.kept", "SELECT notification_type FROM notifications_in"), []),
                try reading.query(Statement("test.messages", "SELECT event FROM webhooks_out"), [])
            )
        }
        return Seen(
            balance: try await book.balance() ?? 0,
            isActive: try await book.active() == ["pro"],
            kept: Set(try kept.map { try $0.text("notification_type") }),
            messages: try messages.reduce(into: [:]) { $0[try $1.text("event"), default: 0] += 1 })
    }
}
