// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Ledger

/// Kills the ledger before and after everything that it asks of its storage, while
/// purchases grant and are revoked, credits are spent, units are redeemed in two steps,
/// an account becomes part of another, and messages are sent.
@Suite(.unforgiven, .timeLimit(.minutes(LongPlay.minutes))) struct LifeCutTests {
    @Test func `a ledger that dies anywhere grants, spends and reports each thing once`()
        async throws
    {
        let calls = try await LifeStory(cut: nil).run()
        #expect(calls > 100)

        for call in LongPlay.cuts(of: calls, oneIn: 23, onPostgres: 9) {
            for side in Knife.Side.allCases {
                let story = try await LifeStory(cut: (call, side))
                _ = try await story.run()
                #expect(story.knife.fired == 1)
            }
        }
    }
}

/// Purchase 1 grants ten coins and an entitlement, and is refunded after six coins were
/// spent; then the refund is taken back. The units of purchase 2 are redeemed.
private final class LifeStory: Sendable {
    let knife: Knife
    private let storage: any Storage
    private let store = FakeStore()
    private let clock = MovedClock()
    private let opened = Atomic<Int>(0)
    private let received = Mutex<[String]>([])
    private static let url = "https://merchant.example/hooks"

    private struct Goods: Sendable {
        let plain: String
        let refund: ResponseBodyV2
        let reversal: String
        let receipt: String
    }

    private static let goods = Result {
        func signed(_ date: Int64, revoked: Int64? = nil) throws -> String {
            try Book.signed(1) {
                $0.productId = "coins"
                $0.signedDate = Book.now.adding(seconds: date)
                $0.revocationDate = revoked.map { Book.now.adding(seconds: $0) }
            }
        }
        return Goods(
            plain: try signed(1),
            refund: try Book.notification(try signed(3, revoked: 2), type: "REFUND"),
            reversal: try signed(5),
            receipt: try Book.receipt([Book.record(2, quantity: 2)]))
    }

    init(cut: Knife.Cut?) async throws {
        knife = Knife(cut)
        storage = try await Shelf.storage()
    }

    func run() async throws -> Int {
        let calls = try await knife.walk(deathsMax: 2) { try await walk() }
        try await audit()
        return calls
    }

    private func open(_ storage: any Storage) async throws -> Book {
        store.answers { call in
            self.received.withLock { $0.append(call.headers["webhook-id"] ?? "") }
            return StoreAnswer(status: 200)
        }
        let book = try await Book.open(
            asking: store, environments: [.sandbox], storage: storage,
            grants: GrantRules([
                "coins": [
                    Grant(name: "coins", kind: .credits(perUnit: 10)),
                    Grant(name: "pro", kind: .entitlement(.forever)),
                ]
            ]), wall: clock.wall)
        var configuration = book.ledger.configuration
        configuration.webhooks = [
            try WebhookEndpoint(url: Self.url, secret: WebhookTests.secret, isOrdered: true)
        ]
        // Each process makes messages with ids of its own.
        let number = opened.add(1, ordering: .relaxed).newValue
        var ports = LedgerPorts(wall: clock.wall, randomness: .seeded(UInt64(number))) { _, _ in }
        ports.stores = store.door
        return Book(
            ledger: try await Ledger.open(
                storage: storage, configuration: configuration, ports: ports),
            storage: storage)
    }

    private func walk() async throws {
        let book = try await open(CutStorage(storage: storage, knife: knife))
        let goods = try Self.goods.get()
        _ = try await book.ledger.take(
            TakePurchaseRequest(signedTransaction: goods.plain, account: "blob"))
        #expect(try await book.spend("hat", 6).balance == 4)
        _ = try await book.ledger.take(goods.refund)
        _ = try await book.ledger.take(TakePurchaseRequest(signedTransaction: goods.reversal))
        _ = try await book.ledger.take(
            TakeReceiptRequest(receipt: goods.receipt, account: "blob"))
        _ = try await book.reserve("shipped", id: 2)
        #expect(try await book.confirm("shipped").unit == 1)
        _ = try await book.reserve("lost", id: 2)
        #expect(try await book.release("lost").state == "released")
        #expect(try await book.redeem("direct", id: 2).unit == 2)
        _ = try await book.ledger.merge(MergeAccountRequest(into: "ann"), account: "blob")
        // Later than any lease of a ledger that died.
        clock.move(seconds: 3600)
        _ = try await book.ledger.deliverWebhooks()
    }

    private func audit() async throws {
        let book = try await open(storage)
        #expect(try await book.imbalances() == [])
        #expect(try await book.balance("ann") == 4)
        #expect(try await book.active("ann") == ["pro"])
        let (units, messages) = try await storage.read { reading in
            (
                try reading.query(
                    Statement(
                        "test.units",
                        """
                        SELECT r.idempotency_key, r.unit FROM redemptions r
                        ORDER BY r.idempotency_key
                        """), []),
                try reading.query(
                    Statement(
                        "test.messages",
                        "SELECT w.message_id, w.event, w.sent_at FROM webhooks_out w"), [])
            )
        }
        #expect(
            try units.map { try $0.text("idempotency_key") } == ["direct", "lost", "shipped"])
        #expect(try units.map { try $0.optionalInteger("unit") } == [2, nil, 1])
        let events = try messages.reduce(into: [:]) { $0[try $1.text("event"), default: 0] += 1 }
        #expect(
            events == [
                "purchase.booked": 2, "purchase.updated": 2, "credits.spent": 1,
                "unit.redeemed": 2, "account.merged": 1,
            ])
        // Each arrived, at most one of them twice.
        #expect(try messages.allSatisfy { try $0.optionalInteger("sent_at") != nil })
        let ids = received.withLock { $0 }
        #expect(Set(ids) == Set(try messages.map { try $0.text("message_id") }))
        #expect(ids.count <= messages.count + 1)
    }
}
