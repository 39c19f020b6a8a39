// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Storage

/// What one thread keeps for its open connection: prepared statements, with the
/// numbers of their parameters and the names of their columns.
///
/// A class, because it owns objects that must be finalised. It is used on one
/// thread only.
final class SQLiteConnection {
    /// The most statements that are kept. Our statements are named constants
    /// and far fewer, so more would mean that code generates them.
    static let preparedMax = 1_000

    private let handle: OpaquePointer
    private var prepared: [String: PreparedStatement] = [:]
    /// The number of pages in the log after the last commit. 0 in memory.
    private(set) var logPages = 0
    /// How long a read may take, and the clock that measures it.
    private var limit: (milliseconds: Int64, clock: @Sendable () -> Int64)?
    private var endsAt: Int64?

    /// Takes over the transactions of an open connection until ``finish()``.
    init(_ database: Database) throws(StorageFault) {
        guard let handle = database.sqliteConnection else {
            throw StorageFault(.unavailable, "this connection was closed")
        }
        self.handle = handle
    }

    /// Finalises every statement, so that the connection can be closed.
    func finish() {
        sqlite3_wal_hook(handle, nil, nil)
        sqlite3_progress_handler(handle, 0, nil, nil)
        prepared = [:]
    }

    /// Also false if the engine has rolled back by itself.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Returns the prepared statement. Prepares it the first time.
    func prepare(_ statement: PortStatement) throws(StorageFault) -> PreparedStatement {
        if let known = prepared[statement.name], known.sql == statement.sql { return known }
        if prepared.count >= Self.preparedMax { prepared = [:] }
        let fresh = try PreparedStatement(statement, handle)
        prepared[statement.name] = fresh
        return fresh
    }

    /// Runs a statement that controls transactions, such as BEGIN.
    func run(_ verb: PortStatement, isCommitting: Bool = false) throws(StorageFault) {
        try prepare(verb).run(isCommitting: isCommitting)
    }

    /// Rolls back what is still open. The engine may have done so already.
    func rollBack() {
        endsAt = nil
        if isInTransaction { try? run(Verb.rollback) }
    }

    /// Records the length of the log after each commit. This replaces SQLite's
    /// own checkpoint inside the commit.
    func watchLog() {
        let here = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            handle,
            { here, _, _, pages in
                guard let here else { return SQLITE_OK }
                Unmanaged<SQLiteConnection>.fromOpaque(here).takeUnretainedValue()
                    .logPages = Int(pages)
                return SQLITE_OK
            }, here)
    }

    /// From now on, ends every read that takes longer.
    func limitReads(to milliseconds: Int64, by clock: @escaping @Sendable () -> Int64) {
        limit = (milliseconds, clock)
        let here = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            handle, 10_000,
            { here in
                guard let here else { return 0 }
                let connection = Unmanaged<SQLiteConnection>.fromOpaque(here).takeUnretainedValue()
                return connection.isLate ? 1 : 0
            }, here)
    }

    func beginReading() throws(StorageFault) {
        try run(Verb.beginReading)
        beginMeasuring()
    }

    private func beginMeasuring() {
        endsAt = limit.map { $0.clock() + $0.milliseconds }
    }

    /// Reads by one statement, which needs no transaction around it.
    func readingAlone<Answer>(_ body: () throws -> Answer) throws -> Answer {
        // It would see the state at which that transaction began.
        guard !isInTransaction else {
            throw StorageFault(.engine, "a look-up has left its transaction open")
        }
        beginMeasuring()
        defer { endsAt = nil }
        return try body()
    }

    /// Ends a read. Its answer is valid, even if it took too long.
    func endReading() throws(StorageFault) {
        endsAt = nil
        try run(Verb.commit)
    }

    private var isLate: Bool {
        guard let limit, let endsAt else { return false }
        return limit.clock() > endsAt
    }

    /// Throws if the current read has taken too long.
    func checkTime() throws(StorageFault) {
        guard let limit, isLate else { return }
        throw StorageFault(
            .busy,
            "a read that takes longer than \(limit.milliseconds) ms is ended, since the log "
                + "grows as long as it lasts; ask for less at once")
    }

    /// Moves the log into the database as far as readers allow. A failure loses
    /// nothing: the log stays, and the next commit tries again.
    func checkpoint() {
        logPages = 0
        sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
}

/// The statements that control transactions.
enum Verb {
    static let begin = PortStatement("begin", "BEGIN IMMEDIATE")
    static let beginReading = PortStatement("begin.reading", "BEGIN DEFERRED")
    static let commit = PortStatement("commit", "COMMIT")
    static let rollback = PortStatement("rollback", "ROLLBACK")
    static let save = PortStatement("save", "SAVEPOINT write")
    static let undo = PortStatement("undo", "ROLLBACK TO write")
    static let keep = PortStatement("keep", "RELEASE write")
    static let rehearse = PortStatement("rehearse", "SAVEPOINT rehearsal")
    static let unrehearse = PortStatement("unrehearse", "ROLLBACK TO rehearsal")
    static let rehearsed = PortStatement("rehearsed", "RELEASE rehearsal")
}
