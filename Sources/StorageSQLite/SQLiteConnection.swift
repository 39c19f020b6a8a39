// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Storage

/// What one thread keeps about its open connection: statements prepared
/// once, with the numbers of their parameters and the names of their columns.
///
/// A class because it owns what must be finalised; used on one thread alone.
final class SQLiteConnection {
    /// The most statements kept; a program's statements are named constants
    /// and far fewer, so more means that somebody makes them up.
    static let preparedMax = 1_000

    private let handle: OpaquePointer
    private var prepared: [String: PreparedStatement] = [:]
    /// Pages in the log after the last commit; 0 in memory.
    private(set) var logPages = 0

    /// Takes over the transactions of an open connection until ``finish()``.
    init(_ database: Database) throws(StorageFault) {
        guard let handle = database.sqliteConnection else {
            throw StorageFault(.unavailable, "this connection was closed")
        }
        self.handle = handle
    }

    /// Finalises every statement; afterwards the connection may be closed.
    func finish() {
        sqlite3_wal_hook(handle, nil, nil)
        prepared = [:]
    }

    /// False as well where the engine has rolled back by itself.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The statement, prepared at most once.
    func prepare(_ statement: PortStatement) throws(StorageFault) -> PreparedStatement {
        if let known = prepared[statement.name], known.sql == statement.sql { return known }
        if prepared.count >= Self.preparedMax { prepared = [:] }
        let fresh = try PreparedStatement(statement, handle)
        prepared[statement.name] = fresh
        return fresh
    }

    /// Runs one of our own words, such as BEGIN.
    func run(_ verb: PortStatement, isCommitting: Bool = false) throws(StorageFault) {
        try prepare(verb).run(isCommitting: isCommitting)
    }

    /// Rolls back what is still open; the engine may have done it already.
    func rollBack() {
        if isInTransaction { try? run(Verb.rollback) }
    }

    /// Hears the length of the log after each commit, in place of SQLite's
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

    /// Moves the log into the database as far as readers let it. A failure
    /// loses nothing: the log stays, and the next commit asks again.
    func checkpoint() {
        logPages = 0
        sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
}

/// The words around statements.
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
