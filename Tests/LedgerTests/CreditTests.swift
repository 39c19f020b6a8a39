// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Ledger

@Suite(.timeLimit(.minutes(5))) struct CreditTests {
    private static func coins(
        _ amount: Int64 = 100, _ policy: Grant.Reversal = .remove
    ) throws -> GrantRules {
        try GrantRules([
            "coins": [
                Grant(name: "coins", kind: .credits(perUnit: amount), onReversal: policy)
            ]
        ])
    }

    @Test func `each unit grants its credits once`() async throws {
        let book = try await Book.open(grants: Self.coins())

        for _ in 1...2 { try await book.take(1) { ($0.productId, $0.quantity) = ("coins", 3) } }
        _ = try await book.ledger.take(
            try Book.notification(
                try Book.signed(1) { ($0.productId, $0.quantity) = ("coins", 3) }))

        #expect(
            try await book.ledger.balances(account: "blob").balances == [
                LedgerBalance(
                    currency: "coins", balance: 300, granted: 300, spent: 0, writtenOff: 0)
            ])
    }

    @Test func `a spending is made once for its key`() async throws {
        let book = try await Book.open(grants: Self.coins())
        try await book.prove(1, account: "blob")

        let first = try await book.spend("hat", 30)
        let again = try await book.spend("hat", 30)

        #expect(first == again)
        #expect([first.entry, first.balance] == [2, 70])
        #expect(try await book.balance() == 70)
    }

    @Test func `a spending that cannot be is refused, in order`() async throws {
        let book = try await Book.open(grants: Self.coins())
        try await book.prove(1, account: "blob")
        try await book.spend("hat", 30)
        let refusals = [
            try await refusal { try await book.spend("", 1) },
            try await refusal { try await book.spend("a", 1, currency: "") },
            try await refusal { try await book.spend("a", 1, purpose: "") },
            try await refusal { try await book.spend("a", 0) },
            try await refusal { try await book.spend("a", .max) },
            try await refusal { try await book.spend("hat", 31) },
            try await refusal { try await book.spend("hat", 30, currency: "gems") },
            try await refusal { try await book.spend("hat", 30, purpose: "shoes") },
            try await refusal { try await book.spend("a", 71) },
            try await refusal { try await book.spend("a", 1, currency: "gems") },
            try await refusal { try await book.spend("a", 1, account: "stranger") },
        ]

        #expect(
            refusals == [
                ["textInvalid", "idempotencyKey"], ["textInvalid", "currency"],
                ["textInvalid", "purpose"], ["amountInvalid", "amount"],
                ["amountInvalid", "amount"], ["spendingContradicts", "amount"],
                ["spendingContradicts", "currency"], ["spendingContradicts", "purpose"],
                ["creditsMissing", "amount"], ["creditsMissing", "amount"],
                ["creditsMissing", "amount"],
            ])
        #expect(try await book.balance() == 70)
    }

    @Test func `the oldest purchase is spent first, whenever it was booked`() async throws {
        let book = try await Book.open(grants: Self.coins())
        // The number is also the order of the purchase dates.
        for id in [3, 1, 2] { try await book.prove(id, account: "blob") }

        try await book.spend("a", 150)

        let lots = try await book.storage.read {
            try $0.query(
                Statement(
                    "test.lots",
                    "SELECT g.consumed FROM grants g ORDER BY g.transaction_id"), [])
        }
        #expect(try lots.map { try $0.integer("consumed") } == [100, 50, 0])
    }

    /// `consumed` is what was spent of a refunded purchase of 100.
    @Test(
        arguments: [
            (Grant.Reversal.remove, Int64(0), Int64(100), Int64(0)), (.remove, 40, 100, -40),
            (.debt, 0, 100, 0), (.debt, 40, 60, 0),
            (.keep, 0, 200, -100), (.keep, 40, 160, -100),
        ])
    func `a refund undoes what its purchase granted, by its policy`(
        policy: Grant.Reversal, consumed: Int64, left: Int64, writtenOff: Int64
    ) async throws {
        let book = try await Book.open(grants: Self.coins(100, policy))
        try await book.prove(1, account: "blob")
        if consumed > 0 { try await book.spend("a", consumed) }
        // Bought later, and not touched by the refund of another purchase.
        try await book.prove(2, account: "blob")

        for _ in 1...2 { try await book.prove(1, account: nil, signed: 3, revoked: 2) }

        let refunded = try await book.ledger.balances(account: "blob").balances
        try await book.prove(1, account: nil, signed: 5)
        let restored = try await book.ledger.balances(account: "blob").balances
        #expect(
            refunded == [
                LedgerBalance(
                    currency: "coins", balance: left, granted: 100, spent: consumed,
                    writtenOff: -writtenOff)
            ])
        #expect(
            restored == [
                LedgerBalance(
                    currency: "coins", balance: 200 - consumed, granted: 200, spent: consumed,
                    writtenOff: 0)
            ])
        #expect(try await book.imbalances() == [])
    }

    /// A limit: the share that the customer keeps is not read.
    @Test func `a refund of a part of the price takes everything back`() async throws {
        let book = try await Book.open(grants: Self.coins())
        try await book.prove(1, account: "blob")

        try await book.prove(1, account: nil, signed: 3, revoked: 2) {
            $0.revocationType = "REFUND_PRORATED"
            $0.revocationPercentage = 40_000
        }

        #expect(try await book.balance() == 0)
        #expect(try await book.imbalances() == [])
    }

    @Test func `a debt is paid from what is bought later, before anything is spent`()
        async throws
    {
        let book = try await Book.open(grants: Self.coins(100, .debt))
        try await book.prove(1, account: "blob")
        try await book.spend("a", 80)

        try await book.prove(1, account: nil, signed: 3, revoked: 2)
        let owed = try await book.balance()
        let refused = try await refusal { try await book.spend("b", 1) }
        try await book.prove(2, account: "blob")
        let paid = try await book.balance()
        let tooMuch = try await refusal { try await book.spend("b", 21) }
        try await book.spend("b", 20)

        #expect([owed, paid] == [-80, 20])
        #expect(
            [refused, tooMuch] == [["creditsMissing", "amount"], ["creditsMissing", "amount"]])
        #expect(try await book.balance() == 0)
        #expect(try await book.imbalances() == [])
    }

    @Test func `many requests at once spend what there is and no more`() async throws {
        let (one, other) = try await Shelf.pair()
        let books = [
            try await Book.open(storage: one, grants: Self.coins(10)),
            try await Book.open(storage: other, grants: Self.coins(10)),
        ]
        try await books[0].prove(1, account: "blob")

        let done = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<24 {
                // Each key is sent twice, to different servers.
                let (book, key) = (books[number % 2], "\(number / 2)")
                group.addTask {
                    try await refusal { try await book.spend(key, 3) } == nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }

        #expect(done == 6)
        #expect(try await books[1].balance() == 1)
        #expect(try await books[0].imbalances() == [])
    }

    @Test func `a product that is configured later grants then, and once`() async throws {
        let storage = try await Shelf.storage()
        let before = try await Book.open(storage: storage)
        for id in 1...3 { try await before.prove(id, account: id == 3 ? nil : "blob") }
        try await before.prove(4, account: "blob", signed: 3, revoked: 2)
        try await before.prove(5, product: "other", account: "blob")
        _ = try await before.ledger.redeem(
            RedeemRequest(idempotencyKey: "k", productId: "other", purpose: "p"), account: "blob")
        let shown = try await before.ledger.products().products

        let after = try await Book.open(
            storage: storage,
            grants: try GrantRules([
                "coins": [Grant(name: "coins", kind: .credits(perUnit: 100))],
                "other": [Grant(name: "pro", kind: .entitlement(.forever))],
            ]))
        let applied = [
            try await after.ledger.applyGrants(), try await after.ledger.applyGrants(),
        ]

        #expect(shown.map(\.productId) == ["coins", "other"])
        #expect(shown.map(\.purchases) == [4, 1])
        #expect(shown.map(\.claimed) == [3, 1])
        #expect(shown.map(\.isConfigured) == [false, false])
        #expect(applied[0] == GrantsApplied(granted: 3, left: 0))
        #expect(applied[1] == GrantsApplied(granted: 0, left: 0))
        // The revoked one was granted and reversed; the one without an account waits.
        #expect(try await after.balance() == 200)
        #expect(try await after.active() == [])
        try await after.prove(3, account: "other")
        #expect(try await after.balance("other") == 100)
        #expect(try await after.ledger.products().products.map(\.granted) == [4, 0])
        #expect(try await after.imbalances() == [])
    }

    @Test func `what has granted is not redeemed, and what is redeemed does not grant`()
        async throws
    {
        let storage = try await Shelf.storage()
        let before = try await Book.open(storage: storage)
        try await before.take(1) { ($0.productId, $0.quantity) = ("coins", 2) }
        try await before.take(2) { ($0.productId, $0.quantity) = ("coins", 2) }
        let reserve = ReserveRequest(
            idempotencyKey: "held", transactionId: "\(2_000_000_000_000_002)", purpose: "p")
        _ = try await before.ledger.reserve(reserve, account: "blob")
        let after = try await Book.open(storage: storage, grants: Self.coins())

        let applied = try await after.ledger.applyGrants()

        #expect(applied == GrantsApplied(granted: 1, left: 1))
        #expect(try await after.balance() == 200)
        #expect(try await after.unspent() == ["\(2_000_000_000_000_002)": 1])
        let granted = try await refusal { try await after.redeem("k", id: 1) }
        #expect(granted == ["purchaseGranted", "transactionId"])
    }

    /// On a server another process may move it when its owner is known and not yet locked.
    @Test func `a purchase that moves before its line is locked grants to its new account`()
        async throws
    {
        let storage = try await Shelf.storage()
        let before = try await Book.open(storage: storage)
        try await before.prove(1, account: "blob")
        try await before.prove(2, product: "other", account: "ann")
        let moving = MovingStorage(storage: storage)
        let after = try await Book.open(storage: moving, grants: Self.coins())
        let applied = try await after.ledger.applyGrants()

        #expect(applied == GrantsApplied(granted: 1, left: 0))
        // Every write is run twice.
        #expect(Set(moving.locked.names) == ["blob", "ann"])
        #expect(moving.locked.names.last == "ann")
        #expect(try await after.balance("ann") == 100)
        #expect(try await after.balance("blob") == nil)
        #expect(try await after.imbalances() == [])
    }

    @Test func `a grant keeps the terms under which it was made`() async throws {
        let storage = try await Shelf.storage()
        let before = try await Book.open(storage: storage, grants: Self.coins(100, .keep))
        try await before.prove(1, account: "blob")

        let after = try await Book.open(storage: storage, grants: Self.coins(5, .remove))
        try await after.ledger.applyGrants()
        try await after.prove(2, account: "blob")
        try await after.prove(1, account: nil, signed: 3, revoked: 2)

        #expect(try await after.balance() == 105)
        #expect(try await after.imbalances() == [])
    }

    /// The currency is renamed, and an entitlement added, after everything was spent.
    @Test(arguments: [RestorePolicy.refuse, .transfer])
    func `a change of what a product grants adds nothing to earlier purchases`(
        policy: RestorePolicy
    ) async throws {
        let storage = try await Shelf.storage()
        let before = try await Book.open(storage: storage, grants: Self.coins())
        func coins(_ payload: inout JWSTransactionDecodedPayload) { payload.productId = "coins" }
        try await before.take(1, coins)
        try await before.spend("hat", 100)
        var owner = "blob"
        if policy == .transfer {
            let wish = RestoreRequest(signedTransaction: try Book.signed(1, coins))
            _ = try await before.reopened(policy).ledger.restore(wish, account: "ann")
            owner = "ann"
        }
        let after = try await Book.open(
            storage: storage,
            grants: try GrantRules([
                "coins": [
                    Grant(name: "gems", kind: .credits(perUnit: 100)),
                    Grant(name: "pro", kind: .entitlement(.forever)),
                ]
            ]))

        let applied = try await after.ledger.applyGrants()
        // News change the old purchase.
        for (signed, revoked) in [(3, 2), (5, nil)] as [(Int64, Int64?)] {
            try await after.take(1, account: nil) {
                coins(&$0)
                $0.signedDate = Book.now.adding(seconds: signed)
                $0.revocationDate = revoked.map { Book.now.adding(seconds: $0) }
            }
        }
        try await after.take(2, account: "new", coins)

        #expect(applied == GrantsApplied(granted: 0, left: 0))
        #expect(try await after.balance(owner, "gems") == nil)
        #expect(try await after.balance(owner) ?? 0 == 0)
        #expect(try await after.active(owner) == [])
        #expect(try await after.balance("new", "gems") == 100)
        #expect(try await after.ledger.entitlements(account: "new").entitlements.count == 1)
        #expect(try await after.imbalances() == [])
    }

    /// One that could not grant is counted once, however much its product grants.
    @Test func `a product with several grants that is configured later grants all of them`()
        async throws
    {
        let storage = try await Shelf.storage()
        let before = try await Book.open(storage: storage)
        for id in 1...2 {
            try await before.take(id) { ($0.productId, $0.quantity) = ("coins", 2) }
        }
        try await before.reserve("held", id: 2)
        let after = try await Book.open(
            storage: storage,
            grants: try GrantRules([
                "coins": [
                    Grant(name: "coins", kind: .credits(perUnit: 100)),
                    Grant(name: "gems", kind: .credits(perUnit: 1)),
                    Grant(name: "pro", kind: .entitlement(.forever)),
                ]
            ]))

        let applied = try await after.ledger.applyGrants()

        #expect(applied == GrantsApplied(granted: 3, left: 1))
        #expect(try await after.balance() == 200)
        #expect(try await after.balance("blob", "gems") == 2)
        #expect(try await after.ledger.applyGrants() == GrantsApplied(granted: 0, left: 1))
    }

    /// The credits and the effect of the merchant are one commit.
    @Test func `a spending in the merchant's own transaction is undone with it`() async throws {
        struct Failed: Error {}
        let book = try await Book.open(grants: Self.coins())
        try await book.prove(1, account: "blob")
        let paid = try book.ledger.prepare(
            SpendRequest(idempotencyKey: "k", currency: "coins", amount: 60, purpose: "p"),
            account: "blob")

        await #expect(throws: Failed.self) {
            try await book.storage.write { writing in
                _ = try paid.spend(in: writing)
                throw Failed()
            }
        }
        let undone = try await book.balance()
        let spent = try await book.storage.write { try paid.spend(in: $0) }
        let again = try await book.storage.write { try paid.spend(in: $0) }

        #expect(undone == 100)
        #expect(spent.spending == again.spending)
        #expect(!again.isNew)
        #expect(try await book.balance() == 40)
    }
}

