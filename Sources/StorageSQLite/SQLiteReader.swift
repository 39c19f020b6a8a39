// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Storage

/// Reads a database's file, also while a server has it open. It creates,
/// migrates and locks nothing. Every read sees one consistent state.
public final class SQLiteReader: Storage {
    private let reads: Lane
    /// The path of the file, if it is this reader's own copy.
    private let copy: String?

    /// Copies a file in the state of one moment, also while a server has it
    /// open, and reads the copy. So the server's log grows only while the file
    /// is copied, not while it is read. Closing this reader removes the copy.
    ///
    /// Throws ``StorageFault``, for example if there is no room for the copy.
    public init(copyOf file: String, at copy: String) throws {
        do { try Self.copy(file, to: copy) } catch {
            PrivateFiles.removeDatabase(copy)
            throw fault(error, in: "copying \(file) to \(copy)")
        }
        self.copy = copy
        reads = Lane("sqlite.copy", threads: 1) { Self.serve($0, copy) }
    }

    /// Throws ``StorageFault`` `unavailable` if there is no such file.
    public init(file: String) throws {
        // Opened once here, so that a missing file is reported at once.
        do { try connectReader(file: file, options: SQLiteOptions()).close() } catch {
            throw fault(error, in: "opening \(file)")
        }
        copy = nil
        reads = Lane("sqlite.copy", threads: 1) { Self.serve($0, file) }
    }

    deinit {
        reads.close()
        if let copy { PrivateFiles.removeDatabase(copy) }
    }

    private static func copy(_ file: String, to copy: String) throws {
        PrivateFiles.removeDatabase(copy)
        try PrivateFiles.makeFile(copy)
        let source = try connectReader(file: file, options: SQLiteOptions())
        defer { try? source.close() }
        let target = try DatabaseQueue(path: copy)
        defer { try? target.close() }
        // The copy need not survive a power failure.
        try target.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        try source.backup(to: target)
        try target.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
    }

    public func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            reads.add(Pending(isReading: true, continuation) { try body($0) })
        }
    }

    /// Throws ``StorageFault`` `readOnly`.
    public func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        throw StorageFault(.readOnly, "this database was opened to be read")
    }

    public func close() async throws {
        await withCheckedContinuation { continuation in reads.close { continuation.resume() } }
        if let copy { PrivateFiles.removeDatabase(copy) }
    }

    private static func serve(_ lane: Lane, _ file: String) {
        do {
            let database = try connectReader(file: file, options: SQLiteOptions())
            defer { try? database.close() }
            try database.inDatabase { database in
                let connection = try SQLiteConnection(database)
                defer { connection.finish() }
                while let job = lane.next(atMost: 1).first {
                    SQLiteWriter.read(job, connection, nil)
                }
            }
        } catch {
            for job in lane.next(atMost: 1) { job.fail(fault(error, in: "opening \(file)")) }
        }
    }
}

extension SQLiteStorage {
    /// SQLite's statements for listing its tables. SQLite stores a boolean as
    /// an integer.
    public static let dialect = Dialect(
        engine: "SQLite",
        columns: PortStatement(
            "sqlite.columns",
            """
            SELECT t.name AS table_name, c.name AS column_name,
                CASE c.type WHEN 'INTEGER' THEN 'integer' WHEN 'TEXT' THEN 'text'
                    WHEN 'BLOB' THEN 'blob' ELSE 'other' END AS column_type,
                c.pk AS key_place
            FROM sqlite_schema t JOIN pragma_table_info(t.name) c
            WHERE t.type = 'table' AND substr(t.name, 1, 7) <> 'sqlite_'
                AND t.name <> 'schema_migrations'
            ORDER BY t.rowid, c.cid
            """),
        facts: PortStatement(
            "sqlite.facts",
            """
            SELECT 'version' AS name, sqlite_version() AS value
            UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
            UNION ALL SELECT 'synchronous', 'FULL, set and read back whenever it is opened'
            """),
        size: PortStatement(
            "sqlite.size",
            """
            SELECT c.page_count * s.page_size AS bytes
            FROM pragma_page_count c, pragma_page_size s
            """))
}
