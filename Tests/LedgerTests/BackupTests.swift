// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import Storage
import StoragePostgres
import StorageSQLite
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// A ledger is copied while it books, and made again elsewhere.
@Suite(.timeLimit(.minutes(5))) struct BackupTests {
    enum Engine: String, Sendable, CaseIterable {
        case sqlite, postgres
    }

    struct Way: Sendable, CustomTestStringConvertible {
        let from: Engine
        let to: Engine
        var testDescription: String { "\(from.rawValue) to \(to.rawValue)" }

        static let all = Engine.allCases.flatMap { from in
            Engine.allCases.map { Way(from: from, to: $0) }
        }
    }

    /// A place for one ledger, as the command has it.
    private struct Place {
        let engine: Engine
        let folder: TemporaryFolder
        let database: PostgresDatabase?
        private let schema = "l\(UUID().uuidString.lowercased().prefix(8))"

        init(_ engine: Engine) async throws {
            self.engine = engine
            folder = try temporaryFolder()
            database =
                engine == .sqlite
                ? nil
                : PostgresDatabase(
                    try await PostgresCluster.shared().conninfo,
                    options: PostgresOptions(connections: 2, waitMilliseconds: 60_000))
        }

        var dialect: Dialect {
            engine == .sqlite ? SQLiteStorage.dialect : PostgresStorage.dialect
        }

        func open(_ migrations: [Migration] = Ledger.migrations) async throws -> any Storage {
            guard let database else {
                return try await SQLiteStorage.open(
                    file: folder.file("ledger.sqlite"), migrations: migrations)
            }
            return try await database.schema(schema, migrations: migrations)
        }

        func backup(_ name: String = "copy") async throws -> String {
            let path = folder.file(name)
            let source: any Storage
            if let database {
                source = try #require(try await database.existing(schema))
            } else {
                source = try SQLiteReader(file: folder.file("ledger.sqlite"))
            }
            _ = try await LedgerBackup.write(source, dialect, to: path, madeAt: Book.now)
            try await source.close()
            return path
        }

        func restore(_ path: String) async throws -> LedgerRestore.Summary {
            try await LedgerRestore.read(path, dialect, wall: Book.now) { try await open($0) }
        }

        func close() async { await database?.close() }
    }

    @Test(arguments: Way.all)
    func `what was spent before the copy is answered again, never spent again`(
        way: Way
    ) async throws {
        let (here, there) = (try await Place(way.from), try await Place(way.to))
        let first = try await Book.open(storage: try await here.open())
        try await first.take(1) { $0.quantity = 3 }
        try await first.take(2, account: nil)
        let spent = try await first.redeem("order-1", purpose: "feed ✓ \"a\"\nmonkey")

        let archive = try await here.backup()
        await first.ledger.close()
        let summary = try await there.restore(archive)
        let second = try await Book.open(storage: try await there.open())

        #expect(second.ledger.publicKeys == first.ledger.publicKeys)
        let again = try await second.redeem("order-1", purpose: "feed ✓ \"a\"\nmonkey")
        #expect(again == spent)
        #expect(try await second.unspent() == ["2000000000000001": 2])
        #expect(try await second.redeem("order-2").unit == 2)
        #expect(try await second.redeem("order-3").unit == 3)
        #expect(
            try await refusal { try await second.redeem("order-4") }
                == ["purchaseSpent", "transactionId"])
        // What nobody had claimed may be claimed still, and handing in again books nothing.
        #expect(try await second.take(2).account == "blob")
        #expect(try await second.take(1) { $0.quantity = 3 }.unspent == 0)
        #expect(summary.rows > 4)
        await second.ledger.close()
        await here.close()
        await there.close()
    }

    /// Its units could not be redeemed.
    @Test(arguments: Engine.allCases)
    func `a copy that lacks an account is refused, and leaves an empty place`(
        engine: Engine
    ) async throws {
        let here = try await Place(engine)
        let storage = try await here.open()
        let book = try await Book.open(storage: storage)
        try await book.take(1)
        let good = try await here.backup()
        try await storage.write { writing in
            try writing.execute(Statement("test.forget", [], "DELETE FROM accounts"), [])
        }
        let copy = here.folder.file("lacking")
        try FileManager.default.moveItem(atPath: good, toPath: here.folder.file("good"))
        try FileManager.default.moveItem(atPath: try await here.backup(), toPath: copy)
        await book.ledger.close()
        let there = try await Place(engine)

        let fault = await #expect(throws: ArchiveFault.self) { try await there.restore(copy) }

        #expect(fault?.code == .invalid)
        #expect(fault?.message.contains("`account` of `purchases`") == true)
        _ = try await there.restore(here.folder.file("good"))
        await here.close()
        await there.close()
    }

    @Test func `a copy that is cut short or changed is refused, and nothing is written`()
        async throws
    {
        let here = try await Place(.sqlite)
        let book = try await Book.open(storage: try await here.open())
        try await book.take(1)
        try await book.redeem()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: try await here.backup()))
        await book.ledger.close()
        let spoilt = here.folder.file("spoilt")

        for part in 0..<40 {
            var wrong = bytes
            let at = bytes.count * part / 40
            if part % 2 == 0 { wrong = bytes.prefix(at) } else { wrong[at] ^= 1 }
            try wrong.write(to: URL(fileURLWithPath: spoilt))
            let empty = try await Place(.sqlite)

            let fault = await #expect(throws: ArchiveFault.self) {
                try await empty.restore(spoilt)
            }

            let isTold = [.cutShort, .damaged, .notAnArchive].contains(fault?.code)
            #expect(isTold, "\(part): \(fault?.code.rawValue ?? "")")
            let isThere = FileManager.default.fileExists(atPath: empty.folder.file("ledger.sqlite"))
            #expect(!isThere)
        }
    }

    @Test(arguments: Engine.allCases)
    func `an unfinished restore is never served, and starts again`(engine: Engine) async throws {
        let (here, there) = (try await Place(.sqlite), try await Place(engine))
        let book = try await Book.open(storage: try await here.open())
        try await book.take(1)
        try await book.redeem()
        let archive = try await here.backup()
        await book.ledger.close()

        await #expect(throws: StorageFault.self) {
            try await LedgerRestore.read(archive, there.dialect, wall: Book.now) {
                Dying(storage: try await there.open($0))
            }
        }
        let fault = await #expect(throws: StorageFault.self) {
            try await Book.open(storage: try await there.open())
        }
        #expect(fault?.code == .halfRestored)

        _ = try await there.restore(archive)
        let second = try await Book.open(storage: try await there.open())
        #expect(try await second.redeem().unit == 1)
        #expect(try await second.unspent().isEmpty)
        let status = try await LedgerStatus(second.storage, there.dialect)
        #expect(status.schema == "current")
        #expect(status.rows["redemptions"] == 1)
        #expect(!status.isHalfRestored)
        await second.ledger.close()
        await there.close()
    }

    @Test(arguments: Engine.allCases)
    func `a refused restore leaves an unfinished one unfinished`(engine: Engine) async throws {
        let (here, there) = (try await Place(.sqlite), try await Place(engine))
        let book = try await Book.open(storage: try await here.open())
        try await book.take(1)
        let archive = try await here.backup()
        let orphans = Statement("test.orphans", "DELETE FROM accounts")
        try await (try await here.open()).write { try $0.execute(orphans, []) }
        let contradicting = try await here.backup("contradicting")
        await book.ledger.close()
        await #expect(throws: StorageFault.self) {
            try await LedgerRestore.read(archive, there.dialect, wall: Book.now) {
                Dying(storage: try await there.open($0))
            }
        }

        await #expect(throws: ArchiveFault.self) {
            try await LedgerRestore.read(
                contradicting, there.dialect, wall: Book.now.adding(seconds: 5)
            ) { try await there.open($0) }
        }

        let fault = await #expect(throws: StorageFault.self) {
            try await Book.open(storage: try await there.open())
        }
        #expect(fault?.code == .halfRestored)
    }

    @Test(arguments: Engine.allCases)
    func `a restore that ends before its first row is not taken for a new ledger`(
        engine: Engine
    ) async throws {
        let (here, there) = (try await Place(.sqlite), try await Place(engine))
        let book = try await Book.open(storage: try await here.open())
        try await book.take(1)
        let archive = try await here.backup()
        await book.ledger.close()

        // The second time over what the first has left.
        for _ in 1...2 {
            await #expect(throws: StorageFault.self) {
                try await LedgerRestore.read(archive, there.dialect, wall: Book.now) {
                    Dying(storage: try await there.open($0), isMarkEnough: false)
                }
            }
            let fault = await #expect(throws: StorageFault.self) {
                try await Book.open(storage: try await there.open())
            }
            #expect(fault?.code == .halfRestored)
        }
        await there.close()
    }

    @Test func `an archive of no ledger, or of two, is not restored`() async throws {
        let here = try await Place(.sqlite)
        try await here.open().close()
        let cases: [([Place], ArchiveFault.Code)] = [
            ([], .notAnArchive), ([here, here], .invalid),
        ]
        for (places, code) in cases {
            let (folder, there) = (try temporaryFolder(), try await Place(.sqlite))
            let writer = try ArchiveWriter(
                path: folder.file("copy"),
                header: ArchiveHeader(holds: "ledger", madeAt: Book.now, engine: "SQLite"))
            for place in places {
                let source = try SQLiteReader(file: place.folder.file("ledger.sqlite"))
                try await writer.add(source, as: "ledger", place.dialect, LedgerSchema.tables)
                try await source.close()
            }
            _ = try writer.finish()

            let fault = await #expect(throws: ArchiveFault.self) {
                try await there.restore(folder.file("copy"))
            }

            #expect(fault?.code == code)
            #expect(!FileManager.default.fileExists(atPath: there.folder.file("ledger.sqlite")))
        }
    }

    @Test func `a place that holds a ledger is left as it is`() async throws {
        let (here, there) = (try await Place(.sqlite), try await Place(.sqlite))
        let first = try await Book.open(storage: try await here.open())
        let second = try await Book.open(storage: try await there.open())
        try await second.take(7)
        await second.ledger.close()

        let archive = try await here.backup()
        let fault = await #expect(throws: ArchiveFault.self) { try await there.restore(archive) }

        #expect(fault?.code == .targetNotEmpty)
        let again = try await Book.open(storage: try await there.open())
        #expect(try await again.unspent().count == 1)
        await again.ledger.close()
        await first.ledger.close()
    }

    /// Writes the mark, and dies with what follows, or dies with its first write.
    private struct Dying: Storage {
        let storage: any Storage
        var isMarkEnough = true

        func read<Answer: Sendable>(
            _ body: @escaping @Sendable (any Reading) throws -> Answer
        ) async throws -> Answer { try await storage.read(body) }

        func write<Answer: Sendable>(
            _ body: @escaping @Sendable (any Writing) throws -> Answer
        ) async throws -> Answer {
            let isMarked = try await storage.read {
                try $0.first(Statement.Upkeep.unfinished) != nil
            }
            if isMarked || !isMarkEnough { throw StorageFault(.unavailable, "killed") }
            return try await storage.write(body)
        }

        func close() async throws { try await storage.close() }
        func wake(_ word: String) { storage.wake(word) }
        func wakes() -> AsyncStream<Wake> { storage.wakes() }
    }
}
