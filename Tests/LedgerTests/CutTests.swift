// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// Kills the ledger before and after everything that it asks of its storage,
/// and asks a new one for the same.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct CutTests {
    @Test func `a ledger that dies anywhere books once and spends each unit once`() async throws {
        let calls = try await Story(cut: nil).run()
        #expect(calls > 20)

        var fired = 0
        let cuts = SeededShare.of(0..<calls, oneIn: Shelf.isOnPostgres ? 9 : 3)
        for call in cuts {
            for side in Knife.Side.allCases {
                let story = try await Story(cut: (call, side))
                _ = try await story.run()
                fired += story.knife.fired
            }
        }

        #expect(fired == 2 * cuts.count)
    }
}

/// What becomes of one purchase of two units: told by a notification, handed
/// in, claimed, spent twice, refused a third time, revoked. Walked until it
/// is done, however often the ledger dies on the way.
private final class Story: Sendable {
    let knife: Knife
    private let storage: any Storage
    private static let plain = Result { try Book.signed { $0.quantity = 2 } }
    private static let revoked = Result {
        try Book.signed {
            $0.quantity = 2
            $0.signedDate = Book.now.adding(seconds: 2)
            $0.revocationDate = Book.now.adding(seconds: 1)
        }
    }

    init(cut: Knife.Cut?) async throws {
        knife = Knife(cut)
        storage = try await Shelf.storage()
    }

    /// Answers how often the storage was asked.
    func run() async throws -> Int {
        let calls = try await knife.walk(deathsMax: 2) { try await walk() }
        try await audit()
        return calls
    }

    private func walk() async throws {
        let book = try await Book.open(storage: CutStorage(storage: storage, knife: knife))
        let plain = try Self.plain.get()
        _ = try await book.ledger.take(try Book.notification(plain))
        let claimed = try await book.ledger.take(
            TakePurchaseRequest(signedTransaction: plain, account: "blob"))
        #expect(claimed.account == "blob")
        let units = [try await book.redeem("a").unit, try await book.redeem("b").unit]
        #expect(units == [1, 2])
        let third = try await refusal { try await book.redeem("c") }?.first
        #expect(["purchaseSpent", "purchaseRevoked"].contains(third))
        let revoked = try await book.ledger.take(
            TakePurchaseRequest(signedTransaction: try Self.revoked.get()))
        #expect(revoked.revocationDate == Book.now.adding(seconds: 1))
    }

    /// Read as rows: one purchase, revoked, and one redemption for each unit.
    private func audit() async throws {
        let purchases = try await storage.read {
            try $0.query(
                Statement(
                    "test.purchases", "SELECT p.account, p.spent, p.revoked_at FROM purchases p"),
                [])
        }
        let redemptions = try await storage.read {
            try $0.query(
                Statement(
                    "test.redemptions",
                    "SELECT r.idempotency_key, r.unit FROM redemptions r ORDER BY r.unit"), [])
        }
        #expect(try purchases.map { try $0.text("account") } == ["blob"])
        #expect(try purchases.map { try $0.integer("spent") } == [2])
        #expect(try purchases.allSatisfy { try $0.optionalInteger("revoked_at") != nil })
        #expect(try redemptions.map { try $0.text("idempotency_key") } == ["a", "b"])
        #expect(try redemptions.map { try $0.integer("unit") } == [1, 2])
    }
}