/// Kills the ledger before and after everything that it asks of its storage.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct GrantCutTests {
    @Test func `a ledger that dies anywhere grants, spends and reverses once`() async throws {
        let calls = try await run(cut: nil).calls
        #expect(calls > 15)

        for call in SeededShare.of(0..<calls, oneIn: Shelf.isOnPostgres ? 9 : 3) {
            for side in Knife.Side.allCases {
                let (_, book) = try await run(cut: (call, side))
                #expect(try await book.imbalances() == [], "\(call) \(side)")
                let told = try await book.ledger.balances(account: "blob").balances
                #expect(told.map(\.balance) == [-30], "\(call) \(side)")
                #expect(told.map(\.granted) == [0], "\(call) \(side)")
            }
        }
    }

    private func run(cut: Knife.Cut?) async throws -> (calls: Int, book: Book) {
        let knife = Knife(cut)
        let storage = try await Shelf.storage()
        let rules = try GrantRules([
            "coins": [
                Grant(name: "coins", kind: .credits(perUnit: 100), onReversal: .debt),
                Grant(name: "pro", kind: .entitlement(.forever)),
            ]
        ])
        let calls = try await knife.walk(deathsMax: 2) {
            let book = try await Book.open(
                storage: CutStorage(storage: storage, knife: knife), grants: rules)
            try await book.prove(1, account: nil)
            try await book.prove(1, account: "blob")
            // Once the refund is booked, a repeated walk spends only what it has spent.
            let spent = try await refusal { try await book.spend("a", 30) }
            #expect(spent == nil)
            try await book.prove(1, account: nil, signed: 3, revoked: 2)
            #expect(try await book.active() == [])
        }
        return (calls, try await Book.open(storage: storage, grants: rules))
    }
}

/// A storage whose purchases of `blob` become `ann`'s as soon as the line of `blob` is locked.
private struct MovingStorage: Storage {
    let storage: any Storage
    let locked = Locked()

    /// A class, because the storage and the test share it.
    final class Locked: Sendable {
        private let accounts = Mutex<[String]>([])
        var names: [String] { accounts.withLock { $0 } }
        func note(_ account: String) { accounts.withLock { $0.append(account) } }
    }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await storage.read(body)
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let locked = locked
        return try await storage.write { try body(MovingWriting(writing: $0, locked: locked)) }
    }

    func close() async throws {}

    private struct MovingWriting: Writing {
        let writing: any Writing
        let locked: Locked

        func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
            let rows = try writing.query(statement, values)
            if statement == Statement.Accounts.takeKnownLine,
                case .text(let account)? = values.first
            {
                locked.note(account)
                try writing.execute(
                    Statement(
                        "test.move", "UPDATE purchases SET account = 'ann' WHERE account = 'blob'"),
                    [])
            }
            return rows
        }

        func execute(_ statement: Statement, _ values: [SQLValue]) throws {
            try writing.execute(statement, values)
        }

        func databaseTime() throws -> Int64 { try writing.databaseTime() }
    }
}
