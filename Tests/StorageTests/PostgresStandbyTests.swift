// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StoragePostgres
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A server that waits for a standby with every commit, and what is answered
/// from a commit that the standby lacks: it can be seen once the server process
/// that waited is gone.
@Suite(.unforgiven, .serialized, .timeLimit(.minutes(5))) struct PostgresStandbyTests {
    /// How a server process that waits for the standby ends.
    enum End: String, CaseIterable, Sendable {
        case terminated, crashed
    }

    /// A cluster of this suite's own: the setting is the whole server's.
    private static let cluster = Task { try await PostgresCluster() }

    /// A standby called `mate`: it keeps the log, synced, as far as it lives.
    private struct Standby {
        let process: ChildProcess
        let folder: TemporaryFolder

        init(_ cluster: PostgresCluster, name: String = "mate") throws {
            folder = try temporaryFolder("standby")
            let program = try #require(Self.program)
            process = try ChildProcess([
                program, "-D", folder.path, "--synchronous", "--no-loop", "--no-password", "-s",
                "1", "-d", cluster.conninfo + " application_name=\(name)",
            ])
        }

        private static var program: String? {
            let root = "/usr/lib/postgresql"
            let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
            return versions.sorted { $0.localizedStandardCompare($1) == .orderedAscending }
                .map { "\(root)/\($0)/bin/pg_receivewal" }
                .last { FileManager.default.isExecutableFile(atPath: $0) }
        }
    }

    private func other(
        _ rig: PostgresRig, _ milliseconds: Int = 1000, connections: Int = 4
    ) -> PostgresDatabase {
        PostgresDatabase(
            rig.proxy.conninfo,
            options: PostgresOptions(
                connections: connections, callMilliseconds: milliseconds, graceMilliseconds: 200))
    }

    private func rig() async throws -> PostgresRig {
        let rig = try await PostgresRig(
            PostgresOptions(connections: 4, callMilliseconds: 60_000), cluster: Self.cluster.value)
        try await setStandby("", rig)
        return rig
    }

    /// Sets which standby commits wait for, and waits until the server knows:
    /// it is asked where no answer waits for a standby.
    private func setStandby(_ name: String, _ rig: PostgresRig) async throws {
        try await setStandby(name, rig.direct, rig.truth)
    }

    private func setStandby(
        _ name: String, _ direct: PostgresDatabase, _ truth: PostgresStorage
    ) async throws {
        try await direct.outsideTransactions(
            "ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try await direct.outsideTransactions("SELECT pg_reload_conf()")
        let setting = Statement(
            "setting", "SELECT current_setting('synchronous_standby_names') AS name")
        try await until("the server took its setting") {
            try await truth.read { try $0.first(setting)?.text("name") } == name
        }
        // The process that lets commits wait has read it too when this is done.
        try await direct.outsideTransactions("CHECKPOINT")
    }

    private func untilStreaming(_ rig: PostgresRig) async throws {
        let streaming = Statement(
            "streaming",
            "SELECT count(*) AS n FROM pg_stat_replication WHERE sync_state = 'sync'")
        try await until("a standby that streams") {
            try await rig.truth.read { try $0.first(streaming)?.integer("n") } == 1
        }
    }

    private func end(_ end: End, _ rig: PostgresRig) async throws {
        switch end {
        case .terminated:
            let terminate = Statement(
                "terminate",
                "SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity "
                    + "WHERE wait_event = 'SyncRep'")
            _ = try await rig.truth.read { try $0.query(terminate, []) }
        case .crashed: try await Self.cluster.value.restart(SIGQUIT)
        }
        await until("the commit can be seen") {
            (try? await rig.truth.count()) == 1
        }
    }

    /// A jar that the server has and the standby lacks.
    private func putLocally(_ ending: End, _ rig: PostgresRig) async throws {
        try await setStandby("nobody", rig)
        let task = Task { try await fault { try await rig.shelf.putJar(1, "a") } }
        try await rig.until("wait_event = 'SyncRep'")
        try await end(ending, rig)
        #expect(try await task.value?.code == .outcomeUnknown)
    }

    private struct Known: Error {}

    @Test(arguments: End.allCases)
    func `what a standby may lack is not answered, by whichever process`(
        end: End
    ) async throws {
        let rig = try await rig()
        try await putLocally(end, rig)
        let other = other(rig)
        let shelf = try await other.schema(rig.schema, migrations: Shelf.migrations)

        let read = try await fault { try await shelf.count() }
        let repeated = try await fault {
            try await shelf.write { try $0.first(Shelf.insert, Shelf.values(1, "a")) == nil }
        }
        // A use case that finds its work done, and leaves the write by throwing.
        let known = try await fault {
            try await shelf.write { writing in
                if try writing.first(Shelf.count)?.integer("n") == 1 { throw Known() }
            }
        }

        for met in [read, repeated, known] {
            #expect(met?.code == .unavailable, "\(met?.description ?? "an answer")")
            #expect(met?.reason.contains("standby") == true)
        }
        // The commit counts once nobody waits for that standby any more.
        try await setStandby("", rig)
        #expect(try await shelf.count() == 1)
        await other.close()
        await rig.close()
    }

    @Test func `once the standby has it, it is answered`() async throws {
        let rig = try await rig()
        try await putLocally(.terminated, rig)
        let other = other(rig, 60_000)
        let shelf = try await other.schema(rig.schema, migrations: Shelf.migrations)
        let reading = Task { try await shelf.count() }
        try await rig.until("wait_event = 'SyncRep'")

        let standby = try Standby(try await Self.cluster.value, name: "nobody")

        #expect(try await reading.value == 1)
        withExtendedLifetime(standby) {}
        await other.close()
        try await setStandby("", rig)
        await rig.close()
    }

    @Test func `a process reads what it has committed itself, also while the standby is away`()
        async throws
    {
        let rig = try await rig()
        try await setStandby("mate", rig)
        let short = other(rig, 5000, connections: 1)
        let shelf = try await short.schema(rig.schema, migrations: Shelf.migrations)
        let standby = try Standby(try await Self.cluster.value)
        try await untilStreaming(rig)
        try await shelf.putJar(1, "a")
        let before = try await transactions(rig.truth)
        #expect(try await shelf.count() == 1)
        #expect(try await transactions(rig.truth) == before)
        standby.process.kill(SIGKILL)
        _ = await standby.process.outcome()

        #expect(try await shelf.count() == 1)

        await short.close()
        try await setStandby("", rig)
        await rig.close()
    }

    /// The other server's numbers are lower, as after a restore. They name other
    /// transactions, of which its standby has none.
    @Test func `what is durable on one server proves nothing on another`() async throws {
        let rig = try await rig()
        try await setStandby("mate", rig)
        let standby = try Standby(try await Self.cluster.value)
        try await untilStreaming(rig)
        let short = other(rig, connections: 1)
        let shelf = try await short.schema(rig.schema, migrations: Shelf.migrations)
        let far = try await PostgresCluster()
        let beside = PostgresDatabase(
            far.conninfo + " options='-c synchronous_commit=local'",
            options: PostgresOptions(connections: 2))
        let farTruth = try await beside.schema(rig.schema, migrations: Shelf.migrations)
        try await farTruth.putJar(1, "a")
        try await setStandby("nobody", beside, farTruth)
        let farNext = try await transactions(farTruth)
        for jar in 1... {
            try await shelf.putJar(Int64(jar), "a")
            if try await transactions(rig.truth) > farNext + 10 { break }
        }

        rig.proxy.lead(to: far)
        rig.proxy.cut(message: 1, .cutBefore)
        let met = try await fault { try await shelf.count() }

        #expect(met?.code == .unavailable, "\(met?.description ?? "an answer")")
        #expect(met?.reason.contains("standby") == true)
        try await setStandby("", beside, farTruth)
        #expect(try await shelf.count() == 1)
        withExtendedLifetime(standby) {}
        await short.close()
        await beside.close()
        try await setStandby("", rig)
        await rig.close()
    }

    @Test func `readers share what proves a commit durable`() async throws {
        let rig = try await rig()
        try await rig.truth.putJar(1, "a")
        try await setStandby("mate", rig)
        let standby = try Standby(try await Self.cluster.value)
        try await untilStreaming(rig)
        let other = other(rig, 60_000)
        let shelf = try await other.schema(rig.schema, migrations: Shelf.migrations)
        let before = try await transactions(rig.truth)

        try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<40 { group.addTask { try await shelf.count() } }
            for try await count in group { #expect(count == 1) }
        }

        // One at best; a connection that is made meanwhile begins anew.
        let spent = try await transactions(rig.truth) - before
        #expect((1...8).contains(spent), "\(spent) for 40 reads")
        withExtendedLifetime(standby) {}
        await other.close()
        try await setStandby("", rig)
        await rig.close()
    }

    @Test(arguments: [CuttingProxy.Fate.cutBefore, .cutDuring, .cutAfter])
    func `a read that is cut anywhere, also in the commit that confirms it, is asked again`(
        fate: CuttingProxy.Fate
    ) async throws {
        let rig = try await rig()
        try await setStandby("mate", rig)
        let standby = try Standby(try await Self.cluster.value)
        try await untilStreaming(rig)
        let other = other(rig, 60_000, connections: 1)
        let shelf = try await other.schema(rig.schema, migrations: Shelf.migrations)
        // Each sees a commit that this process has not confirmed yet.
        func readAnew(_ jars: Int64) async throws {
            try await rig.truth.putJar(jars, "jar \(jars)")
            #expect(try await shelf.count() == jars)
        }
        try await readAnew(1)
        rig.proxy.pass()
        try await readAnew(2)
        let messages = rig.proxy.messages
        #expect(messages > 6, "a read, and a commit")

        for number in 1...messages {
            rig.proxy.cut(message: number, fate)
            try await readAnew(Int64(2 * number + 1))
            rig.proxy.pass()
            try await readAnew(Int64(2 * number + 2))
        }

        withExtendedLifetime(standby) {}
        await other.close()
        try await setStandby("", rig)
        await rig.close()
    }

    /// The number of the next transaction that writes.
    private func transactions(_ truth: PostgresStorage) async throws -> Int64 {
        let next = Statement(
            "next",
            "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) AS n")
        return try await truth.read { try $0.first(next)?.integer("n") ?? -1 }
    }
}
