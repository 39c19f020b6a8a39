// SPDX-License-Identifier: Apache-2.0

import Storage
import StoragePostgres
import Synchronization
import TestSupport

/// A shelf on PostgreSQL behind a proxy that cuts, and one beside it whose
/// way is never cut.
struct PostgresRig: Sendable {
    let proxy: CuttingProxy
    let database: PostgresDatabase
    let shelf: PostgresStorage
    let schema: String
    let direct: PostgresDatabase
    let truth: PostgresStorage

    /// `cluster`: the run's own where none is named. What goes past the proxy
    /// waits for no standby.
    init(
        _ options: PostgresOptions = PostgresOptions(connections: 1),
        cluster: PostgresCluster? = nil
    ) async throws {
        let shared = cluster == nil ? try await PostgresCluster.shared() : cluster
        guard let cluster = shared else { throw PlaceError("no cluster") }
        schema = Engine.freshSchema()
        direct = PostgresDatabase(
            cluster.conninfo + " options='-c synchronous_commit=local'",
            options: PostgresOptions(connections: 2))
        truth = try await direct.schema(schema, migrations: Shelf.migrations)
        proxy = try CuttingProxy(to: cluster)
        database = PostgresDatabase(proxy.conninfo, options: options)
        shelf = try await database.schema(schema, migrations: Shelf.migrations)
    }

    func close() async {
        proxy.release()
        await database.close()
        await direct.close()
    }

    /// Waits until some server process of the proxied shelf does this.
    func until(_ condition: String) async throws {
        let statement = Statement(
            "activity", "SELECT count(*) AS n FROM pg_stat_activity WHERE \(condition)")
        try await TestSupport.until("a server process with \(condition)") {
            try await truth.read { try $0.first(statement)?.integer("n") ?? 0 } > 0
        }
    }

    static let sleep = Statement("sleep", "SELECT CAST(pg_sleep(600) AS TEXT) AS slept")

    /// A statement that runs for very long, and tells by its text whose it is.
    func sleeping(_ mark: String) -> Statement {
        Statement("sleep", "SELECT CAST(pg_sleep(600) AS TEXT) AS slept /* \(schema) \(mark) */")
    }

    func untilSleeping(_ mark: String) async throws {
        try await until(
            "query LIKE '%/* \(schema) \(mark) */%' AND state = 'active' "
                + "AND wait_event = 'PgSleep'")
    }
}

/// Counts what happens in several tasks. A class, because they share it.
final class Count: Sendable {
    private let state = Mutex(0)

    var value: Int { state.withLock { $0 } }

    /// The number of this time, from 1.
    @discardableResult
    func add() -> Int {
        state.withLock { count in
            count += 1
            return count
        }
    }
}
