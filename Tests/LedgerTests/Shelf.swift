// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StoragePostgres
import StorageSQLite
import TestSupport

@testable import Ledger

/// Where books stand: in memory, or with `SHOPKEEPER_TEST_ENGINE=postgres` in
/// a schema each of the run's cluster. Every write is run twice.
enum Shelf {
    static let isOnPostgres =
        ProcessInfo.processInfo.environment["SHOPKEEPER_TEST_ENGINE"] == "postgres"

    /// A database of the test's own.
    static func storage() async throws -> any Storage {
        guard isOnPostgres else { return try await inMemory() }
        return try await lent().storage("ledger", Ledger.migrations)
    }

    /// One database as two processes have it open; where it is one process's
    /// alone, both are the same.
    static func pair() async throws -> (one: any Storage, other: any Storage) {
        guard isOnPostgres else {
            let storage = try await inMemory()
            return (storage, storage)
        }
        let lent = try await lent()
        let one = try await lent.storage("ledger", Ledger.migrations)
        let schema = lent.schema(of: "ledger") ?? ""
        return (one, try await other.value.schema(schema, migrations: Ledger.migrations))
    }

    private static func inMemory() async throws -> any Storage {
        try await SQLiteStorage.open(
            file: nil, migrations: Ledger.migrations,
            options: SQLiteOptions(runsWritesTwice: true))
    }

    private static func lent() async throws -> LentDatabase {
        LentDatabase(try await PostgresCluster.shared().conninfo, for: "ledger", options)
    }

    /// The connections of the second process, shared by all tests.
    private static let other = Task {
        PostgresDatabase(try await PostgresCluster.shared().conninfo, options: options)
    }

    private static let options = PostgresOptions(
        connections: 8, waitingMax: 10_000, waitMilliseconds: Patience.milliseconds,
        lockMilliseconds: Patience.milliseconds, runsWritesTwice: true)
}
