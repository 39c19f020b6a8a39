// SPDX-License-Identifier: Apache-2.0

import Storage
import StoragePostgres
import TestSupport
import Testing

/// What is said of a commit of which the server's word did not come, or came
/// with a doubt.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PostgresCommitTests {
    @Test func `a COMMIT whose answer is lost is unknown, and holds`() async throws {
        let rig = try await PostgresRig()
        rig.proxy.obey { !$0.isToServer && $0.says("COMMIT") ? .cutBefore : .pass }

        let met = try await fault { try await rig.shelf.putJar(1, "a") }

        #expect(met?.code == .outcomeUnknown)
        #expect(try await rig.truth.count() == 1)
        await rig.close()
    }

    @Test func `a COMMIT that never arrived is unknown too, and does not hold`() async throws {
        let rig = try await PostgresRig()
        rig.proxy.obey { $0.isToServer && $0.says("COMMIT") ? .cutBefore : .pass }

        let met = try await fault { try await rig.shelf.putJar(1, "a") }

        #expect(met?.code == .outcomeUnknown)
        rig.proxy.pass()
        try await rig.shelf.putJar(1, "a")
        #expect(try await rig.truth.count() == 1)
        await rig.close()
    }

    @Test func `what is lost before COMMIT is run again, unheard`() async throws {
        let rig = try await PostgresRig()
        rig.proxy.obey { !$0.isToServer && $0.number == 3 ? .cutBefore : .pass }

        let coins = try await rig.shelf.write { transaction in
            _ = try transaction.query(Shelf.insert, Shelf.values(1, "a"))
            return try transaction.first(Shelf.add, [.integer(1)])?.integer("coins")
        }

        #expect(coins == 1)
        await rig.close()
    }

    /// A server whose standby is missing waits with every commit.
    @Test func `a commit whose wait for the standby is cancelled is unknown`() async throws {
        let rig = try await Self.withoutStandby(callMilliseconds: 60_000)

        let task = Task { try await fault { try await rig.shelf.putJar(1, "a") } }
        let cancel = Statement(
            "cancel",
            "SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity "
                + "WHERE wait_event = 'SyncRep'")
        try await rig.until("wait_event = 'SyncRep'")
        _ = try await rig.truth.read { try $0.query(cancel, []) }

        let met = try await task.value
        #expect(met?.code == .outcomeUnknown)
        #expect(met?.reason.contains("synchronous replication") == true)
        #expect(try await rig.truth.count() == 1)
        await rig.close()
    }

    @Test func `a commit that waits for a standby too long is unknown`() async throws {
        let rig = try await Self.withoutStandby(callMilliseconds: 500)

        let met = try await fault { try await rig.shelf.putJar(1, "a") }

        #expect(met?.code == .outcomeUnknown)
        // The server process still waits, and holds its locks.
        try await rig.until("wait_event = 'SyncRep'")
        await rig.close()
    }

    /// A cluster of their own: the setting is the whole server's.
    private static let cluster = Task {
        try await PostgresCluster(settings: ["synchronous_standby_names=nobody"])
    }

    private static func withoutStandby(callMilliseconds: Int) async throws -> PostgresRig {
        try await PostgresRig(
            PostgresOptions(
                connections: 1, callMilliseconds: callMilliseconds, graceMilliseconds: 200),
            cluster: try await cluster.value)
    }
}
