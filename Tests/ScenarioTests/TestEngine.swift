// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Shop
import Storage
import StoragePostgres
import StorageSQLite
import Synchronization
import TestSupport

/// Databases on the engine under test: in memory, or with
/// `SHOPKEEPER_TEST_ENGINE=postgres` schemas of the run's cluster.
struct TestEngine: Sendable {
    static let isOnPostgres =
        ProcessInfo.processInfo.environment["SHOPKEEPER_TEST_ENGINE"] == "postgres"
    /// `SHOPKEEPER_TEST_PARTITIONS` splits the tables into so many parts there.
    private static let partitions = ProcessInfo.processInfo
        .environment["SHOPKEEPER_TEST_PARTITIONS"].flatMap(Int.init)
    private static let worlds = Atomic<Int>(0)
    /// The connections of all worlds of this process.
    private static let connected = Task {
        PostgresDatabase(
            try await PostgresCluster.shared().conninfo,
            options: PostgresOptions(
                waitingMax: 10_000, waitMilliseconds: Patience.milliseconds,
                lockMilliseconds: Patience.milliseconds, partitions: partitions))
    }

    /// Worlds whose schemas were emptied, to be used again: making schemas
    /// takes longer than most of what happens in them.
    private static let emptied = Mutex<[Int]>([])

    private let number: Int
    private let isOnPostgres: Bool

    /// Says which engine it is, whatever the run's is.
    init(isOnPostgres: Bool = Self.isOnPostgres) {
        self.isOnPostgres = isOnPostgres
        let used = isOnPostgres ? Self.emptied.withLock { $0.popLast() } : nil
        number = used ?? Self.worlds.add(1, ordering: .relaxed).newValue
    }

    /// Empties the databases of this world, for another one to use.
    func giveBack(_ databases: some Sequence<any Storage>) async throws {
        guard isOnPostgres else { return }
        for database in databases {
            try await ArchiveContents.clear(database, PostgresStorage.dialect)
        }
        Self.emptied.withLock { $0.append(number) }
    }

    /// For copies of what ``places`` hold.
    var dialect: Dialect { isOnPostgres ? PostgresStorage.dialect : SQLiteStorage.dialect }

    /// A database of this world.
    func storage(_ name: String, _ migrations: [Migration]) async throws -> any Storage {
        guard isOnPostgres else {
            return try await SQLiteStorage.open(file: nil, migrations: migrations)
        }
        return try await Self.connected.value.schema(schema(name), migrations: migrations)
    }

    /// A store's databases, which outlive the store.
    var places: StoragePlaces? {
        guard isOnPostgres else { return nil }
        return StoragePlaces(
            registry: { try await self.storage("registry", $0) },
            realm: { try await self.storage("realm" + $0, $1) },
            deleteRealm: { try await Self.connected.value.dropSchema(schema("realm" + $0)) },
            isOneProcess: true)
    }

    /// What `--database` takes for a store of its own; nil: none, in files.
    static func database() async throws -> String? {
        guard isOnPostgres else { return nil }
        let conninfo = try await PostgresCluster.shared().conninfo
        let name = "kills_\(worlds.add(1, ordering: .relaxed).newValue)"
        let made = try await ChildProcess.run(
            ["psql", "-q", conninfo, "-c", "CREATE DATABASE \(name)"])
        guard made.status == 0 else { throw PlaceError(made.errors) }
        return conninfo.replacingOccurrences(of: "dbname=postgres", with: "dbname=\(name)")
    }

    private func schema(_ name: String) -> String {
        "s\(number)_" + name.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}
