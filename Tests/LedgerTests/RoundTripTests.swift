// SPDX-License-Identifier: Apache-2.0

import Commerce
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
        let storage = try await database.schema("ledger_trips", migrations: Ledger.migrations)
        let book = try await Book.open(storage: storage)
        let granting = try await Book.open(
            storage: storage,
            grants: try GrantRules([
                "coins": [
                    Grant(name: "coins", kind: .credits(perUnit: 9)),
                    Grant(name: "pro", kind: .entitlement(.forever)),
                ]
            ]))
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
            "take with two grants": try await cost {
                try await granting.prove(20 + $0, account: "blob")
            },
            "spend": try await cost { try await granting.spend("spend-\($0)", 1) },
            "spend again": try await cost { _ in try await granting.spend("spend-1", 1) },
            "entitlements": try await cost { _ in
                _ = try await granting.ledger.entitlements(account: "blob")
            },
            "entitlements after a change": try await cost {
                try await granting.prove(30 + $0, account: "blob")
                counter.reset()
                _ = try await granting.ledger.entitlements(account: "blob")
            },
            "balances": try await cost { _ in _ = try await granting.balance() },
            "refund": try await cost {
                try await granting.prove(20 + $0, account: nil, signed: 3, revoked: 2)
            },
        ]

        #expect(
            costs == [
                "take": "7 trips, 6 statements, 1 commits",
                "take again": "2 trips, 1 statements, 0 commits",
                "redeem": "3 trips, 5 statements, 1 commits",
                // A commit in which nothing is written waits for nothing.
                "redeem again": "2 trips, 1 statements, 1 commits",
                "unspent": "2 trips, 1 statements, 0 commits",
                "notification": "7 trips, 7 statements, 1 commits",
                "take with two grants": "11 trips, 12 statements, 1 commits",
                "refund": "10 trips, 10 statements, 1 commits",
                "spend": "3 trips, 6 statements, 1 commits",
                "spend again": "2 trips, 1 statements, 1 commits",
                "entitlements": "1 trips, 1 statements, 0 commits",
                "entitlements after a change": "3 trips, 3 statements, 0 commits",
                "balances": "1 trips, 1 statements, 0 commits",
            ])
        await database.close()
    }
}
