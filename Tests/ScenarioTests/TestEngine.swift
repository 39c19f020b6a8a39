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
    /// Of this world alone: the server looks through all prepared statements of each
    /// connection whenever a table is made.
    private let connected = Mutex<PostgresDatabase?>(nil)
    /// The schemas of this world's databases, by the databases' names.
    private let loans = Mutex<[String: LentStorage.Loan]>([:])

    /// Says which engine it is, whatever the run's is.
    init(isOnPostgres: Bool = TestEngine.isOnPostgres) {
        self.isOnPostgres = isOnPostgres
    }

    deinit {
        guard let database = connected.withLock({ $0 }) else { return }
        Task { await database.close() }
    }

    /// For copies of what ``places`` hold.
    var dialect: Dialect { isOnPostgres ? PostgresStorage.dialect : SQLiteStorage.dialect }

    /// A database of this world.
    func storage(_ name: String, _ migrations: [Migration]) async throws -> any Storage {
        guard isOnPostgres else {
            return try await SQLiteStorage.open(file: nil, migrations: migrations)
        }
        let conninfo = try await PostgresCluster.shared().conninfo
        let kind = UsedSchemas.Kind(migrations: migrations, conninfo: conninfo)
        let loan = loans.withLock { loans in
            let loan = loans[name] ?? LentStorage.Loan(UsedSchemas.lend(kind))
            loans[name] = loan
            return loan
        }
        let base = try await database(conninfo).schema(
            loan.schema.name, migrations: migrations)
        return LentStorage(base, loan)
    }

    private func database(_ conninfo: String) -> PostgresDatabase {
        connected.withLock { connected in
            let database =
                connected
                ?? PostgresDatabase(
                    conninfo,
                    options: PostgresOptions(
                        connections: 2, waitingMax: 10_000,
                        waitMilliseconds: Patience.milliseconds,
                        lockMilliseconds: Patience.milliseconds, partitions: Self.partitions))
            connected = database
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
        guard let loan = loans.withLock({ $0.removeValue(forKey: name) }) else { return }
        try await connected.withLock { $0 }?.dropSchema(loan.schema.name)
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
