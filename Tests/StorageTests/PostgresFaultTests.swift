// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StoragePostgres
import Synchronization
import TestSupport
import Testing

/// What the server does to its clients on busy and on bad days.
@Suite(.timeLimit(.minutes(5))) struct PostgresFaultTests {
    private static let terminate = Statement(
        "terminate", [.text],
        """
        SELECT count(*) AS n FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'shopkeeper' AND query LIKE $1
                AND pid <> pg_backend_pid()) t
        """)

    @Test func `a terminated server process is replaced, and the work done once`() async throws {
        let rig = try await PostgresRig()
        try await rig.shelf.putJar(1, "a")
        let runs = Count()
        let mark = Statement("mark", "SELECT 1 AS n /* \(rig.schema) terminated */")
        let truth = rig.truth

        let coins = try await rig.shelf.write { transaction in
            _ = try transaction.query(mark, [])
            if runs.add() == 1 {
                // From another thread, as an administrator would.
                blocking {
                    try await truth.write { administrator in
                        _ = try administrator.query(
                            Self.terminate, [.text("%\(rig.schema) terminated%")])
                    }
                }
            }
            return try transaction.first(Shelf.add, [.integer(1)])?.integer("coins")
        }

        #expect(coins == 1)
        #expect(runs.value == 2)
        await rig.close()
    }

    /// The one that is run again lets the other end first: a row whose writer was
    /// rolled back is anybody's, so that it could take it once more before the
    /// other, which waits for it, is awake, and the two would wait for each other again.
    @Test func `of two that wait for each other one is run again, once`() async throws {
        let rig = try await PostgresRig(PostgresOptions(connections: 2))
        try await rig.shelf.putJar(1, "a")
        try await rig.shelf.putJar(2, "b")
        let barrier = Barrier(2)
        let runs = Count()
        let survived = DispatchSemaphore(value: 0)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for (first, second) in [(Int64(1), Int64(2)), (2, 1)] {
                group.addTask {
                    let turns = Count()
                    try await rig.shelf.write { transaction in
                        runs.add()
                        let isAgain = turns.add() > 1
                        if isAgain, survived.wait(timeout: .now() + .seconds(120)) == .timedOut {
                            throw PlaceError("the other did not end")
                        }
                        _ = try transaction.query(Shelf.add, [.integer(first)])
                        if !isAgain { barrier.meet() }
                        _ = try transaction.query(Shelf.add, [.integer(second)])
                    }
                    survived.signal()
                }
            }
            try await group.waitForAll()
        }

        #expect(runs.value == 3)
        let coins = try await rig.truth.read {
            try $0.query(Shelf.all, []).map { try $0.integer("coins") }
        }
        #expect(coins == [2, 2])
        await rig.close()
    }

    @Test func `what cannot be serialised is run again`() async throws {
        let rig = try await PostgresRig()
        try await rig.shelf.putJar(1, "a")
        let runs = Count()
        let serialisable = Statement("level", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        let truth = rig.truth

        let coins = try await rig.shelf.write { transaction in
            try transaction.execute(serialisable, [])
            _ = try transaction.query(Shelf.count, [])
            if runs.add() == 1 {
                blocking { _ = try await truth.write { try $0.query(Shelf.add, [.integer(1)]) } }
            }
            return try transaction.first(Shelf.add, [.integer(1)])?.integer("coins")
        }

        #expect(runs.value == 2)
        #expect(coins == 2)
        await rig.close()
    }

    @Test func `a statement that takes too long is busy, and nothing is written`() async throws {
        let rig = try await PostgresRig(
            PostgresOptions(connections: 1, statementMilliseconds: 100))

        let met = try await fault {
            try await rig.shelf.write { transaction in
                try transaction.execute(Shelf.insert, Shelf.values(1, "a"))
                _ = try transaction.query(PostgresRig.sleep, [])
            }
        }

        #expect(met?.code == .busy)
        #expect(try await rig.truth.count() == 0)
        await rig.close()
    }

    @Test func `a lock that is not given in time is busy`() async throws {
        let rig = try await PostgresRig(PostgresOptions(connections: 1, lockMilliseconds: 100))
        try await rig.shelf.putJar(1, "a")
        let shelf = rig.shelf

        let met = try await rig.truth.write { transaction -> StorageFault? in
            _ = try transaction.query(Shelf.add, [.integer(1)])
            let met = blocking {
                try await fault { try await shelf.write { try $0.query(Shelf.add, [.integer(1)]) } }
            }
            return met ?? nil
        }

        #expect(met?.code == .busy)
        await rig.close()
    }

    @Test func `with every connection in use, a caller that waits too long gets busy`() async throws
    {
        let rig = try await PostgresRig(PostgresOptions(connections: 1, waitMilliseconds: 100))
        let sleep = rig.sleeping("holds")
        let holder = Task { try await rig.shelf.read { try $0.query(sleep, []).count } }
        try await rig.untilSleeping("holds")

        let met = try await fault { try await rig.shelf.count() }

        #expect(met?.code == .busy)
        #expect(met?.reason.contains("no connection was free") == true)
        holder.cancel()
        _ = await holder.result
        #expect(try await rig.shelf.count() == 0)
        await rig.close()
    }

    @Test func `eight servers that start at once migrate once`() async throws {
        let conninfo = try await PostgresCluster.shared().conninfo
        let schema = Engine.freshSchema()

        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let database = PostgresDatabase(
                        conninfo, options: PostgresOptions(connections: 1))
                    let shelf = try await database.schema(schema, migrations: Shelf.migrations)
                    #expect(try await shelf.count() == 0)
                    await database.close()
                }
            }
            try await group.waitForAll()
        }
    }

    /// Realms share connections: each sees its own tables, also after a
    /// transaction in which the path was changed has been rolled back.
    @Test func `schemas that share a connection do not see each other's rows`() async throws {
        struct Changed: Error {}
        let database = try await Engine.database(PostgresOptions(connections: 1))
        let one = try await database.schema(Engine.freshSchema(), migrations: Shelf.migrations)
        let two = try await database.schema(Engine.freshSchema(), migrations: Shelf.migrations)
        try await one.putJar(1, "a")

        await #expect(throws: Changed.self) {
            try await two.write { transaction in
                _ = try transaction.query(Shelf.count, [])
                throw Changed()
            }
        }

        #expect(try await one.count() == 1)
        #expect(try await two.count() == 0)
        try await two.putJar(2, "b")
        try await two.putJar(3, "c")
        #expect(try await one.count() == 1)
        await database.close()
    }
}

/// Waits on a plain thread for what an asynchronous function gives.
private func blocking<Answer: Sendable>(
    _ work: @escaping @Sendable () async throws -> Answer
) -> Answer? {
    let done = DispatchSemaphore(value: 0)
    let answer = Mutex<Answer?>(nil)
    Task {
        let value = try? await work()
        answer.withLock { $0 = value }
        done.signal()
    }
    done.wait(for: "an answer of the database")
    return answer.withLock { $0 }
}

/// Where threads wait for one another.
private final class Barrier: Sendable {
    private let condition = NSCondition()
    private let missing: Mutex<Int>

    init(_ count: Int) { missing = Mutex(count) }

    func meet() {
        condition.lock()
        missing.withLock { $0 -= 1 }
        condition.broadcast()
        condition.wait(for: "the other threads") { missing.withLock { $0 <= 0 } }
        condition.unlock()
    }
}
