// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StorageSQLite
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// What a process remembers of accounts' entitlements is what the books say.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct HoldingTests {
    /// Count changes of originals.
    static let counting: Set = ["originals.touch"]
    /// Change what an account may use.
    static let changing: Set = [
        "purchases.insert", "purchases.setFate", "purchases.setFacts", "terms.put", "renewals.put",
        "grants.insert", "moves.grants", "moves.allGrants", "erase.grants", "shares.insert",
        "shares.move", "shares.remove", "shares.removeAll", "shares.removeOwn",
    ]
    /// Those among them that change no row of an account without grants and shares.
    static let ofWholeAccounts: Set = [
        "moves.allGrants", "erase.grants", "shares.move", "shares.removeAll", "shares.removeOwn",
    ]
    /// Write the same tables, but nothing by which an entitlement is judged.
    private static let harmless: Set = [
        // The account of a purchase alone. What it has granted moves by other statements.
        "purchases.claim", "moves.purchase", "moves.allPurchases", "erase.purchases",
        "purchases.lockUnclaimed", "purchases.spendOfProduct", "purchases.spendNamed",
        "purchases.spend", "purchases.hold", "purchases.spendHeld", "purchases.giveBack",
        // Of credits alone.
        "grants.turn", "credits.consume",
    ]

    static func rules() throws -> GrantRules {
        let gold = Grant(name: "gold", kind: .entitlement(.subscription(grace: true)))
        return try GrantRules([
            "gold": [gold, Grant(name: "coins", kind: .credits(perUnit: 10))],
            "silver": [Grant(name: "gold", kind: .entitlement(.subscription(grace: false)))],
            "pro": [Grant(name: "pro", kind: .entitlement(.forever))],
            "month": [
                Grant(
                    name: "month", kind: .entitlement(.period(try #require(Period(iso8601: "P1M"))))
                )
            ],
        ])
    }

    /// A new statement fails here until it is in one of the lists.
    @Test func `each statement that writes what entitlements are read from is known`() throws {
        let tables = /(INSERT INTO|UPDATE|DELETE FROM) (purchases|grants|terms|renewals|shares)\b/
        let writing = Statement.LedgerBook.all.filter { $0.sql.contains(tables) }.map(\.name)
        #expect(Set(writing) == Self.changing.union(Self.harmless))
    }

    /// One process reads, and another one on the same database writes.
    @Test(arguments: 1...4)
    func `whoever changes the books, what is remembered follows`(seed: UInt64) async throws {
        let folder = try temporaryFolder()
        // With a file, look-ups are as in a server.
        let (one, other): (any Storage, any Storage)
        if Shelf.isOnPostgres {
            (one, other) = try await Shelf.pair()
        } else {
            one = try await SQLiteStorage.open(
                file: folder.file("ledger.sqlite"), migrations: Ledger.migrations,
                options: SQLiteOptions(runsWritesTwice: true))
            other = one
        }
        let watched = WatchedStorage(other)
        let clock = MovedClock()
        let reader = try await Book.open(
            storage: one, wall: clock.wall, grants: Self.rules())
        var life = Life(
            clock: clock, dice: SeededGenerator(seed),
            writer: try await Book.open(
                storage: watched, wall: clock.wall, grants: Self.rules()))
        var answers: Set<AccountEntitlements> = []
        for _ in 0..<80 {
            let step = try await life.step()
            for account in Life.accounts {
                let told = try await reader.ledger.entitlements(account: account)
                let read = try await reader.ledger.read(of: account, in: .sandbox)
                let cold = read.known.answer(at: clock.wall.now).entitlements
                #expect(read.isMarked)
                #expect(told == cold, "\(account) after \(life.log.joined(separator: ", "))")
                guard told == cold else { return }
                answers.insert(told)
            }
            #expect(watched.uncounted == [], "after \(step)")
        }
        // The life has something to see.
        #expect(answers.count > 20)
    }

    /// Nothing is read twice that has not changed.
    @Test func `what has not changed is read once`() async throws {
        let book = try await Book.open(grants: Self.rules())
        try await book.prove(1, product: "pro", account: "blob")
        let first = try await book.ledger.entitlementsAnswer(account: "blob")
        let second = try await book.ledger.entitlementsAnswer(account: "blob")
        // Another account's purchases are no news.
        try await book.prove(2, product: "pro", account: "ann")
        let third = try await book.ledger.entitlementsAnswer(account: "blob")
        try await book.prove(3, product: "month", account: "blob")
        let fourth = try await book.ledger.entitlementsAnswer(account: "blob")

        #expect(first === second)
        #expect(first === third)
        #expect(first !== fourth)
        #expect(fourth.entitlements.entitlements.map(\.name) == ["month", "pro"])
    }

    @Test func `an answer ends with the time in which nothing begins or ends`() async throws {
        let clock = MovedClock()
        let book = try await Book.open(wall: clock.wall, grants: Self.rules())
        try await book.prove(1, product: "gold", account: "blob") {
            $0.type = "Auto-Renewable Subscription"
            $0.purchaseDate = Book.now.adding(seconds: 10)
            $0.expiresDate = Book.now.adding(seconds: 30)
        }
        var active: [Bool] = []
        var answers: [EntitlementsAnswer] = []
        for seconds in [0, 9, 1, 19, 1, -1, -20, 0] as [Int64] {
            clock.move(seconds: seconds)
            let answer = try await book.ledger.entitlementsAnswer(account: "blob")
            active.append(answer.entitlements.entitlements.first?.isActive ?? false)
            answers.append(answer)
        }
        #expect(active == [false, false, true, true, false, true, false, false])
        #expect(answers[0] === answers[1] && answers[2] === answers[3])
        // A minute later it is read again.
        clock.move(seconds: 61)
        let later = try await book.ledger.entitlementsAnswer(account: "blob")
        let again = try await book.ledger.entitlementsAnswer(account: "blob")
        #expect(later === again && later !== answers[7])
    }

    /// The first subject's marks and the second's have the same revisions.
    @Test func `an erased account's name begins anew`() async throws {
        let book = try await Book.open(grants: Self.rules())
        try await book.prove(1, product: "pro", account: "blob")
        #expect(try await book.active() == ["pro"])
        _ = try await book.ledger.erase(account: "blob")
        // Nobody asks in between.
        try await book.prove(2, product: "month", account: "blob")
        #expect(try await book.active() == ["month"])
    }

    /// A server of a version without marks has granted something. Another account gains it
    /// after it was remembered.
    @Test func `what has no mark is not remembered, and gets one`() async throws {
        let book = try await Book.open(grants: Self.rules())
        for (id, account) in [(1, "blob"), (2, "ann")] {
            try await book.prove(id, product: "pro", account: account)
            try await book.storage.write { writing in
                try writing.execute(Statement.Holdings.removeAll, [.text(account)])
            }
        }
        let first = try await book.ledger.entitlementsAnswer(account: "blob")
        let second = try await book.ledger.entitlementsAnswer(account: "blob")
        let third = try await book.ledger.entitlementsAnswer(account: "blob")
        #expect(first !== second)
        #expect(second === third)
        #expect(second.entitlements.entitlements.map(\.name) == ["pro"])

        try await book.prove(3, product: "month", account: "cat")
        #expect(try await book.active("cat") == ["month"])
        _ = try await book.ledger.merge(.init(into: "cat"), account: "ann")
        #expect(try await book.active("cat") == ["month", "pro"])
    }

    /// A read has found its grants, and then it was erased.
    @Test func `an account that is erased meanwhile gets no mark`() async throws {
        let book = try await Book.open(grants: Self.rules())
        try await book.prove(1, product: "pro", account: "blob")
        try await book.storage.write { writing in
            try writing.execute(Statement.Holdings.removeAll, [.text("blob")])
            try writing.execute(PersonalData.removeAccount, [.text("blob")])
        }
        #expect(try await book.active() == ["pro"])
        let rows = try await book.storage.read { reading in
            try reading.query(Statement.Holdings.ofAccount, [.text("blob")])
        }
        #expect(rows.isEmpty)
    }

    @Test(.engineFree) func `books of an earlier version, and restored ones, are remembered too`()
        async throws
    {
        let folder = try temporaryFolder()
        let path = folder.file("one.sqlite")
        let storage = try await SQLiteStorage.open(file: path, migrations: Ledger.migrations)
        var life = Life(
            clock: MovedClock(), dice: SeededGenerator(7),
            writer: try await Book.open(storage: storage, grants: Self.rules()))
        for _ in 0..<40 { _ = try await life.step() }
        try await storage.close()
        let source = try SQLiteReader(file: path)
        _ = try await LedgerBackup.write(
            source, SQLiteStorage.dialect, to: folder.file("copy"), madeAt: Book.now)
        try await source.close()
        _ = try await LedgerRestore.read(
            folder.file("copy"), SQLiteStorage.dialect, wall: Book.now
        ) { try await SQLiteStorage.open(file: folder.file("two.sqlite"), migrations: $0) }
        let copy = try await SQLiteStorage.open(
            file: folder.file("two.sqlite"), migrations: Ledger.migrations)
        // As the earlier version left them.
        let undo = [
            "DROP TABLE holdings", "DROP TABLE originals",
            "DELETE FROM schema_migrations WHERE number = 12",
        ]
        try await copy.write { writing in
            for sql in undo { try writing.execute(Statement("test.undo", sql), []) }
        }
        try await copy.close()
        let migrated = try await SQLiteStorage.open(
            file: folder.file("two.sqlite"), migrations: Ledger.migrations)
        let old = try await Book.open(
            storage: try await SQLiteStorage.open(file: path, migrations: Ledger.migrations),
            grants: Self.rules())
        let new = try await Book.open(storage: migrated, grants: Self.rules())

        var marked: [Bool] = []
        for account in Life.accounts {
            marked.append(try await new.ledger.read(of: account, in: .sandbox).isMarked)
            #expect(try await new.active(account) == old.active(account))
            #expect(try await new.ledger.read(of: account, in: .sandbox).isMarked)
        }
        #expect(marked.contains(false))
        await new.ledger.close()
        await old.ledger.close()
    }
}

/// A random life of three accounts, in which purchases change hands.
private struct Life {
    static let accounts = ["ann", "ben", "cat"]

    let clock: MovedClock
    var dice: SeededGenerator
    let writer: Book
    private(set) var log: [String] = []
    private var signed: Int64 = 0

    init(clock: MovedClock, dice: SeededGenerator, writer: Book) {
        (self.clock, self.dice, self.writer) = (clock, dice, writer)
    }

    /// Does something that may be refused. Returns what.
    mutating func step() async throws -> String {
        signed += 1
        let account = Self.accounts[dice.below(3)]
        let id = dice.below(7)
        let change = change(id)
        let words: String
        let work: () async throws -> Void
        let writer = writer
        switch dice.below(20) {
        case 0..<9:
            let named = dice.below(3) == 0 ? nil : account
            words = "take \(id) for \(named ?? "nobody")"
            work = { try await writer.take(id, account: named, change) }
        case 9..<12:
            words = "share \(id) with \(account)"
            work = { try await Self.restore(id, to: account, .share, writer, change) }
        case 12..<14:
            words = "move \(id) to \(account)"
            work = { try await Self.restore(id, to: account, .transfer, writer, change) }
        case 14..<17:
            let (end, number) = (Int64(dice.below(90)), signed)
            words = "grace of \(id) until \(end)"
            work = { try await Self.notify(id, until: end, number, writer, change) }
        case 17:
            let into = Self.accounts[dice.below(3)]
            words = "merge \(account) into \(into)"
            work = {
                _ = try await writer.ledger.merge(.init(into: into), account: account)
                // So that all accounts stay in use.
                _ = try await writer.ledger.erase(account: into)
            }
        case 18:
            words = "erase \(account)"
            work = { _ = try await writer.ledger.erase(account: account) }
        default:
            let seconds = Int64(dice.below(20))
            words = "wait \(seconds)"
            work = { [clock] in clock.move(seconds: seconds) }
        }
        do {
            try await work()
            log.append(words)
        } catch let refusal as LedgerRefusal {
            log.append("\(words): \(refusal.error.code)")
        }
        return words
    }

    /// Numbers 0 to 3 are periods of one subscription, the others single purchases. The store
    /// may have signed that one was revoked, or ended earlier.
    private mutating func change(
        _ id: Int
    ) -> @Sendable (inout JWSTransactionDecodedPayload) -> Void {
        let signedAt = Book.now.adding(seconds: signed)
        let revokedAt = dice.below(4) == 0 ? Book.now.adding(seconds: Int64(dice.below(60))) : nil
        let isUpgraded = dice.below(6) == 0
        let length = Int64(10 + 10 * dice.below(3))
        return { payload in
            payload.signedDate = signedAt
            payload.revocationDate = revokedAt
            payload.purchaseDate = Book.now.adding(seconds: Int64(id % 4) * 20)
            guard id < 4 else {
                payload.productId = id == 4 ? "month" : "pro"
                return
            }
            payload.productId = id == 2 ? "silver" : "gold"
            payload.type = "Auto-Renewable Subscription"
            payload.originalTransactionId = Book.id(0)
            payload.isUpgraded = isUpgraded
            payload.expiresDate = Book.now.adding(seconds: Int64(id) * 20 + length)
        }
    }

    private static func restore(
        _ id: Int, to account: String, _ policy: RestorePolicy, _ writer: Book,
        _ change: (inout JWSTransactionDecodedPayload) -> Void
    ) async throws {
        _ = try await writer.reopened(policy).ledger.restore(
            RestoreRequest(signedTransaction: try Book.signed(id, change)), account: account)
    }

    private static func notify(
        _ id: Int, until end: Int64, _ number: Int64, _ writer: Book,
        _ change: (inout JWSTransactionDecodedPayload) -> Void
    ) async throws {
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.originalTransactionId = Book.payload(id, change).originalTransactionId
        renewal.signedDate = Book.now.adding(seconds: number)
        renewal.gracePeriodExpiresDate = Book.now.adding(seconds: end)
        let signed = try Book.sandbox().transactions.sign(renewal)
        _ = try await writer.ledger.take(
            try Book.notification(
                try Book.signed(id, change), type: "DID_FAIL_TO_RENEW", id: "life-\(number)"
            ) { $0.signedRenewalInfo = signed })
    }
}

extension SeededGenerator {
    fileprivate mutating func below(_ end: Int) -> Int { integer(in: 0...(end - 1)) }
}
