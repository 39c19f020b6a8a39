// SPDX-License-Identifier: Apache-2.0

import GRDB
import Storage
import Synchronization

/// Reads by key on the calling thread, each with a connection that no other thread uses
/// meanwhile. A few rows that are in memory are found in less time than it takes to wake a
/// reading thread.
final class LookUps: Sendable {
    /// The most connections, so the most look-ups at once. Each is opened when it is needed.
    private static let connectionsMax = 4

    private struct State {
        var idle: [LookUpConnection] = []
        var count = 0
        var isClosed = false
    }

    private let file: String
    private let options: SQLiteOptions
    private let state = Mutex(State())

    init(_ file: String, _ options: SQLiteOptions) {
        self.file = file
        var options = options
        // A thread that looks up does not wait for a lock. See ``run(_:)``.
        options.busySeconds = 0
        self.options = options
    }

    /// Returns nil if a reading thread must do it: every connection is in use, cannot be
    /// opened or would wait for a lock, or this is closed. The closure may have run then.
    func run<Answer>(_ body: (any Reading) throws -> Answer) throws -> Answer? {
        try using { try $0.read(options.observer, body) }
    }

    private func using<Answer>(
        _ look: (LookUpConnection) throws -> Answer
    ) throws -> Answer? {
        guard let connection = take() else { return nil }
        defer { giveBack(connection) }
        do {
            return try look(connection)
        } catch let fault as StorageFault where fault.code == .busy {
            return nil
        }
    }

    /// Returns the rows of one statement, or nil as ``run(_:)`` does. A statement sees one
    /// state of the database by itself.
    func find(_ statement: PortStatement, _ values: [SQLValue]) throws -> [PortRow]? {
        try using { try $0.find(options.observer, statement, values) }
    }

    /// Waits for no look-up: one that runs closes its own connection.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for connection in idle { connection.close() }
    }

    private func take() -> LookUpConnection? {
        let (known, isFree) = state.withLock { state -> (LookUpConnection?, Bool) in
            guard !state.isClosed else { return (nil, false) }
            if let idle = state.idle.popLast() { return (idle, false) }
            guard state.count < Self.connectionsMax else { return (nil, false) }
            state.count += 1
            return (nil, true)
        }
        guard isFree else { return known }
        guard let fresh = try? LookUpConnection(file, options) else {
            state.withLock { $0.count -= 1 }
            return nil
        }
        return fresh
    }

    private func giveBack(_ connection: LookUpConnection) {
        let isKept = state.withLock { state in
            if !state.isClosed { state.idle.append(connection) }
            return !state.isClosed
        }
        if !isKept { connection.close() }
    }
}

/// A connection that one thread uses at a time, which makes it safe to send.
private final class LookUpConnection: @unchecked Sendable {
    private let database: DatabaseQueue
    private let connection: SQLiteConnection

    init(_ file: String, _ options: SQLiteOptions) throws {
        database = try connectReader(file: file, options: options)
        connection = try database.inDatabase { try SQLiteConnection($0) }
        if let clock = options.milliseconds {
            connection.limitReads(to: options.readMilliseconds, by: clock)
        }
    }

    func read<Answer>(
        _ observer: (any StorageObserver)?, _ body: (any Reading) throws -> Answer
    ) throws -> Answer {
        do {
            try connection.beginReading()
            let transaction = SQLiteTransaction(connection, observer, isReading: true)
            defer { transaction.end() }
            let answer = try body(transaction)
            try transaction.checkSound()
            try connection.endReading()
            return answer
        } catch {
            connection.rollBack()
            throw error
        }
    }

    func find(
        _ observer: (any StorageObserver)?, _ statement: PortStatement, _ values: [SQLValue]
    ) throws -> [PortRow] {
        try connection.readingAlone {
            let transaction = SQLiteTransaction(connection, observer, isReading: true)
            defer { transaction.end() }
            return try transaction.query(statement, values)
        }
    }

    func close() {
        connection.finish()
        try? database.close()
    }
}
