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

/// Servers that are restarted, and servers that may forget.
@Suite(.timeLimit(.minutes(5))) struct PostgresServerTests {
    @Test func `a server restarted under load loses nothing that was acknowledged`()
        async throws
    {
        let cluster = try await PostgresCluster()
        let database = PostgresDatabase(
            cluster.conninfo, options: PostgresOptions(connections: 4))
        let shelf = try await database.schema("load", migrations: Shelf.migrations)
        let done = Count()

        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 1...60 {
                        try await put(Int64(writer * 1000 + number), shelf)
                        done.add()
                    }
                }
            }
            group.addTask {
                for (threshold, signal) in [(40, SIGQUIT), (120, SIGINT)] {
                    await until("\(threshold) writes done", seen: "\(done.value)") {
                        done.value >= threshold
                    }
                    try cluster.restart(signal)
                }
            }
            try await group.waitForAll()
        }

        #expect(try await shelf.count() == 240)
        await database.close()
        withExtendedLifetime(cluster) {}
    }

    /// Asks again under the same id until the server has an answer.
    private func put(_ id: Int64, _ shelf: PostgresStorage) async throws {
        while true {
            try Task.checkCancellation()
            do { return try await shelf.putJar(id, "jar \(id)") } catch let fault as StorageFault {
                let mayAsk: [StorageFault.Code] = [.unavailable, .outcomeUnknown, .busy]
                try #require(mayAsk.contains(fault.code), "\(fault)")
            }
        }
    }

    /// Where somebody may tell a server to forget, in SQL and in words.
    enum Place: String, CaseIterable, Sendable {
        case role, database, roleInDatabase, options, service
    }

    @Test(arguments: Place.allCases)
    func `production refuses a server with durability off, wherever it is set`(
        place: Place
    ) async throws {
        let cluster = try await PostgresCluster.shared()
        let name = "forgets_\(place.rawValue.lowercased())"
        let admin = PostgresDatabase(cluster.conninfo, options: PostgresOptions(connections: 1))
        let off = "SET synchronous_commit = off"
        try await admin.outsideTransactions("CREATE ROLE \(name) LOGIN SUPERUSER")
        try await admin.outsideTransactions("CREATE DATABASE \(name)")
        var conninfo = "host=\(cluster.folder) user=\(name) dbname=\(name)"
        #expect(try await forgets(conninfo) == false)

        switch place {
        case .role: try await admin.outsideTransactions("ALTER ROLE \(name) \(off)")
        case .database: try await admin.outsideTransactions("ALTER DATABASE \(name) \(off)")
        case .roleInDatabase:
            try await admin.outsideTransactions("ALTER ROLE \(name) IN DATABASE \(name) \(off)")
        case .options: conninfo += " options='-c synchronous_commit=off'"
        case .service:
            let file = cluster.folder + "/services"
            try "[\(name)]\noptions=-c synchronous_commit=off\n"
                .write(toFile: file, atomically: true, encoding: .utf8)
            setenv("PGSERVICEFILE", file, 1)
            conninfo += " service=\(name)"
        }

        #expect(try await forgets(conninfo))
        await admin.close()
    }

    private func forgets(_ conninfo: String) async throws -> Bool {
        let database = PostgresDatabase(conninfo, options: PostgresOptions(connections: 1))
        let met = try await fault { try await database.proveDurable() }
        await database.close()
        #expect(met == nil || met?.reason.contains("synchronous_commit") == true)
        return met != nil
    }

    @Test func `a server without durability is refused with all reasons`() async throws {
        let cluster = try await PostgresCluster(settings: [
            "fsync=off", "full_page_writes=off", "synchronous_commit=local",
            "synchronous_standby_names=nobody",
        ])
        let database = PostgresDatabase(
            cluster.conninfo, options: PostgresOptions(connections: 1))

        let met = try await fault { try await database.proveDurable() }

        #expect(met?.code == .unavailable)
        for word in ["fsync", "full_page_writes", "standby"] {
            #expect(met?.reason.contains(word) == true, "\(word)")
        }
        await database.close()
        withExtendedLifetime(cluster) {}
    }

    @Test func `a server whose durability is switched off later is not used`() async throws {
        let cluster = try await PostgresCluster.shared()
        let admin = PostgresDatabase(cluster.conninfo, options: PostgresOptions(connections: 1))
        try await admin.outsideTransactions("CREATE ROLE forgets_later LOGIN SUPERUSER")
        let database = PostgresDatabase(
            "host=\(cluster.folder) user=forgets_later dbname=postgres",
            options: PostgresOptions(connections: 1))
        let shelf = try await database.schema(
            Engine.freshSchema(), migrations: Shelf.migrations)
        try await database.proveDurable()
        try await shelf.putJar(1, "a")

        try await admin.outsideTransactions(
            "ALTER ROLE forgets_later SET synchronous_commit = off")
        try await admin.outsideTransactions(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                + "WHERE usename = 'forgets_later'")

        var met = try await fault { try await shelf.putJar(2, "b") }
        // The write on the connection that was ended may not know what became of it.
        if met?.code == .outcomeUnknown {
            met = try await fault { try await shelf.putJar(2, "b") }
        }
        #expect(met?.code == .unavailable)
        #expect(met?.reason.contains("synchronous_commit") == true)
        await database.close()
        await admin.close()
    }
}
