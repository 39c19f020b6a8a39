// SPDX-License-Identifier: Apache-2.0

import Foundation
import Shop
import Storage
import StoragePostgres
import StorageSQLite
import Synchronization
import TestSupport

/// Databases on the engine under test: in memory, or with
/// `SHOPKEEPER_TEST_ENGINE=postgres` schemas of the run's cluster.
final class TestEngine: Sendable {
    static let isOnPostgres =
        ProcessInfo.processInfo.environment["SHOPKEEPER_TEST_ENGINE"] == "postgres"
    /// `SHOPKEEPER_TEST_PARTITIONS` splits the tables into so many parts there.
    private static let partitions = ProcessInfo.processInfo
        .environment["SHOPKEEPER_TEST_PARTITIONS"].flatMap(Int.init)
    private static let made = Atomic<Int>(0)

    private let isOnPostgres: Bool
    /// Of this world alone.
    private let lent = Mutex<LentDatabase?>(nil)

    /// Says which engine it is, whatever the run's is.
    init(isOnPostgres: Bool = TestEngine.isOnPostgres) {
        self.isOnPostgres = isOnPostgres
    }

    /// For copies of what ``places`` hold.
    var dialect: Dialect { isOnPostgres ? PostgresStorage.dialect : SQLiteStorage.dialect }

    /// A database of this world.
    func storage(_ name: String, _ migrations: [Migration]) async throws -> any Storage {
        guard isOnPostgres else {
            return try await SQLiteStorage.open(file: nil, migrations: migrations)
        }
        let conninfo = try await PostgresCluster.shared().conninfo
        return try await database(conninfo).storage(name, migrations)
    }

    private func database(_ conninfo: String) -> LentDatabase {
        lent.withLock { lent in
            let database =
                lent
                ?? LentDatabase(
                    conninfo, for: "scenarios",
                    PostgresOptions(
                        connections: 2, waitingMax: 10_000,
                        waitMilliseconds: Patience.milliseconds,
                        lockMilliseconds: Patience.milliseconds, partitions: Self.partitions))
            lent = database
            return database
        }
    }

    /// A store's databases, which outlive the store.
    var places: StoragePlaces? {
        guard isOnPostgres else { return nil }
        return StoragePlaces(
            registry: { try await self.storage("registry", $0) },
            realm: { try await self.storage("realm" + $0, $1) },
            deleteRealm: { try await self.drop("realm" + $0) },
            isOneProcess: true)
    }

    private func drop(_ name: String) async throws {
        try await lent.withLock { $0 }?.drop(name)
    }

    /// What `--database` takes for a store of its own; nil: none, in files.
    static func database() async throws -> String? {
        guard isOnPostgres else { return nil }
        let conninfo = try await PostgresCluster.shared().conninfo
        let name = "kills_\(made.add(1, ordering: .relaxed).newValue)"
        let made = try await ChildProcess.run(
            ["psql", "-q", conninfo, "-c", "CREATE DATABASE \(name)"])
        guard made.status == 0 else { throw PlaceError(made.errors) }
        return conninfo.replacingOccurrences(of: "dbname=postgres", with: "dbname=\(name)")
    }
}
