// SPDX-License-Identifier: Apache-2.0

import Dispatch
import GRDB
public import Storage
import Synchronization

/// A SQLite database: a file in WAL mode whose every commit is synced, or
/// memory. One process may hold a file: see ``DirectoryLock``.
///
/// Closures run on GRDB's queues, never on Swift's cooperative threads.
/// Cancelling the task that called changes nothing: a write that was asked
/// for runs to its end, so that its outcome is known.
public final class SQLiteStorage: Storage {
    private let database: any DatabaseWriter
    private let options: SQLiteOptions
    private let isClosed = Mutex(false)

    /// Opens a file (made with its folder, modes 0600 and 0700) or, without
    /// one, memory; proves `synchronous=FULL` on a file by reading it back;
    /// migrates.
    ///
    /// Throws ``StorageFault``: `unavailable` when the file cannot be opened,
    /// `unreadable` when it is damaged, another program's, or newer than
    /// `migrations`.
    public static func open(
        file: String?, migrations: [Migration], options: SQLiteOptions = SQLiteOptions()
    ) async throws -> SQLiteStorage {
        try await offCooperativeThreads {
            do {
                let database = try connect(file: file, options: options)
                do {
                    try database.writeWithoutTransaction { connection in
                        try Migrator(connection).migrate(to: migrations)
                    }
                } catch {
                    try? database.close()
                    throw error
                }
                return SQLiteStorage(database, options)
            } catch {
                throw fault(error, in: "opening \(file ?? "a database in memory")")
            }
        }
    }

    private init(_ database: any DatabaseWriter, _ options: SQLiteOptions) {
        self.database = database
        self.options = options
    }

    public func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try checkOpen()
        let observer = options.observer
        return try await withCheckedThrowingContinuation { continuation in
            database.asyncRead { connection in
                let answer = Result {
                    try self.checkOpen()
                    let transaction = SQLiteTransaction(try connection.get(), observer)
                    defer { transaction.end() }
                    let answer = try body(transaction)
                    try transaction.checkSound()
                    return answer
                }
                continuation.resume(with: answer.mapError { fault($0, in: "reading") })
            }
        }
    }

    public func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try checkOpen()
        let options = options
        return try await withCheckedThrowingContinuation { continuation in
            database.asyncWriteWithoutTransaction { connection in
                let answer = Result {
                    // GRDB does not bear being asked after it was closed.
                    try self.checkOpen()
                    return try Self.commit(body, on: connection, options)
                }
                continuation.resume(with: answer)
            }
        }
    }

    /// Closes after the transaction that is running; those that wait for
    /// their turn fail and have done nothing.
    public func close() async throws {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        guard !wasClosed else { return }
        let database = database
        try await Self.offCooperativeThreads {
            do { try database.close() } catch { throw fault(error, in: "closing") }
        }
    }

    private func checkOpen() throws {
        guard !isClosed.withLock({ $0 }) else {
            throw StorageFault(.unavailable, "this storage was closed")
        }
    }

    private static func commit<Answer>(
        _ body: (any Writing) throws -> Answer, on connection: Database, _ options: SQLiteOptions
    ) throws -> Answer {
        var answer: Answer?
        var isCommitting = false
        do {
            try connection.inTransaction(.immediate) {
                if options.runsWritesTwice { try rehearse(body, on: connection) }
                answer = try run(body, on: connection, options.observer)
                isCommitting = true
                return .commit
            }
        } catch {
            throw fault(error, in: "a transaction", isCommitting: isCommitting)
        }
        guard let answer else { throw StorageFault(.engine, "a transaction gave no answer") }
        options.observer?.didCommit()
        return answer
    }

    private static func rehearse<Answer>(
        _ body: (any Writing) throws -> Answer, on connection: Database
    ) throws {
        try connection.inSavepoint {
            _ = try run(body, on: connection, nil)
            return .rollback
        }
    }

    private static func run<Answer>(
        _ body: (any Writing) throws -> Answer, on connection: Database,
        _ observer: (any StorageObserver)?
    ) throws -> Answer {
        let transaction = SQLiteTransaction(connection, observer)
        defer { transaction.end() }
        let answer = try body(transaction)
        try transaction.checkSound()
        return answer
    }

    private static func offCooperativeThreads<Answer: Sendable>(
        _ work: @escaping @Sendable () throws -> Answer
    ) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
        }
    }
}
