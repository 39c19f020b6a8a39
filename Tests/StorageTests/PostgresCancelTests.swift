// SPDX-License-Identifier: Apache-2.0

import Storage
import StoragePostgres
import TestSupport
import Testing

/// Who is gone is not worked for; and nobody else's statement is hit.
@Suite(.timeLimit(.minutes(5))) struct PostgresCancelTests {
    @Test func `a cancelled caller's statement is cancelled, and its connection serves on`()
        async throws
    {
        let rig = try await PostgresRig()
        let sleep = rig.sleeping("cancelled")

        let task = Task { try await rig.shelf.read { try $0.query(sleep, []).count } }
        try await rig.untilSleeping("cancelled")
        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        try await rig.shelf.putJar(1, "a")
        #expect(try await rig.truth.count() == 1)
        // Set up, and the request to cancel: the connection was not replaced.
        #expect(rig.proxy.connections == 2)
        await rig.close()
    }

    @Test func `a cancelled write leaves nothing`() async throws {
        let rig = try await PostgresRig()
        let sleep = rig.sleeping("write")

        let task = Task {
            try await rig.shelf.write { transaction in
                try transaction.execute(Shelf.insert, Shelf.values(1, "a"))
                _ = try transaction.query(sleep, [])
            }
        }
        try await rig.untilSleeping("write")
        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await rig.truth.count() == 0)
        await rig.close()
    }

    @Test func `a caller that waits for a connection leaves the line`() async throws {
        let rig = try await PostgresRig()
        let sleep = rig.sleeping("first")
        let first = Task { try await rig.shelf.read { try $0.query(sleep, []).count } }
        try await rig.untilSleeping("first")

        let second = Task { try await rig.shelf.count() }
        await until("a call that waits for the connection") { rig.database.waiting > 0 }
        second.cancel()

        // The only connection is still asleep.
        await #expect(throws: CancellationError.self) { try await second.value }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await rig.close()
    }

    @Test func `once COMMIT is sent nothing is cancelled, and the answer is given`()
        async throws
    {
        let rig = try await PostgresRig()
        rig.proxy.obey { $0.isToServer && $0.says("COMMIT") ? .hold : .pass }

        let task = Task { try await rig.shelf.putJar(1, "a") }
        await rig.proxy.holding()
        task.cancel()
        rig.proxy.release()

        try await task.value
        #expect(rig.proxy.cancelRequests == 0)
        #expect(try await rig.truth.count() == 1)
        await rig.close()
    }

    @Test func `a call that takes too long is given up`() async throws {
        let rig = try await PostgresRig(PostgresOptions(connections: 1, callMilliseconds: 300))
        let sleep = rig.sleeping("late")

        let met = try await fault { try await rig.shelf.read { try $0.query(sleep, []).count } }

        #expect(met?.code == .busy)
        #expect(met?.reason.contains("300 ms") == true)
        try await rig.shelf.putJar(1, "a")
        await rig.close()
    }

    @Test func `the connection to a silent server is cut`() async throws {
        let rig = try await PostgresRig(
            PostgresOptions(connections: 1, callMilliseconds: 300, graceMilliseconds: 300))
        rig.proxy.obey { $0.isToServer && ($0.says("jars") || $0.type == nil) ? .silence : .pass }

        let met = try await fault { try await rig.shelf.count() }

        #expect(met?.code == .busy)
        rig.proxy.pass()
        #expect(try await rig.shelf.count() == 0)
        await rig.close()
    }

    @Test func `a commit that is not answered in time is unknown`() async throws {
        let rig = try await PostgresRig(
            PostgresOptions(connections: 1, callMilliseconds: 300, graceMilliseconds: 300))
        rig.proxy.obey { !$0.isToServer && $0.type == "C" && $0.says("COMMIT") ? .silence : .pass }

        let met = try await fault { try await rig.shelf.putJar(1, "a") }

        #expect(met?.code == .outcomeUnknown)
        #expect(rig.proxy.cancelRequests == 0)
        #expect(try await rig.truth.count() == 1)
        await rig.close()
    }

    /// Callers come and go on few connections; those who stay never hear of
    /// it, and what is done is what was answered.
    @Test func `cancelling stops no other statement`() async throws {
        let rig = try await PostgresRig(PostgresOptions(connections: 3))
        try await rig.shelf.putJar(1, "a")
        let nap = Statement("nap", "SELECT CAST(pg_sleep(0.002) AS TEXT) AS slept")
        let answered = Count()

        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<240 {
                group.addTask {
                    let work = Task {
                        try await rig.shelf.write { transaction in
                            _ = try transaction.query(nap, [])
                            _ = try transaction.query(Shelf.add, [.integer(1)])
                        }
                    }
                    if number % 2 == 0 {
                        await giveWay(times: (number % 50) * 20)
                        work.cancel()
                    }
                    do {
                        try await work.value
                        answered.add()
                    } catch is CancellationError {
                        #expect(number % 2 == 0)
                    }
                }
            }
            try await group.waitForAll()
        }

        let coins = try await rig.truth.read { try $0.first(Shelf.all)?.integer("coins") }
        #expect(coins == Int64(answered.value))
        await rig.close()
    }
}
