// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization
import TestSupport
import Testing

/// What every storage owes. Each closure runs twice throughout.
@Suite(.timeLimit(.minutes(5))) struct ConformanceTests {
    @Test(arguments: Engine.allCases)
    func `parameters are bound by number, not by appearance`(engine: Engine) async throws {
        let storage = try await engine.open()
        let statement = Statement(
            "swap", [.text, .text, .integer],
            "SELECT $2 AS second, $1 AS first, CAST($3 AS INTEGER) AS third, $2 AS again")
        let row = try await storage.read {
            try $0.first(statement, [.text("one"), .text("two"), .integer(3)])
        }
        #expect(try row?.text("first") == "one")
        #expect(try row?.text("second") == "two")
        #expect(try row?.text("again") == "two")
        #expect(try row?.integer("third") == 3)
    }

    @Test(arguments: Engine.allCases)
    func `values come back as they went in`(engine: Engine) async throws {
        let storage = try await engine.open()
        let label: [UInt8] = [0, 255, 1]
        let values: [SQLValue] = [
            .integer(.max), .text("猴 🐒 \u{FFFD} '"), .blob(label), .boolean(true), .integer(0),
        ]
        try await storage.write { try $0.execute(Shelf.insert, values) }
        let row = try #require(await storage.read { try $0.first(Shelf.all) })
        #expect(try row.integer("id") == .max)
        #expect(try row.text("name") == "猴 🐒 \u{FFFD} '")
        #expect(try row.blob("label") == label)
        #expect(try row.boolean("sealed"))
        let sealed = try await storage.read { try $0.query(Shelf.sealed, [.boolean(true)]).count }
        let open = try await storage.read { try $0.query(Shelf.sealed, [.boolean(false)]).count }
        #expect((sealed, open) == (1, 0))
    }

    @Test(arguments: Engine.allCases)
    func `an empty RETURNING means not done`(engine: Engine) async throws {
        let storage = try await engine.open()
        let first = try await storage.write { try $0.query(Shelf.insert, Shelf.values(1, "a")) }
        let again = try await storage.write { try $0.query(Shelf.insert, Shelf.values(1, "b")) }
        #expect((first.count, again.count) == (1, 0))
        #expect(try await storage.read { try $0.first(Shelf.all)?.text("name") } == "a")
    }

    @Test(arguments: Engine.allCases)
    func `many questions are answered in order, after the writes before them`(
        engine: Engine
    ) async throws {
        let storage = try await engine.open()
        // More than what is sent before answers are read.
        let name = String(repeating: "n", count: 1000)
        let ids = (0..<100).map { Int64($0 * 7 % 100) }
        let taken = try await storage.write { writing in
            for id in 0..<Int64(100) where id % 10 != 0 {
                try writing.execute(Shelf.insert, Shelf.values(id, "\(name) first \(id)"))
            }
            return try writing.queryEach(
                Shelf.insert, ids.map { Shelf.values($0, "\(name) \($0)") })
        }
        let asked = try await storage.read { try $0.queryEach(Shelf.sealed, []) }

        #expect(asked.isEmpty)
        #expect(taken.map(\.count) == ids.map { $0 % 10 == 0 ? 1 : 0 })
        #expect(try await storage.count() == 100)
    }

    @Test(arguments: Engine.allCases)
    func `a question among many that fails ends the transaction`(engine: Engine) async throws {
        let storage = try await engine.open()
        let met = try await fault {
            try await storage.write { writing in
                try writing.execute(Shelf.insert, Shelf.values(1, "a"))
                _ = try? writing.queryEach(
                    Shelf.insertPlainly, [2, 1, 3].map { [.integer($0), .text("b")] })
            }
        }
        #expect(met?.code == .constraint)
        #expect(try await storage.count() == 0)
        let later = try await storage.write {
            try $0.queryEach(Shelf.insert, [Shelf.values(1, "a"), Shelf.values(1, "b")])
        }
        #expect(later.map(\.count) == [1, 0])
    }

    @Test(arguments: Engine.allCases)
    func `a closure runs twice and takes effect once`(engine: Engine) async throws {
        let opened = try await engine.open()
        let runs = Mutex(0)
        try await opened.putJar(1, "a", coins: 5)
        let coins = try await opened.write { transaction in
            runs.withLock { $0 += 1 }
            return try transaction.first(Shelf.take, [.integer(1), .integer(2)])?.integer("coins")
        }
        #expect(coins == 3)
        #expect(runs.withLock { $0 } == 2)
        let kept = try await opened.read { try $0.first(Shelf.all)?.integer("coins") }
        #expect(kept == 3)
    }

    @Test(arguments: Engine.allCases)
    func `a throwing closure leaves nothing behind`(engine: Engine) async throws {
        struct Changed: Error {}
        let storage = try await engine.open()
        await #expect(throws: Changed.self) {
            try await storage.write { transaction in
                try transaction.execute(Shelf.insert, Shelf.values(1, "a"))
                throw Changed()
            }
        }
        #expect(try await storage.count() == 0)
        try await storage.putJar(1, "b")
        #expect(try await storage.count() == 1)
    }

    @Test(arguments: Engine.allCases)
    func `a fault that a closure swallows still ends its transaction`(
        engine: Engine
    ) async throws {
        let storage = try await engine.open()
        let met = try await fault {
            try await storage.write { transaction in
                try transaction.execute(Shelf.insertPlainly, [.integer(1), .text("a")])
                try? transaction.execute(Shelf.insertPlainly, [.integer(1), .text("b")])
                try? transaction.execute(Shelf.insertPlainly, [.integer(2), .text("c")])
            }
        }
        #expect(met?.code == .constraint)
        #expect(try await storage.count() == 0)
    }

    @Test(arguments: Engine.allCases)
    func `constraints refuse with the same code`(engine: Engine) async throws {
        let storage = try await engine.open()
        try await storage.putJar(1, "a", coins: 1)
        let refused: [(Statement, [SQLValue])] = [
            (Shelf.insertPlainly, [.integer(1), .text("b")]),
            (Shelf.insertPlainly, [.integer(2), .text("a")]),
            (Shelf.insertPlainly, [.integer(2), .null]),
            (Shelf.take, [.integer(1), .integer(2)]),
            (Shelf.insertTaking, [.integer(7), .integer(1)]),
        ]
        for (statement, values) in refused {
            let met = try await fault {
                try await storage.write { try $0.execute(statement, values) }
            }
            #expect(met?.code == .constraint, "\(statement.name) \(values)")
        }
        #expect(try await storage.count() == 1)
    }

    @Test(arguments: Engine.allCases)
    func `a read sees one state and cannot write`(engine: Engine) async throws {
        let storage = try await engine.open()
        let met = try await fault {
            try await storage.read { try $0.query(Shelf.insert, Shelf.values(1, "a")).count }
        }
        #expect(met?.code == .readOnly)
        #expect(try await storage.count() == 0)
    }

    @Test(arguments: Engine.allCases)
    func `concurrent writers queue and lose nothing`(engine: Engine) async throws {
        let storage = try await engine.open()
        try await storage.putJar(1, "a")
        let answers = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    try await storage.write {
                        try $0.first(Shelf.add, [.integer(1)])?.integer("coins") ?? -1
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.sorted() == Array(1...64))
    }

    @Test(arguments: Engine.allCases)
    func `what a write has returned, the next read sees`(engine: Engine) async throws {
        let storage = try await engine.open()
        for id in 1...20 {
            try await storage.putJar(Int64(id), "jar \(id)")
            #expect(try await storage.count() == Int64(id))
        }
    }

    @Test(arguments: Engine.allCases)
    func `a cancelled task's write holds all the same`(engine: Engine) async throws {
        let storage = try await engine.open()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await storage.putJar(1, "a")
        }
        try await task.value
        #expect(try await storage.count() == 1)
    }

    @Test(arguments: Engine.allCases)
    func `a closed storage answers with a fault`(engine: Engine) async throws {
        let storage = try await engine.open()
        try await storage.close()
        try await storage.close()
        #expect(try await fault { try await storage.count() }?.code == .unavailable)
        #expect(try await fault { try await storage.putJar(1, "a") }?.code == .unavailable)
    }

    @Test(arguments: Engine.allCases)
    func `closing while others write and read leaves each done or not`(
        engine: Engine
    ) async throws {
        let storage = try await engine.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...200 {
                group.addTask {
                    let met = try await fault {
                        try await storage.putJar(Int64(id), "jar \(id)")
                        _ = try await storage.count()
                        if id == 20 { try await storage.close() }
                    }
                    #expect(met == nil || met?.code == .unavailable)
                }
            }
            try await group.waitForAll()
        }
        #expect(storage.counter.counts.commits > 0)
    }

    @Test(arguments: Engine.allCases)
    func `a transaction is of no use after its closure`(engine: Engine) async throws {
        struct Keeper: @unchecked Sendable { let transaction: any Writing }
        let storage = try await engine.open()
        let kept = try await storage.write { Keeper(transaction: $0) }
        #expect(throws: StorageFault(.unavailable, "")) {
            try kept.transaction.query(Shelf.all, [])
        }
    }

    @Test(arguments: Engine.allCases)
    func `statements and commits are counted, rehearsals are not`(engine: Engine) async throws {
        let opened = try await engine.open()
        opened.counter.reset()
        try await opened.putJar(1, "a")
        _ = try await opened.count()
        let expected = CountingObserver.Counts(
            statements: ["jars.insert", "jars.count"], commits: 1)
        #expect(opened.counter.counts == expected)
    }
}
