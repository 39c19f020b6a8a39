// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StorageSQLite
import StoreWire
import Synchronization
import Testing

@testable import Ledger

/// What an operator sees of a ledger: counts, readiness, doors, log lines and status.
@Suite(.timeLimit(.minutes(5))) struct FiguresTests {
    /// A class, because the ledger and the test share it.
    private final class Desk: Sendable {
        let now = Mutex(Book.now)
        let lines = Mutex<[(message: String, facts: [String: String])]>([])

        func ports() -> LedgerPorts {
            LedgerPorts(
                wall: WallClock { self.now.withLock { $0 } }, randomness: .seeded(2)
            ) { message, facts in
                self.lines.withLock { $0.append((message, facts)) }
            }
        }

        func pass(milliseconds: Int64) {
            now.withLock { $0 = $0.adding(milliseconds: milliseconds) }
        }
    }

    private func book(_ desk: Desk) async throws -> Book {
        let plain = try await Book.open()
        let ledger = try await Ledger.open(
            storage: plain.storage, configuration: plain.ledger.configuration,
            ports: desk.ports())
        return Book(ledger: ledger, storage: plain.storage)
    }

    @Test func `each purchase and each unit is counted once`() async throws {
        let book = try await Book.open()

        for _ in 1...2 {
            try await book.take { $0.quantity = 2 }
            try await book.redeem("order-1")
        }
        try await book.redeem("order-2")

        #expect(
            book.ledger.counts == LedgerCounts(taken: 1, redeemed: 2, gapsFilled: 0, commits: nil))
    }

    @Test func `a purchase, a notification and a redemption are logged with what they are about`()
        async throws
    {
        let desk = Desk()
        let book = try await book(desk)
        let signed = try Book.signed()

        _ = try await book.ledger.take(
            TakePurchaseRequest(signedTransaction: signed, account: "blob"), requestID: "one")
        _ = try await book.ledger.take(try Book.notification(signed), requestID: "two")
        _ = try await book.ledger.redeem(
            RedeemRequest(
                idempotencyKey: "order", transactionId: "2000000000000001", productId: nil,
                purpose: "feed", environment: nil), account: "blob", requestID: "three")

        let lines = desk.lines.withLock { $0 }
        #expect(lines.map(\.message) == ["took a purchase", "took a notification", "redeemed"])
        #expect(lines.map { $0.facts["requestId"] } == ["one", "two", "three"])
        let about = lines.map { [$0.facts["transactionId"], $0.facts["environment"]] }
        #expect(about == Array(repeating: ["2000000000000001", "Sandbox"], count: 3))
    }

    @Test func `each door has a key of its own, and neither opens the other`() async throws {
        let book = try await Book.open()
        let ledger = book.ledger

        #expect(ledger.accessKey != ledger.metricsKey)
        #expect(ledger.admits(ledger.accessKey))
        #expect(ledger.admitsToFigures(ledger.metricsKey))
        #expect(!ledger.admits(ledger.metricsKey))
        #expect(!ledger.admitsToFigures(ledger.accessKey))
        for wrong in ["", ledger.metricsKey + "0", String(ledger.metricsKey.dropLast())] {
            #expect(!ledger.admitsToFigures(wrong))
        }
    }

    @Test func `an empty key opens no door`() async throws {
        let book = try await Book.open()
        var ports = Desk().ports()
        ports.metricsKey = ""

        let ledger = try await Ledger.open(
            storage: book.storage, configuration: book.ledger.configuration, ports: ports)

        #expect(!ledger.admitsToFigures(""))
    }

    @Test func `a ledger asks its storage once a second whether it takes writes`() async throws {
        let desk = Desk()
        let book = try await book(desk)
        let asked = Statement("test.asked", "SELECT asked FROM readiness")
        func count() async throws -> Int64 {
            try await book.ledger.checkStorage()
            return try await book.storage.read { try $0.first(asked, [])?.integer("asked") ?? 0 }
        }

        // Each write runs twice in tests, and the first of the two is undone.
        let first = try await count()
        let again = try await count()
        desk.pass(milliseconds: 999)
        let soon = try await count()
        desk.pass(milliseconds: 1)
        let later = try await count()
        desk.pass(milliseconds: -1)
        let back = try await count()

        #expect([first, again, soon, later, back] == [1, 1, 1, 2, 3])
        let room = Statement("test.room", "SELECT r.asked FROM readiness r WHERE r.room IS NULL")
        #expect(try await book.storage.read { try $0.query(room, []) }.count == 1)
    }

    @Test func `a read-only storage is reported as a fault, until it accepts writes`()
        async throws
    {
        let desk = Desk()
        let storage = try await SQLiteStorage.open(file: nil, migrations: Ledger.migrations)
        let shelf = try await Book.open(storage: storage)
        let ledger = try await Ledger.open(
            storage: storage, configuration: shelf.ledger.configuration, ports: desk.ports())
        func set(_ pragma: String) async throws {
            _ = try await storage.read { try $0.query(Statement("test.pragma", pragma), []) }
        }

        try await ledger.checkStorage()
        desk.pass(milliseconds: 1000)
        try await set("PRAGMA query_only = 1")
        let first = await #expect(throws: StorageFault.self) { try await ledger.checkStorage() }
        desk.pass(milliseconds: -1000)
        let second = await #expect(throws: StorageFault.self) { try await ledger.checkStorage() }
        try await set("PRAGMA query_only = 0")
        try await ledger.checkStorage()

        #expect([first?.code, second?.code] == [.readOnly, .readOnly])
    }

    @Test func `the status shows whether a database is behind, current or too new`() async throws {
        let behind = try await SQLiteStorage.open(
            file: nil, migrations: Array(Ledger.migrations.dropLast()))
        let current = try await SQLiteStorage.open(file: nil, migrations: Ledger.migrations)
        let begun = Statement.Upkeep.begin
        try await current.write { try $0.execute(begun, [.integer(1), .integer(2)]) }
        let half = try await LedgerStatus(current, SQLiteStorage.dialect)
        try await current.write { try $0.execute(Statement.Upkeep.finish, [.integer(3)]) }
        let whole = try await LedgerStatus(current, SQLiteStorage.dialect)
        let first = try await LedgerStatus(behind, SQLiteStorage.dialect)
        let later = Migration(
            Ledger.migrations.count + 1, "later",
            ["CREATE TABLE later (a INTEGER PRIMARY KEY) STRICT"])
        let newer = try await SQLiteStorage.open(
            file: nil, migrations: Ledger.migrations + [later])
        let last = try await LedgerStatus(newer, SQLiteStorage.dialect)

        #expect(last.schema == "tooNew")
        #expect([first.schema, half.schema, whole.schema] == ["behind", "current", "current"])
        #expect(
            [first.isHalfRestored, half.isHalfRestored, whole.isHalfRestored]
                == [false, true, false])
        #expect(first.migrationsTaken == Ledger.migrations.count - 1)
        #expect(whole.migrationsTaken == Ledger.migrations.count)
        #expect(whole.migrationsKnown == Ledger.migrations.count)
    }
}
