// SPDX-License-Identifier: Apache-2.0

import CSyncCounter
import Dispatch
import Foundation
import Storage
import StorageSQLite
import Synchronization
import TestSupport
import Testing

/// Writes that wait together commit together.
@Suite(.timeLimit(.minutes(5))) struct GroupCommitTests {
    private let folder: TemporaryFolder
    private let file: String
    private let observer = CountingObserver()

    init() throws {
        folder = try temporaryFolder("group")
        file = folder.file("shelf.sqlite")
        #expect(sync_counter_register() == 0)
    }

    private func open(_ change: (inout SQLiteOptions) -> Void = { _ in }) async throws
        -> SQLiteStorage
    {
        var options = SQLiteOptions(observer: observer, vfs: String(cString: sync_counter_name))
        change(&options)
        let storage = try await SQLiteStorage.open(
            file: file, migrations: Shelf.migrations, options: options)
        try await storage.putJar(1, "first", coins: 1)
        observer.reset()
        return storage
    }

    /// Holds the writer inside one transaction until every one of `bodies`
    /// waits behind it; answers what became of each.
    private func together(
        _ storage: SQLiteStorage, _ bodies: [@Sendable (any Writing) throws -> Void],
        behind: @escaping @Sendable () -> Void = {}
    ) async throws -> [StorageFault?] {
        let gate = DispatchSemaphore(value: 0)
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let holder = Task {
            try await storage.write { _ in
                entering.finish()
                gate.wait(for: "the writes that wait behind this one")
            }
        }
        for await _ in entered {}
        let met = try await withThrowingTaskGroup(of: (Int, StorageFault?).self) { group in
            for (index, body) in bodies.enumerated() {
                group.addTask { (index, try await fault { try await storage.write(body) }) }
            }
            await until("\(bodies.count) writes that wait", seen: "\(storage.waitingWrites)") {
                storage.waitingWrites >= bodies.count
            }
            behind()
            // Twice, for a closure that is run twice waits twice.
            gate.signal()
            gate.signal()
            return try await group.reduce(
                into: [StorageFault?](repeating: nil, count: bodies.count)
            ) {
                $0[$1.0] = $1.1
            }
        }
        try await holder.value
        return met
    }

    private func put(_ ids: ClosedRange<Int64>) -> [@Sendable (any Writing) throws -> Void] {
        ids.map { id in
            { try $0.execute(Shelf.insert, Shelf.values(id, "jar \(id)")) }
        }
    }

    @Test func `writes that waited share one commit and one sync`() async throws {
        let storage = try await open()
        let before = sync_counter_value(folder.path)

        let met = try await together(storage, put(2...33))

        #expect(met == [StorageFault?](repeating: nil, count: 32))
        #expect(sync_counter_value(folder.path) - before == 1)
        // The holder's own, which wrote nothing, and the group's.
        #expect(observer.counts.commits == 2)
        #expect(try await storage.count() == 33)
        try await storage.close()
    }

    @Test func `a group takes no more than its bound`() async throws {
        let storage = try await open()
        let before = sync_counter_value(folder.path)
        _ = try await together(storage, put(2...131))
        #expect(sync_counter_value(folder.path) - before == 3)
        #expect(try await storage.count() == 131)
        try await storage.close()
    }

    @Test func `a group that ran long enough commits without the rest`() async throws {
        let ticks = Mutex<Int64>(0)
        let storage = try await open { options in
            options.milliseconds = {
                ticks.withLock {
                    $0 += 5; return $0
                }
            }
        }
        let before = sync_counter_value(folder.path)
        _ = try await together(storage, put(2...9))
        // Begun at 5 n, late 20 later: four closures a group.
        #expect(sync_counter_value(folder.path) - before == 2)
        #expect(try await storage.count() == 9)
        try await storage.close()
    }

    @Test(arguments: [false, true])
    func `each has an outcome of its own`(twice: Bool) async throws {
        struct Refused: Error {}
        let storage = try await open { $0.runsWritesTwice = twice }
        var bodies = put(2...4)
        bodies.append { transaction in
            try transaction.execute(Shelf.insert, Shelf.values(5, "half"))
            try transaction.execute(Shelf.insertTaking, [.integer(99), .integer(1)])
        }
        bodies.append { transaction in
            try transaction.execute(Shelf.insert, Shelf.values(6, "thrown away"))
            throw StorageFault(.busy, "said by the closure")
        }
        bodies += put(7...8)

        let met = try await together(storage, bodies)

        #expect(met.map { $0?.code } == [nil, nil, nil, .constraint, .busy, nil, nil])
        let ids = try await storage.read {
            try $0.query(Shelf.all, []).map { try $0.integer("id") }
        }
        #expect(ids == [1, 2, 3, 4, 7, 8])
        try await storage.close()
    }

    @Test func `each sees what those before it in the group wrote`() async throws {
        let storage = try await open()
        let seen = Mutex<[Int64]>([])
        let bodies = (0..<16).map { _ -> @Sendable (any Writing) throws -> Void in
            { transaction in
                let coins = try transaction.first(Shelf.add, [.integer(1)])?.integer("coins")
                seen.withLock { $0.append(coins ?? -1) }
            }
        }
        _ = try await together(storage, bodies)
        #expect(seen.withLock { $0 } == Array(2...17))
        try await storage.close()
    }

    @Test func `a commit that fails fails all of its group`() async throws {
        let storage = try await open()
        let folder = folder
        let met = try await together(
            storage, put(2...9), behind: { sync_counter_refuse(folder.path) })
        sync_counter_heal(folder.path)
        #expect(met.map { $0?.code } == [StorageFault.Code?](repeating: .outcomeUnknown, count: 8))
        try await storage.putJar(10, "after")
        try await storage.close()
    }

    /// A request that comes again answers by throwing what it finds; so does
    /// one that is refused for what another has just done.
    @Test func `a write that saw another's rows fails with the commit`() async throws {
        let storage = try await open()
        let folder = folder
        let told = Mutex<[String]>([])
        let met = try await together(
            storage,
            [
                { try $0.execute(Shelf.insert, Shelf.values(2, "bought")) },
                { transaction in
                    let rows = try transaction.query(Shelf.all, [])
                    told.withLock { $0.append("\(rows.count) seen") }
                    throw StorageFault(.busy, "bought before")
                },
                { transaction in
                    let rows = try transaction.query(Shelf.all, [])
                    told.withLock { $0.append("\(rows.count) seen") }
                },
            ], behind: { sync_counter_refuse(folder.path) })
        sync_counter_heal(folder.path)
        #expect(told.withLock { $0 } == ["2 seen", "2 seen"])
        #expect(met.map { $0?.code } == [StorageFault.Code?](repeating: .outcomeUnknown, count: 3))
        #expect(try await storage.count() == 1)
        try await storage.close()
    }

    @Test func `a group whose commit finds the disk full is tried one by one`() async throws {
        let storage = try await open()
        let big = SQLValue.blob([UInt8](repeating: 7, count: 20_000))
        let bodies = (2...5).map { id -> @Sendable (any Writing) throws -> Void in
            { transaction in
                try transaction.execute(
                    Shelf.insert,
                    [.integer(id), .text("jar \(id)"), big, .boolean(false), .integer(0)])
            }
        }
        let folder = folder
        let log = try FileManager.default.attributesOfItem(atPath: file + "-wal")[.size] as? Int
        let room = (log ?? 0) + 50_000
        let met = try await together(
            storage, bodies, behind: { sync_counter_fill(folder.path, room) })
        sync_counter_heal(folder.path)
        // Each who was told yes is there, who was told no is not.
        let kept = met.count { $0 == nil }
        #expect((1...3).contains(kept))
        #expect(met.allSatisfy { $0 == nil || $0?.code == .full })
        #expect(try await storage.count() == Int64(1 + kept))
        try await storage.putJar(10, "after")
        try await storage.close()
    }

    @Test func `a group that fills the disk is tried one by one`() async throws {
        let storage = try await open { $0.pagesMax = 12 }
        let big = SQLValue.blob([UInt8](repeating: 7, count: 80_000))
        var bodies = put(2...4)
        bodies.append { transaction in
            try transaction.execute(
                Shelf.insert,
                [.integer(5), .text("big"), big, .boolean(false), .integer(0)])
        }
        bodies += put(6...8)
        let met = try await together(storage, bodies)
        #expect(met.map { $0?.code } == [nil, nil, nil, .full, nil, nil, nil])
        #expect(try await storage.count() == 7)
        try await storage.close()
    }

    @Test func `closing fails waiting writes and keeps the running one`() async throws {
        let storage = try await open()
        let gate = DispatchSemaphore(value: 0)
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let holder = Task {
            try await storage.write { transaction in
                entering.finish()
                gate.wait(for: "the writes that wait behind this one")
                try transaction.execute(Shelf.insert, Shelf.values(2, "held"))
            }
        }
        for await _ in entered {}
        let waiting = Task { try await fault { try await storage.putJar(3, "waits") } }
        await until("a write that waits") { storage.waitingWrites > 0 }
        let closing = Task { try await storage.close() }
        #expect(try await waiting.value?.code == .unavailable)
        gate.signal()
        try await holder.value
        try await closing.value
        let again = try await SQLiteStorage.open(file: file, migrations: Shelf.migrations)
        #expect(try await again.count() == 2)
        try await again.close()
    }

    @Test func `a storage that is let go ends its threads and leaves the file whole`() async throws
    {
        for id in 2...6 {
            let storage = try await SQLiteStorage.open(file: file, migrations: Shelf.migrations)
            try await storage.putJar(Int64(id), "jar \(id)")
            _ = try await storage.count()
        }
        let last = try await SQLiteStorage.open(file: file, migrations: Shelf.migrations)
        #expect(try await last.count() == 5)
        try await last.close()
    }
}
