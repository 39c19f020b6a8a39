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
        try await pair().one
    }

    /// One database as two processes have it open; where it is one process's
    /// alone, both are the same.
    static func pair() async throws -> (one: any Storage, other: any Storage) {
        guard isOnPostgres else {
            let storage = try await SQLiteStorage.open(
                file: nil, migrations: Ledger.migrations,
                options: SQLiteOptions(runsWritesTwice: true))
            return (storage, storage)
        }
        let (one, other) = try await processes.value
        let kind = UsedSchemas.Kind(
            migrations: Ledger.migrations,
            conninfo: try await PostgresCluster.shared().conninfo)
        let loan = LentStorage.Loan(UsedSchemas.lend(kind))
        return (
            LentStorage(
                try await one.schema(loan.schema.name, migrations: Ledger.migrations), loan),
            LentStorage(
                try await other.schema(loan.schema.name, migrations: Ledger.migrations), loan)
        )
    }

    /// The connections of two processes, shared by all tests.
    private static let processes = Task {
        let conninfo = try await PostgresCluster.shared().conninfo
        let options = PostgresOptions(
            connections: 8, waitingMax: 10_000, waitMilliseconds: Patience.milliseconds,
            lockMilliseconds: Patience.milliseconds, runsWritesTwice: true)
        return (
            PostgresDatabase(conninfo, options: options),
            PostgresDatabase(conninfo, options: options)
        )
    }
}
