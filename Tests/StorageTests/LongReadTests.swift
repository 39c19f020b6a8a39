// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Storage
import Synchronization
import TestSupport
import Testing

@testable import StorageSQLite

/// Reads that last: as long as one does, the log cannot begin anew.
@Suite(.timeLimit(.minutes(5))) struct LongReadTests {
    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        folder = try temporaryFolder("longread")
        file = folder.file("shelf.sqlite")
    }

    private func open(_ options: SQLiteOptions = SQLiteOptions()) async throws -> SQLiteStorage {
        try await SQLiteStorage.open(file: file, migrations: Shelf.migrations, options: options)
    }

    private func bytesOfLog() -> Int {
        let facts = try? FileManager.default.attributesOfItem(atPath: file + "-wal")
        return facts?[.size] as? Int ?? 0
    }

    @Test func `a log that grew under a long read is given back after it`() async throws {
        var options = SQLiteOptions()
        (options.logPagesMin, options.logPagesMax, options.logPagesRest) = (50, 200, 10)
        options.logBytesKept = 400_000
        let storage = try await open(options)
        try await storage.putJar(0, "a")
        let gate = DispatchSemaphore(value: 0)
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            try await storage.read { reading in
                let count = try reading.query(Shelf.all, []).count
                entering.finish()
                gate.wait(for: "the end of the long read")
                return count
            }
        }
        for await _ in entered {}
        for id in 1...1000 { try await storage.putJar(Int64(id), "jar \(id)") }
        let grown = bytesOfLog()
        gate.signal()
        #expect(try await reader.value == 1)

        var id: Int64 = 1000
        while bytesOfLog() > options.logBytesKept, id < 20_000 {
            id += 1
            try await storage.putJar(id, "jar \(id)")
        }

        #expect(grown > 2 * options.logBytesKept)
        #expect(bytesOfLog() <= options.logBytesKept, "after \(id - 1000) writes")
        #expect(try await storage.count() == id + 1)
        try await storage.close()
    }

    private static let endless = PortStatement(
        "endless",
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT count(*) AS count FROM n
        """)

    @Test func `a read that takes too long is ended, in a statement and between two`()
        async throws
    {
        let now = Mutex<Int64>(0)
        var options = SQLiteOptions(milliseconds: {
            now.withLock {
                $0 += 1; return $0
            }
        })
        options.readMilliseconds = 1000
        let storage = try await open(options)
        try await storage.putJar(1, "a")

        let within = try await fault { try await storage.read { try $0.query(Self.endless, []) } }
        let between = try await fault {
            try await storage.read { reading in
                _ = try reading.query(Shelf.count, [])
                now.withLock { $0 += 2000 }
                return try reading.query(Shelf.count, [])
            }
        }

        #expect(within?.code == .busy && between?.code == .busy)
        #expect(between?.reason.contains("1000 ms") == true)
        // The connection goes on, and a write has no such limit.
        #expect(try await storage.count() == 1)
        try await storage.write { writing in
            _ = try writing.query(Shelf.count, [])
            now.withLock { $0 += 2000 }
            try writing.execute(Shelf.insert, Shelf.values(2, "b"))
        }
        #expect(try await storage.count() == 2)
        try await storage.close()
    }

    @Test func `a copy is of one moment, holds up no log, and goes when it is closed`()
        async throws
    {
        var options = SQLiteOptions()
        (options.logPagesMin, options.logPagesMax) = (50, 100)
        let storage = try await open(options)
        for id in 1...20 { try await storage.putJar(Int64(id), "jar \(id)") }
        let place = folder.file("shelf.copy")

        let copy = try SQLiteReader(copyOf: file, at: place)
        let gate = DispatchSemaphore(value: 0)
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            try await copy.read { reading in
                let first = try reading.query(Shelf.all, []).count
                entering.finish()
                gate.wait(for: "the end of the long read")
                return [first, try reading.query(Shelf.all, []).count]
            }
        }
        for await _ in entered {}
        let mode = try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        var count = 20
        while count < 150 || bytesOfLog() / 4096 >= count, count < 20_000 {
            count += 1
            try await storage.putJar(Int64(count), "jar \(count)")
        }

        // Each commit adds a page at least: the log has begun anew meanwhile.
        #expect(bytesOfLog() / 4096 < count && count < 20_000)
        gate.signal()
        #expect(try await reader.value == [20, 20])
        try await copy.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasPrefix("shelf.copy") } == [])
        try await storage.close()
    }

    @Test func `a copy of nothing is a fault and leaves nothing`() throws {
        #expect(throws: StorageFault.self) {
            try SQLiteReader(copyOf: folder.file("none.sqlite"), at: folder.file("none.copy"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
}
