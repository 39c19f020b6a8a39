// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Storage
import Synchronization
import TestSupport
import Testing

@testable import StorageSQLite

/// Reads by key, which SQLite makes on the calling thread.
@Suite(.timeLimit(.minutes(5))) struct LookUpTests {
    private static let one = Statement(
        "jars.one", [.integer], "SELECT * FROM jars WHERE id = $1")

    private static func name(_ id: Int64) -> @Sendable (any Reading) throws -> String? {
        { try $0.first(one, [.integer(id)])?.text("name") }
    }

    @Test(arguments: Engine.allCases)
    func `finds what was written before it, and writes nothing`(engine: Engine) async throws {
        let storage = try await engine.open()
        for id in 1...20 {
            try await storage.putJar(Int64(id), "jar \(id)")
            #expect(try await storage.lookUp(Self.name(Int64(id))) == "jar \(id)")
        }
        #expect(try await storage.lookUp(Self.name(21)) == nil)
        let met = try await fault {
            try await storage.lookUp { try $0.query(Shelf.insert, Shelf.values(30, "a")).count }
        }
        #expect(met != nil)
        #expect(try await storage.count() == 20)
        #expect(try await storage.lookUp(Self.name(1)) == "jar 1")
    }

    @Test func `sees one state of the database, whatever is written meanwhile`() async throws {
        let storage = try await Engine.sqliteFile.open()
        for id in 1...2 as ClosedRange<Int64> { try await storage.putJar(id, "jar \(id)") }
        let lookUps = LookUps(storage.folder.file("a/b/shelf.sqlite"), SQLiteOptions())
        let gate = DispatchSemaphore(value: 0)
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let seen = Mutex<[Int64?]?>(nil)
        // A thread of its own waits, and not one that other tests need.
        Thread.detachNewThread {
            let found = try? lookUps.run { reading -> [Int64?] in
                let first = try reading.first(Self.one, [.integer(1)])?.integer("coins")
                entering.finish()
                gate.wait(for: "the write")
                return [first, try reading.first(Self.one, [.integer(2)])?.integer("coins")]
            }
            seen.withLock { $0 = found ?? [] }
        }
        for await _ in entered {}
        try await storage.write { writing in
            for id in 1...2 as ClosedRange<Int64> {
                try writing.execute(Shelf.add, [.integer(id)])
            }
        }
        gate.signal()

        await until("what was looked up") { seen.withLock { $0 != nil } }
        #expect(seen.withLock { $0 } == [0, 0])
        let now = try await storage.lookUp { reading in
            try reading.query(Shelf.all, []).map { try $0.integer("coins") }
        }
        #expect(now == [1, 1])
        lookUps.close()
    }

    @Test(arguments: Engine.allCases)
    func `one statement is waited for once`(engine: Engine) async throws {
        let storage = try await engine.open()
        for id in 1...3 as ClosedRange<Int64> { try await storage.putJar(id, "jar \(id)") }
        // The first time, PostgreSQL also learns the statements.
        #expect(try await storage.find(Self.one, [.integer(4)]) == [])
        storage.counter.reset()
        for id in 1...3 as ClosedRange<Int64> {
            let found = try await storage.find(Self.one, [.integer(id)])
            #expect(try found.map { try $0.text("name") } == ["jar \(id)"])
        }
        #expect(storage.counter.counts.statements == ["jars.one", "jars.one", "jars.one"])
        #expect(storage.counter.counts.roundTrips == (engine == .postgres ? 3 : 0))
        #expect(try await storage.find(Shelf.all, []).count == 3)
    }

    @Test(arguments: Engine.allCases)
    func `a statement that fails changes nothing, and the next one answers`(
        engine: Engine
    ) async throws {
        let storage = try await engine.open()
        try await storage.putJar(1, "a")
        let wrong = Statement("jars.wrong", [.integer], "SELECT $1 / 0 AS n, nowhere FROM jars")
        for statement in [wrong, Shelf.add] {
            let met = try await fault { try await storage.find(statement, [.integer(1)]) }
            #expect(met != nil)
            let found = try await storage.find(Self.one, [.integer(1)])
            #expect(try found.map { try $0.integer("coins") } == [0])
        }
    }

    @Test(arguments: Engine.allCases)
    func `an error of the closure reaches the caller, and the next look-up answers`(
        engine: Engine
    ) async throws {
        struct Changed: Error {}
        let storage = try await engine.open()
        try await storage.putJar(1, "a")
        for _ in 1...10 {
            await #expect(throws: Changed.self) {
                try await storage.lookUp { reading -> Int in
                    _ = try reading.first(Self.one, [.integer(1)])
                    throw Changed()
                }
            }
        }
        #expect(try await storage.lookUp(Self.name(1)) == "a")
    }

    @Test(arguments: Engine.allCases)
    func `a closed storage answers none`(engine: Engine) async throws {
        let storage = try await engine.open()
        try await storage.putJar(1, "a")
        #expect(try await storage.lookUp(Self.name(1)) == "a")
        try await storage.close()
        let met = try await fault { try await storage.lookUp(Self.name(1)) }
        let metToo = try await fault { try await storage.find(Self.one, [.integer(1)]) }
        #expect(met?.code == .unavailable)
        #expect(metToo?.code == .unavailable)
    }

    @Test func `each look-up in SQLite has a connection of its own, on the calling thread`()
        async throws
    {
        let storage = try await Engine.sqliteFile.open()
        try await storage.putJar(1, "a")
        let lookUps = LookUps(storage.folder.file("a/b/shelf.sqlite"), SQLiteOptions())
        let depths = try Self.nest(lookUps)

        // The fifth finds none free, and is left to a reading thread.
        #expect(depths == 4)
        #expect(try Self.nest(lookUps) == 4)
        lookUps.close()
        #expect(try lookUps.run(Self.name(1)) == nil)
    }

    /// How many look-ups can be made inside of each other.
    private static func nest(_ lookUps: LookUps) throws -> Int {
        let deeper = try lookUps.run { reading -> Int in
            let below = try nest(lookUps)
            #expect(try name(1)(reading) == "a")
            return below + 1
        }
        return deeper ?? 0
    }

    @Test func `a look-up that would wait for a lock is left to a reading thread`() async throws {
        let storage = try await Engine.sqliteFile.open()
        let lookUps = LookUps(storage.folder.file("a/b/shelf.sqlite"), SQLiteOptions())
        let met = try lookUps.run { _ -> Int in throw StorageFault(.busy, "locked") }
        #expect(met == nil)
        #expect(try lookUps.run { try $0.query(Shelf.all, []).count } == 0)
        lookUps.close()
    }
}
