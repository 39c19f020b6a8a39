// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Storage

/// A SQLite database: a file in WAL mode with a sync in every commit, or
/// memory. Only one process may use a file: see ``DirectoryLock``.
///
/// Closures run on its own threads: one writes, and a few read a file (memory
/// has only the first). Look-ups in a file run on the calling thread. Writes that
/// wait during a commit share the next commit and its sync. Each has its own
/// outcome, and no caller is answered before its write is durable.
///
/// Cancelling the calling task has no effect: a write runs to its end, so that
/// its outcome is known.
public final class SQLiteStorage: Storage {
    /// The most reads of a file that run at once. Reads are short, and each
    /// thread keeps a connection.
    static let readersMax = 4

    private let writes: Lane
    /// Nil in memory, which has one connection.
    private let reads: Lane?
    /// Nil in memory.
    let lookUps: LookUps?

    /// Opens a file, or memory if `file` is nil. Creates the file and its
    /// folder with modes 0600 and 0700. Verifies `synchronous=FULL` of a file
    /// by reading it back, migrates, and makes durable what an earlier process
    /// left in the log.
    ///
    /// Throws ``StorageFault``: `unavailable` if the file cannot be opened,
    /// `unreadable` if it is damaged, belongs to another program, or is newer
    /// than `migrations`.
    public static func open(
        file: String?, migrations: [Migration], options: SQLiteOptions = SQLiteOptions()
    ) async throws -> SQLiteStorage {
        try await withCheckedThrowingContinuation { continuation in
            let writes = Lane("sqlite.write", threads: 1) { lane in
                do {
                    try write(lane, file, migrations, options) {
                        continuation.resume(returning: SQLiteStorage(lane, file, options))
                    }
                } catch {
                    let place = "opening \(file ?? "a database in memory")"
                    lane.close()
                    continuation.resume(throwing: fault(error, in: place))
                }
            }
            writes.start()
        }
    }

    private init(_ writes: Lane, _ file: String?, _ options: SQLiteOptions) {
        self.writes = writes
        reads = file.map { file in
            Lane("sqlite.read", threads: Self.readersMax) { lane in
                Self.read(lane, file, options)
            }
        }
        lookUps = file.map { LookUps($0, options) }
    }

    deinit {
        lookUps?.close()
        reads?.close()
        writes.close()
    }

    public func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            (reads ?? writes).add(Pending(isReading: true, continuation) { try body($0) })
        }
    }

    public func lookUp<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        if let answer = try lookUps?.run(body) { return answer }
        return try await read(body)
    }

    public func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            writes.add(Pending(isReading: false, continuation, body))
        }
    }

    /// How many writes wait for their turn. Running ones are not counted.
    public var waitingWrites: Int { writes.waitingCount }

    /// Closes after the running transactions. Waiting ones fail without having
    /// done anything.
    public func close() async throws {
        lookUps?.close()
        // The writer is closed last, because it removes the log.
        for lane in [reads, writes] {
            await withCheckedContinuation { continuation in
                guard let lane else { return continuation.resume() }
                lane.close { continuation.resume() }
            }
        }
    }

    /// The body of the writing thread, which owns its connection.
    private static func write(
        _ lane: Lane, _ file: String?, _ migrations: [Migration], _ options: SQLiteOptions,
        whenOpen: () -> Void
    ) throws {
        let database = try connectWriter(file: file, options: options)
        defer { try? database.close() }
        try database.writeWithoutTransaction { database in
            try Migrator(database).migrate(to: migrations)
            if let file { try EarlierLife.settle(database, file) }
            let connection = try SQLiteConnection(database)
            defer { connection.finish() }
            if file != nil { connection.watchLog() }
            let mover = file.map { LogMover(file: $0, options: options) }
            // Closed before this connection, which removes the log.
            defer { mover?.close() }
            whenOpen()
            SQLiteWriter(connection: connection, options: options, mover: mover).serve(lane)
        }
    }

    /// The body of a reading thread.
    private static func read(_ lane: Lane, _ file: String, _ options: SQLiteOptions) {
        do {
            let database = try connectReader(file: file, options: options)
            defer { try? database.close() }
            try database.inDatabase { database in
                let connection = try SQLiteConnection(database)
                defer { connection.finish() }
                if let clock = options.milliseconds {
                    connection.limitReads(to: options.readMilliseconds, by: clock)
                }
                while let job = lane.next(atMost: 1).first {
                    SQLiteWriter.read(job, connection, options.observer)
                }
            }
        } catch {
            for job in lane.next(atMost: 1) {
                job.fail(fault(error, in: "opening a connection that reads"))
            }
        }
    }
}
