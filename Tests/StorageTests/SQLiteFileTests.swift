// SPDX-License-Identifier: Apache-2.0

import CSyncCounter
import Dispatch
import Foundation
import GRDB
import Storage
import TestSupport
import Testing

@testable import StorageSQLite

/// What holds for SQLite's files alone.
@Suite(.timeLimit(.minutes(5))) struct SQLiteFileTests {
    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        folder = try temporaryFolder("sqlite")
        file = folder.file("data/shelf.sqlite")
        #expect(sync_counter_register() == 0)
    }

    private func open(_ options: SQLiteOptions = SQLiteOptions()) async throws -> SQLiteStorage {
        try await SQLiteStorage.open(file: file, migrations: Shelf.migrations, options: options)
    }

    private var counting: SQLiteOptions {
        SQLiteOptions(runsWritesTwice: true, vfs: String(cString: sync_counter_name))
    }

    private func pragma(_ storage: any Storage, _ name: String) async throws -> SQLValue? {
        let statement = PortStatement("pragma", "SELECT * FROM pragma_\(name)")
        return try await storage.write { try $0.first(statement)?.value(name) }
    }

    @Test func `a file is opened at FULL, in WAL, with foreign keys`() async throws {
        let storage = try await open()
        #expect(try await pragma(storage, "synchronous") == .integer(2))
        #expect(try await pragma(storage, "journal_mode") == .text("wal"))
        #expect(try await pragma(storage, "foreign_keys") == .integer(1))
        try await storage.close()
    }

    @Test func `each committed write costs one sync`() async throws {
        let storage = try await open(counting)
        try await storage.putJar(1, "warm")
        let before = sync_counter_value(folder.path)
        #expect(before > 0)
        for id in 2...41 { try await storage.putJar(Int64(id), "jar \(id)") }
        #expect(sync_counter_value(folder.path) - before == 40)
        _ = try await storage.count()
        #expect(sync_counter_value(folder.path) - before == 40)
        try await storage.close()
    }

    /// Each commit adds a page to the log at least, so that one with fewer
    /// pages than there were commits has begun anew: all of it was moved.
    @Test func `a log is moved beside the writes, and restarts`() async throws {
        var options = SQLiteOptions()
        (options.logPagesMin, options.logPagesMax) = (100, .max)
        let storage = try await open(options)
        var count = 0
        while count < 100 || pagesOfLog >= count, count < 20_000 {
            count += 1
            try await storage.putJar(Int64(count), "jar \(count)")
        }

        #expect(pagesOfLog < count && count < 20_000)
        #expect(try await storage.count() == Int64(count))
        try await storage.close()
        #expect(!FileManager.default.fileExists(atPath: file + "-wal"))
        let again = try await open()
        #expect(try await again.count() == Int64(count))
        try await again.close()
    }

    /// How long the log has ever been: its file does not shrink.
    private var pagesOfLog: Int {
        let facts = try? FileManager.default.attributesOfItem(atPath: file + "-wal")
        return (facts?[.size] as? Int ?? 0) / 4096
    }

    @Test func `the count would find NORMAL out`() async throws {
        try await open(counting).close()
        let pool = try DatabasePool(
            path: "file:\(file)?vfs=\(String(cString: sync_counter_name))")
        try await pool.write { try $0.execute(sql: "UPDATE jars SET coins = coins") }
        let before = sync_counter_value(folder.path)
        for id in 1...40 {
            try await pool.write { connection in
                try connection.execute(
                    sql: "INSERT INTO takings (jar_id, number) SELECT \(id), \(id) WHERE FALSE")
                try connection.execute(sql: "PRAGMA user_version = \(id)")
            }
        }
        #expect(sync_counter_value(folder.path) - before == 0)
        try pool.close()
    }

    @Test func `a commit whose sync fails has an unknown outcome`() async throws {
        let storage = try await open(counting)
        try await storage.putJar(1, "a")
        sync_counter_refuse(folder.path)
        let met = try await fault { try await storage.putJar(2, "b") }
        sync_counter_heal(folder.path)
        #expect(met?.code == .outcomeUnknown)
        try await storage.putJar(2, "b")
        #expect(try await storage.count() == 2)
        try await storage.close()
    }

    @Test func `only the owner may read the files`() async throws {
        let storage = try await open()
        try await storage.putJar(1, "a")
        let manager = FileManager.default
        let names = try manager.contentsOfDirectory(atPath: folder.file("data")).sorted()
        #expect(names == ["shelf.sqlite", "shelf.sqlite-shm", "shelf.sqlite-wal"])
        for path in names.map({ folder.file("data/" + $0) }) {
            #expect(try mode(path) == 0o600, "\(path)")
        }
        #expect(try mode(folder.file("data")) == 0o700)
        try await storage.close()
        #expect(chmod(file, 0o644) == 0)
        try await open().close()
        #expect(try mode(file) == 0o600)
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    @Test func `a full disk is a fault of its own and leaves the database whole`() async throws {
        var options = counting
        options.pagesMax = 24
        let storage = try await open(options)
        let big = SQLValue.blob([UInt8](repeating: 7, count: 8000))
        var met: StorageFault?
        var kept: Int64 = 0
        while met == nil, kept < 100 {
            let values: [SQLValue] = [
                .integer(kept), .text("jar \(kept)"), big, .boolean(false), .integer(0),
            ]
            met = try await fault {
                try await storage.write { try $0.execute(Shelf.insert, values) }
            }
            if met == nil { kept += 1 }
        }
        #expect(met?.code == .full)
        #expect(try await storage.count() == kept)
        let delete = PortStatement("jars.delete", "DELETE FROM jars")
        try await storage.write { try $0.execute(delete, []) }
        try await storage.putJar(1, "a")
        #expect(try await storage.count() == 1)
        try await storage.close()
    }

    @Test func `a write waits for another connection's only so long`() async throws {
        let first = try await open()
        let second = try await open(SQLiteOptions(busySeconds: 0))
        let gate = DispatchSemaphore(value: 0)
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let holder = Task {
            try await first.write { transaction in
                entering.finish()
                gate.wait(for: "what happens beside this transaction")
                try transaction.execute(Shelf.insert, Shelf.values(1, "a"))
            }
        }
        for await _ in entered {}
        #expect(try await fault { try await second.putJar(2, "b") }?.code == .busy)
        #expect(try await second.count() == 0)
        gate.signal()
        try await holder.value
        #expect(try await second.count() == 1)
        try await first.close()
        try await second.close()
    }

    @Test func `a read keeps its state while others write`() async throws {
        let storage = try await open()
        try await storage.putJar(1, "a")
        let gate = DispatchSemaphore(value: 0)
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            try await storage.read { transaction in
                let before = try transaction.query(Shelf.all, []).count
                entering.finish()
                gate.wait(for: "what happens beside this transaction")
                return [before, try transaction.query(Shelf.all, []).count]
            }
        }
        for await _ in entered {}
        try await storage.putJar(2, "b")
        #expect(try await storage.count() == 2)
        gate.signal()
        #expect(try await reader.value == [1, 1])
        try await storage.close()
    }

    @Test func `a place where no file can be is unavailable`() async throws {
        try Data().write(to: URL(fileURLWithPath: folder.file("data")))
        #expect(try await fault { try await open() }?.code == .unavailable)
    }

    @Test func `an unknown file system is refused`() async throws {
        let met = try await fault { try await open(SQLiteOptions(vfs: "nowhere")) }
        #expect(met != nil)
    }

    @Test func `awkward names are names of files`() async throws {
        for name in ["a b?c#d%41.sqlite", "file:x.sqlite", "é'猴.sqlite"] {
            let path = folder.file("odd/" + name)
            let storage = try await SQLiteStorage.open(
                file: path, migrations: Shelf.migrations, options: counting)
            try await storage.close()
            #expect(FileManager.default.fileExists(atPath: path), "\(name)")
        }
    }
}
