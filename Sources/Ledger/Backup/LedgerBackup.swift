// SPDX-License-Identifier: Apache-2.0

public import Archive
public import Commerce
public import Storage

/// Copies a ledger, while it books, into one archive: everything that it has
/// booked, claimed and spent as it was at one moment, and its doors' keys.
public enum LedgerBackup {
    /// What the archive's header says.
    static let holds = "ledger"
    static let database = "ledger"

    private static let omitted: Set<String> = ["restores", "readiness"]

    /// Writes an archive to a file that is not there yet. Throws
    /// ``ArchiveFault`` and ``StorageFault``; a file is left only when whole.
    public static func write(
        _ storage: any Storage, _ dialect: Dialect, to path: String, madeAt: Timestamp
    ) async throws -> ArchiveWriter.Summary {
        let taken = try await storage.read { try MigrationHistory.steps($0) }
        _ = try MigrationHistory(taken: taken, known: LedgerSchema.migrations)
        guard taken.count >= LedgerSchema.restoresSince else {
            throw ArchiveFault(
                .source, "The ledger was last served by a program that knew no backups.",
                rule: "its database has taken migration \(LedgerSchema.restoresSince)",
                remedy: "serve it once with this program, then make the backup")
        }
        try await LedgerRestore.checkFinished(storage)
        let writer = try ArchiveWriter(
            path: path,
            header: ArchiveHeader(holds: holds, madeAt: madeAt, engine: dialect.engine))
        do {
            try await writer.add(storage, as: database, dialect, omitting: omitted)
            return try writer.finish()
        } catch {
            writer.discard()
            throw error
        }
    }
}

/// Makes a ledger again from an archive, on either engine, in a place that
/// holds nothing (or what an earlier restore left half-done).
///
/// A mark is the first that is written and its end the last: between the two
/// no program serves the ledger. What was redeemed before the copy is told
/// again under its idempotency key and spends nothing.
public enum LedgerRestore {
    /// What was restored.
    public struct Summary: Hashable, Sendable, Codable {
        /// When the copy was made, wall time.
        public let madeAt: Timestamp
        public let rows: Int
    }

    /// Restores a ledger. `open` gives its database with the migrations that
    /// the copy had. Throws ``ArchiveFault`` before anything is written where
    /// the archive is not whole, too new, or the place is not empty.
    public static func read(
        _ path: String, _ dialect: Dialect, wall: Timestamp,
        open: ([Migration]) async throws -> any Storage
    ) async throws -> Summary {
        let contents = try ArchiveContents(
            path: path, holds: LedgerBackup.holds, judge: LedgerArchiveRules.judge)
        let storage = try await open(try migrations(contents))
        do {
            try await begin(storage, dialect, contents, wall)
            try await contents.load(dialect) { _ in storage }
            try await storage.write {
                try $0.execute(Statement.Upkeep.finish, [.integer(wall.milliseconds)])
            }
        } catch let fault as StorageFault where fault.code == .constraint {
            try? await storage.close()
            throw ArchiveContents.invalid(path, "a row", "each row once")
        } catch {
            try? await storage.close()
            throw error
        }
        try await storage.close()
        return Summary(
            madeAt: contents.header.madeAt,
            rows: contents.databases.reduce(0) { $0 + $1.rows })
    }

    /// Throws a fault where a restore was begun and not finished.
    static func checkFinished(_ storage: any Storage) async throws {
        guard try await isUnfinished(storage) else { return }
        throw StorageFault(
            .halfRestored,
            "a restore into this place was begun and not finished; restore the archive again, "
                + "which begins anew")
    }

    private static func isUnfinished(_ storage: any Storage) async throws -> Bool {
        try await storage.read { try $0.first(Statement.Upkeep.unfinished) != nil }
    }

    private static func begin(
        _ storage: any Storage, _ dialect: Dialect, _ contents: ArchiveContents,
        _ wall: Timestamp
    ) async throws {
        if try await isUnfinished(storage) {
            try await ArchiveContents.clear(storage, dialect)
        }
        guard try await ArchiveContents.isEmpty(storage, dialect) else {
            throw ArchiveFault(
                .targetNotEmpty, "There is a ledger in this place already.",
                rule: "a ledger is restored to a place that holds nothing",
                remedy: "name an empty data directory, or an empty database")
        }
        let values: [SQLValue] = [
            .integer(contents.header.madeAt.milliseconds), .integer(wall.milliseconds),
        ]
        try await storage.write { try $0.execute(Statement.Upkeep.begin, values) }
    }

    /// Those that the copy had; what is newer is taken when it is served.
    private static func migrations(_ contents: ArchiveContents) throws -> [Migration] {
        guard let database = contents.databases.first, contents.databases.count == 1,
            database.name == LedgerBackup.database,
            database.steps.count >= LedgerSchema.restoresSince
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
