// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import StrictJSON
import TestSupport
import Testing

@testable import Ledger

/// Kills the ledger before and after everything that it asks of its storage, while it
/// keeps a proof, settles it, reads a history and sends copies on.
@Suite(.unforgiven, .timeLimit(.minutes(LongPlay.minutes))) struct RoadCutTests {
    @Test func `a ledger that dies anywhere on a road books once and loses nothing`()
        async throws
    {
        let calls = try await RoadStory(cut: nil).run()
        #expect(calls > 50)

        for call in LongPlay.cuts(of: calls, oneIn: 11, onPostgres: 4) {
            for side in Knife.Side.allCases {
                let story = try await RoadStory(cut: (call, side))
                _ = try await story.run()
                #expect(story.knife.fired == 1)
            }
        }
    }
}

/// The store is down when a number, a receipt and a notification of version 1 arrive. When it is back, it has the
/// transaction, verifies the receipt, and has in its history the notifications of the
/// transaction and of another one.
private final class RoadStory: Sendable {
    let knife: Knife
    private let storage: any Storage
    private let store = FakeStore()
    private let clock = MovedClock()
    private static let url = "https://merchant.example/hook"
    private static let goods = Result {
        (
            signed: try Book.signed(1), receipt: try Book.receipt([Book.record(3)]),
            old: try StrictJSON.encode([
                "notification_type": "DID_RENEW", "password": "secret",
                "latest_receipt": try Book.receipt([Book.record(4)]),
            ]),
            history: try (1...2).map {
                try Book.notification(try Book.signed($0)).signedPayload
            }
        )
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

    private func walk() async throws {
        let book = try await Book.open(
            asking: store, environments: [.sandbox],
            storage: CutStorage(storage: storage, knife: knife), forwardsTo: [Self.url],
            wall: clock.wall)
        let goods = try Self.goods.get()
        store.isDown()
        _ = try await book.present()
        _ = try await book.ledger.present(
            TakeReceiptRequest(receipt: goods.receipt, account: "blob", mode: "verifyReceipt"))
        _ = try await book.ledger.take(notificationBody: goods.old)
        store.answers { call in
            if call.receiver == .merchant { return StoreAnswer(status: 200) }
            if call.url.hasSuffix("/verifyReceipt") { return try FakeStore.json(["status": 0]) }
            guard call.url.hasSuffix("/history") else {
                return try FakeStore.json(
                    TransactionInfoResponse(signedTransactionInfo: goods.signed))
            }
            return try FakeStore.json(
                NotificationHistoryResponse(
                    notificationHistory: goods.history.map {
                        NotificationHistoryResponseItem(signedPayload: $0, sendAttempts: [])
                    }, paginationToken: nil))
        }
        // Later than any lease of a ledger that died.
        clock.move(seconds: 3600)
        _ = try await book.ledger.settleProofs()
        _ = try await book.ledger.fillGaps(isStart: true)
        clock.move(seconds: 3600)
        _ = try await book.ledger.forward()
    }

    private func audit() async throws {
        let counts = try await storage.read { reading in
            try ["purchases", "proofs_waiting", "forwards", "notifications_in"].map { table in
                let statement = Statement("test.count", "SELECT COUNT(*) AS n FROM \(table)")
                return try reading.first(statement)?.integer("n")
            }
        }
        // The fixture's notifications have one UUID. The other is of version 1.
        #expect(counts == [4, 0, 0, 2])
        let owner = try await storage.read {
            try $0.first(
                Statement("test.owner", "SELECT COUNT(account) AS n FROM purchases"))?
                .integer("n")
        }
        #expect(owner == 2)
    }
}
