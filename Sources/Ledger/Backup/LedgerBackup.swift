// SPDX-License-Identifier: Apache-2.0

public import Archive
public import Commerce
public import Storage

/// Copies a ledger into one archive while it is in use: all purchases, accounts
/// and redemptions in the state of one moment, and the keys of its doors.
public enum LedgerBackup {
    /// The value of `holds` in the archive's header.
    static let holds = "ledger"
    static let database = "ledger"

    /// Writes an archive to a new file. Throws ``ArchiveFault`` and
    /// ``StorageFault``. An incomplete file is removed.
    public static func write(
        _ storage: any Storage, _ dialect: Dialect, to path: String, madeAt: Timestamp
    ) async throws -> ArchiveWriter.Summary {
        let taken = try await storage.read { try MigrationHistory.steps($0) }
        _ = try MigrationHistory(taken: taken, known: LedgerSchema.migrations)
        try await LedgerRestore.checkFinished(storage)
        let writer = try ArchiveWriter(
            path: path,
            header: ArchiveHeader(holds: holds, madeAt: madeAt, engine: dialect.engine))
        do {
            try await writer.add(
                storage, as: database, dialect, LedgerSchema.tables(after: taken.count))
            return try writer.finish()
        } catch {
            writer.discard()
            throw error
        }
    }
}

/// Restores a ledger from an archive, on either engine, into an empty place (or
/// into what an earlier restore left unfinished).
///
/// It writes a mark first and completes it last. In between, no program serves
/// the ledger. A redemption from before the copy returns the same answer for
/// its idempotency key, and spends nothing.
public enum LedgerRestore {
    /// The result of a restore.
    public struct Summary: Hashable, Sendable, Codable {
        /// When the copy was made, in wall time.
        public let madeAt: Timestamp
        public let rows: Int
    }

    /// Restores a ledger. `open` returns its database with the migrations of
    /// the copy; `delete` deletes the closed database, or is nil if only its
    /// rows can be deleted. Throws ``ArchiveFault`` if the archive is incomplete
    /// or too new, or the place is not empty. The place is then as it was
    /// before: empty, or with an unfinished restore. `checksum`: that of the
    /// expected archive; nil for any.
    public static func read(
        _ path: String, checksum: ArchiveChecksum? = nil, _ dialect: Dialect, wall: Timestamp,
        delete: (() async throws -> Void)? = nil,
        open: ([Migration]) async throws -> any Storage
    ) async throws -> Summary {
        let contents = try LedgerArchive(path: path).contents
        try contents.check(checksum)
        // A new database has the mark of an unfinished restore from the
        // beginning.
        let storage = try await open(contents.marked(try migrations(contents), wall))
        do {
            let before = try await storage.read { try $0.first(Statement.Upkeep.unfinished) }
            let wasUnfinished = try before.map { try $0.integer("begun_at") != wall.milliseconds }
            try await begin(storage, dialect, contents, wall)
            do {
                try await contents.load(dialect) { _ in storage }
                try await contents.check(
                    Statement.Upkeep.references(
                        after: contents.databases.first?.steps.count ?? 0),
                    in: storage, LedgerBackup.database)
            } catch {
                guard let fault = strange(error, path) else { throw error }
                if wasUnfinished != true { try await undo(storage, dialect, delete) }
                throw fault
            }
            try await storage.write {
                try $0.execute(Statement.Upkeep.finish, [.integer(wall.milliseconds)])
            }
        } catch {
            try? await storage.close()
            throw error
        }
        try await storage.close()
        return Summary(
            madeAt: contents.header.madeAt,
            rows: contents.databases.reduce(0) { $0 + $1.rows })
    }

    /// Leaves the place as it was before, if that was empty.
    private static func undo(
        _ storage: any Storage, _ dialect: Dialect, _ delete: (() async throws -> Void)?
    ) async throws {
        guard let delete else { return try await ArchiveContents.clear(storage, dialect) }
        try await storage.close()
        try await delete()
    }

    /// The fault if the archive's rows are no ledger's; nil for any other error.
    private static func strange(_ error: any Error, _ path: String) -> ArchiveFault? {
        if let fault = error as? ArchiveFault { return fault }
        guard (error as? StorageFault)?.code == .constraint else { return nil }
        return ArchiveContents.invalid(path, "a row", "each row once")
    }

    /// Throws a fault if there is an unfinished restore.
    static func checkFinished(_ storage: any Storage) async throws {
        guard try await isUnfinished(storage) else { return }
        throw StorageFault(
            .halfRestored,
            "a restore into this place was begun and not finished; restore the archive again, "
                + "which starts from the beginning")
    }

    private static func isUnfinished(_ storage: any Storage) async throws -> Bool {
        try await storage.read { try $0.first(Statement.Upkeep.unfinished) != nil }
    }

    private static func begin(
        _ storage: any Storage, _ dialect: Dialect, _ contents: ArchiveContents,
        _ wall: Timestamp
    ) async throws {
        if try await !isUnfinished(storage), try await !ArchiveContents.isEmpty(storage, dialect) {
            throw ArchiveFault(
                .targetNotEmpty, "There is a ledger in this place already.",
                rule: "a ledger is restored to an empty place",
                remedy: "name an empty data directory, or an empty database")
        }
        let values: [SQLValue] = [
            .integer(contents.header.madeAt.milliseconds), .integer(wall.milliseconds),
        ]
        // One commit, so that the database is never without a mark.
        try await storage.write { writing in
            try ArchiveContents.clear(writing, dialect)
            try writing.execute(Statement.Upkeep.begin, values)
        }
    }

    /// Returns the migrations of the copy. Newer ones are applied when the
    /// ledger is served.
    private static func migrations(_ contents: ArchiveContents) throws -> [Migration] {
        guard let database = contents.databases.first, contents.databases.count == 1,
            database.name == LedgerBackup.database, !database.steps.isEmpty
        else {
            throw ArchiveFault(
                .notAnArchive, "\(contents.path) has databases that no ledger has.",
                rule: "one ledger", remedy: "name another file")
        }
        do {
            _ = try MigrationHistory(taken: database.steps, known: LedgerSchema.migrations)
        } catch {
            throw ArchiveFault(
                .tooNew, "The ledger cannot be restored: \(error.reason).",
                rule: "migrations that this program knows",
                remedy: "restore it with the program that made the backup, or a newer one")
        }
        return Array(LedgerSchema.migrations.prefix(database.steps.count))
    }
}

extension LedgerRestore {
    /// Checks a backup like a restore does before it writes anything. Throws
    /// ``ArchiveFault``.
    public static func check(_ bytes: [UInt8], name: String) throws {
        _ = try LedgerArchive(bytes: bytes, name: name)
    }
}
