// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// What the worker deletes, and what it keeps.
@Suite(.timeLimit(.minutes(5))) struct RetentionTests {
    private let clock = MovedClock()
    private let store = FakeStore()

    private func book(_ retention: LedgerRetention, forwardsTo: [String] = []) async throws -> Book
    {
        let book = try await Book.open(
            asking: store, environments: [.sandbox], forwardsTo: forwardsTo, wall: clock.wall)
        var configuration = book.ledger.configuration
        configuration.retention = retention
        return Book(
            ledger: try await Ledger.open(
                storage: book.storage, configuration: configuration, ports: book.ledger.ports),
            storage: book.storage)
    }

    /// How many rows the tables have.
    private func rows(_ book: Book) async throws -> [Int64] {
        try await book.storage.read { reading in
            try ["notifications_in", "audit", "purchases"].map { table in
                let statement = Statement("test.count", "SELECT COUNT(*) AS n FROM \(table)")
                return try reading.first(statement)?.integer("n") ?? 0
            }
        }
    }

    private func hear(_ book: Book, _ number: Int) async throws {
        let digits = String(number)
        let id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count)
        _ = try await book.ledger.take(
            try Book.notification(try Book.signed(1), id: id + digits))
        _ = try await LedgerActor.$current.withValue(LedgerActor("test")) {
            try await book.take(number + 1)
        }
    }

    @Test func `notifications and the audit are deleted when their days are over`() async throws {
        let book = try await book(
            try LedgerRetention(notificationDays: 200, auditDays: 100))
        try await hear(book, 1)
        clock.move(seconds: 50 * 86_400)
        try await hear(book, 2)
        var counts: [[Int64]] = []
        for days in [51, 49, 1, 49, 2] as [Int64] {
            clock.move(seconds: days * 86_400)
            try await book.ledger.forget()
            counts.append(try await rows(book))
        }

        // The purchases stay.
        #expect(counts == [[2, 1, 3], [2, 1, 3], [2, 0, 3], [2, 0, 3], [1, 0, 3]])
    }

    @Test func `what is still owed is kept, and more than a page is deleted`() async throws {
        let book = try await book(.usual, forwardsTo: ["https://merchant.example"])
        store.isDown()
        try await hear(book, 1)
        let page = Int(Ledger.forgottenPage)
        try await book.storage.write { writing in
            for number in 0...page {
                try writing.execute(
                    Statement.Audit.insert,
                    LedgerSchema.audit.row([
                        "recorded_at": .integer(1), "actor": .text("test"),
                        "entry_id": .text(String(String(number + 0x1000_0000_0000_000).suffix(16))),
                        "action": .text("redeemed"),
                    ]))
            }
        }
        clock.move(seconds: 500 * 86_400)
        try await book.ledger.forget()
        let owed = try await rows(book)
        // The copy is parked, and deleted when its days are over too.
        _ = try await book.ledger.forward()
        clock.move(seconds: 401 * 86_400)
        try await book.ledger.forget()

        #expect(owed == [1, 1, 2])
        #expect(try await rows(book) == [0, 1, 2])
        clock.move(seconds: 1_100 * 86_400)
        try await book.ledger.forget()
        #expect(try await rows(book) == [0, 0, 2])
    }

    @Test func `an hour passes between two deletions`() async throws {
        let book = try await book(.usual)
        try await hear(book, 1)
        clock.move(seconds: 400 * 86_400)
        try await book.ledger.forget()
        clock.move(seconds: 3_599)
        try await book.ledger.forget()
        let early = try await rows(book)
        clock.move(seconds: 1)
        try await book.ledger.forget()

        #expect(early == [1, 1, 2])
        #expect(try await rows(book) == [0, 1, 2])
    }

    /// It calls no one, and only its worker can do what is left.
    @Test func `a ledger that calls no store completes erasures and deletes what is too old`()
        async throws
    {
        let opened = try await Book.open(wall: clock.wall)
        var ports = opened.ledger.ports
        ports.sleep = { _ in
            await untilCancelled()
            try Task.checkCancellation()
        }
        let ledger = try await Ledger.open(
            storage: opened.storage, configuration: opened.ledger.configuration, ports: ports)
        let book = Book(ledger: ledger, storage: opened.storage)
        try await hear(book, 1)
        // An erasure's process ended before it had deleted the contents of this one.
        _ = try await ledger.take(
            try Book.notification(try Book.signed(9), id: "00000000-0000-4000-8000-000000000009"))
        let old = Book.now.adding(seconds: -401 * 86_400).milliseconds
        try await book.storage.write { writing in
            try writing.execute(
                PersonalData.insertAccount,
                LedgerSchema.accounts.row(["account": .text("erased:9"), "revision": .integer(1)]))
            for statement in [
                "UPDATE purchases SET account = 'erased:9' WHERE transaction_id = '\(Book.id(9))'",
                "INSERT INTO erasures (account) VALUES ('erased:9')",
                "UPDATE notifications_in SET received_at = \(old) WHERE notification_id LIKE '%1'",
            ] {
                try writing.execute(Statement("test.\(statement.prefix(8))", statement), [])
            }
        }

        let worker = Task { await ledger.work() }
        try await until("the worker has done what is due") {
            let left = try await book.storage.read { try $0.query(PersonalData.erasures, []) }
            let kept = try await rows(book)[0]
            return left.isEmpty && kept == 1
        }
        worker.cancel()
        await worker.value

        let payloads = try await book.storage.read {
            try $0.query(Statement("test.payloads", "SELECT payload FROM notifications_in"), [])
        }
        #expect(try payloads.map { try $0.text("payload") } == ["erased"])
    }

    @Test func `a worker that cannot wait does once what is due`() async throws {
        let book = try await Book.open(wall: clock.wall)
        try await hear(book, 1)
        clock.move(seconds: 401 * 86_400)
        await book.ledger.work()

        #expect(try await rows(book)[0] == 0)
    }

    @Test(arguments: [(180, 30), (181, 29), (36_501, 30), (181, 36_501)])
    func `days that are too few or too many are refused`(notifications: Int, audit: Int) {
        #expect(throws: WireError.self) {
            try LedgerRetention(notificationDays: notifications, auditDays: audit)
        }
    }
}
