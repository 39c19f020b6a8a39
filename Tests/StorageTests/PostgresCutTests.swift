// SPDX-License-Identifier: Apache-2.0

import Storage
import StoragePostgres
import TestSupport
import Testing

/// A write whose line is cut at each of its messages, before, within and
/// after it: done once, or not at all, and said truly.
@Suite(.unforgiven, .timeLimit(.minutes(15))) struct PostgresCutTests {
    private static let locked = Statement(
        "jars.locked", "SELECT coins FROM jars WHERE id = 1 FOR UPDATE")

    /// Reads, then writes without waiting, then commits.
    private static func work(_ shelf: PostgresStorage) async throws -> Int64 {
        try await shelf.write { transaction in
            let coins = try transaction.first(Shelf.add, [.integer(1)])?.integer("coins") ?? -1
            try transaction.execute(Shelf.insertTaking, [.integer(1), .integer(coins)])
            return coins
        }
    }

    @Test(arguments: [CuttingProxy.Fate.cutBefore, .cutDuring, .cutAfter])
    func `a write cut anywhere is done once or reported as unknown`(
        fate: CuttingProxy.Fate
    ) async throws {
        let rig = try await PostgresRig()
        try await rig.shelf.putJar(1, "a")
        _ = try await Self.work(rig.shelf)
        rig.proxy.pass()
        _ = try await Self.work(rig.shelf)
        let messages = rig.proxy.messages
        #expect(messages > 15)

        var coins: Int64 = 2
        var unknown = 0
        for number in 1...messages {
            rig.proxy.cut(message: number, fate)
            do {
                coins += 1
                #expect(try await Self.work(rig.shelf) == coins, "message \(number)")
            } catch let fault as StorageFault {
                #expect(fault.code == .outcomeUnknown, "message \(number): \(fault)")
                unknown += 1
                // Behind the row's lock: the server may be committing yet.
                let truth = try await rig.truth.write {
                    try $0.first(Self.locked)?.integer("coins")
                }
                let kept = try #require(truth)
                #expect(kept == coins || kept == coins - 1, "message \(number)")
                coins = kept
            }
            rig.proxy.pass()
            // The next cut meets a connection that knows its statements.
            _ = try await Self.work(rig.shelf)
            coins += 1
        }

        #expect(unknown > 0)
        let takings = Statement("takings.count", "SELECT count(*) AS n FROM takings")
        let count = try await rig.truth.read { try $0.first(takings)?.integer("n") }
        #expect(count == coins)
        await rig.close()
    }

    @Test func `a read cut anywhere is asked again, unheard`() async throws {
        let rig = try await PostgresRig()
        try await rig.shelf.putJar(1, "a")
        _ = try await rig.shelf.count()
        rig.proxy.pass()
        _ = try await rig.shelf.count()

        for number in 1...rig.proxy.messages {
            rig.proxy.cut(message: number, .cutBefore)
            #expect(try await rig.shelf.count() == 1, "message \(number)")
            rig.proxy.pass()
            _ = try await rig.shelf.count()
        }
        await rig.close()
    }
}
