// SPDX-License-Identifier: Apache-2.0

import Storage
import StoragePostgres
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Ledger

/// How often a use case waits for PostgreSQL, and for how many statements.
/// docs/ARCHITECTURE.md has the table.
@Suite(.timeLimit(.minutes(5))) struct RoundTripTests {
    /// A class, because the database shares it.
    private final class Counter: StorageObserver {
        private let state = Mutex((trips: 0, statements: 0, commits: 0))

        func didRun(_ statement: Statement) { state.withLock { $0.statements += 1 } }
        func didCommit() { state.withLock { $0.commits += 1 } }
        func didRoundTrip() { state.withLock { $0.trips += 1 } }
        func reset() { state.withLock { $0 = (0, 0, 0) } }

        var words: String {
            state.withLock {
                "\($0.trips) trips, \($0.statements) statements, \($0.commits) commits"
            }
        }
    }

    @Test func `each use case keeps to its round trips and statements`() async throws {
        let counter = Counter()
        let database = PostgresDatabase(
            try await PostgresCluster.shared().conninfo,
            options: PostgresOptions(connections: 1, waitMilliseconds: 60_000, observer: counter))
        let book = try await Book.open(
            storage: try await database.schema("ledger_trips", migrations: Ledger.migrations))
        /// Once before, so that the connection has its statements prepared.
        func cost(_ work: (Int) async throws -> Void) async throws -> String {
            try await work(1)
            counter.reset()
            try await work(2)
            return counter.words
        }

        let costs = [
            "take": try await cost { try await book.take($0) },
            "take again": try await cost { _ in try await book.take(1) },
            "redeem": try await cost { try await book.redeem("order-\($0)", id: $0) },
            "redeem again": try await cost { _ in try await book.redeem("order-1", id: 1) },
            "unspent": try await cost { _ in _ = try await book.unspent() },
            "notification": try await cost {
                _ = try await book.ledger.take(
                    try Book.notification(try Book.signed(10 + $0)))
            },
        ]

        #expect(
            costs == [
                "take": "6 trips, 4 statements, 1 commits",
                "take again": "2 trips, 1 statements, 0 commits",
                "redeem": "7 trips, 6 statements, 1 commits",
                "redeem again": "2 trips, 1 statements, 0 commits",
                "unspent": "2 trips, 1 statements, 0 commits",
                "notification": "5 trips, 3 statements, 1 commits",
            ])
        await database.close()
    }
}
