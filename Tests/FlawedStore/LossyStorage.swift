// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

#if DEBUG
    @testable import StoragePostgres
#else
    import StoragePostgres
#endif

/// A schema whose driver loses the error of an additional statement at the end
/// of every fifth write. The server then rolls the transaction back, answers
/// COMMIT with ROLLBACK, and reports success.
///
/// The port itself cannot do that, because it remembers every statement's
/// error. So this bypasses it, which only debug builds allow.
final class LossyStorage: Storage {
    private let base: PostgresStorage
    private let database: PostgresDatabase
    private let schema: String
    private let checksCommitTag: Bool
    private let isArmed = Atomic(false)
    private let writes = Atomic(0)

    init(
        base: PostgresStorage, database: PostgresDatabase, schema: String, checksCommitTag: Bool
    ) {
        self.base = base
        self.database = database
        self.schema = schema
        self.checksCommitTag = checksCommitTag
    }

    /// A customer writes: from now on errors are lost. The start is not
    /// affected.
    func didBegin() { isArmed.store(true, ordering: .relaxed) }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await base.read(body)
    }

    func wake(_ word: String) { base.wake(word) }
    func wakes() -> AsyncStream<Wake> { base.wakes() }
    func close() async throws { try await base.close() }

    #if DEBUG
        func write<Answer: Sendable>(
            _ body: @escaping @Sendable (any Writing) throws -> Answer
        ) async throws -> Answer {
            let losesError = takesTurn()
            let checksCommitTag = checksCommitTag
            return try await database.run(schema: schema) { runner in
                var runner = runner
                runner.checksCommitTag = checksCommitTag
                let connection = runner.connection
                let answer = try runner.write { writing in
                    let answer = try body(writing)
                    if losesError { try Self.loseError(connection) }
                    return answer
                }
                // Only the sale is to be forgotten, not the schema's path.
                if losesError { connection.wasRolledBack() }
                return answer
            }
        }

        private func takesTurn() -> Bool {
            isArmed.load(ordering: .relaxed)
                && writes.add(1, ordering: .relaxed).newValue.isMultiple(of: 5)
        }

        /// Reads the answers of the body's statements first, so that none of
        /// its own errors is lost.
        private static func loseError(_ connection: PostgresConnection) throws {
            _ = try connection.answers()
            try connection.send("SELECT 1 / 0")
            do { _ = try connection.answers() } catch is StatementFailed {}
        }
    #else
        func write<Answer: Sendable>(
            _ body: @escaping @Sendable (any Writing) throws -> Answer
        ) async throws -> Answer {
            throw StorageFault(.unavailable, "errors are lost in builds for debugging alone")
        }
    #endif
}
