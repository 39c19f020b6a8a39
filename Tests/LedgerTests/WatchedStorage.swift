// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

@testable import Ledger

/// A storage that finds commits which change what accounts may use, and do not count that as a
/// change of an original at their end.
final class WatchedStorage: Storage {
    private let storage: any Storage
    private let found = Mutex<Set<String>>([])

    init(_ storage: any Storage) { self.storage = storage }

    /// The statements after which no change was counted.
    var uncounted: Set<String> { found.withLock { $0 } }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await storage.read(body) }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try await storage.write { writing in
            let watched = WatchedWriting(writing)
            let answer = try body(watched)
            self.found.withLock { $0.formUnion(watched.uncounted) }
            return answer
        }
    }

    func close() async throws {}
}

/// A class, because a transaction is one. One thread uses it.
private final class WatchedWriting: Writing {
    private let writing: any Writing
    private(set) var uncounted: Set<String> = []
    /// Whether the account whose rows are moved now has no part in any original.
    private var hasNothing = false

    init(_ writing: any Writing) { self.writing = writing }

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        let rows = try writing.query(statement, values)
        if statement.name == Statement.Holdings.ofAccount.name { hasNothing = rows.isEmpty }
        if !rows.isEmpty { note(statement) }
        return rows
    }

    func execute(_ statement: Statement, _ values: [SQLValue]) throws {
        try writing.execute(statement, values)
        note(statement)
    }

    func databaseTime() throws -> Int64 { try writing.databaseTime() }

    private func note(_ statement: Statement) {
        if HoldingTests.counting.contains(statement.name) {
            uncounted = []
        } else if HoldingTests.changing.contains(statement.name),
            !(hasNothing && HoldingTests.ofWholeAccounts.contains(statement.name))
        {
            uncounted.insert(statement.name)
        }
    }
}
