// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Ledger
import Live
import Storage
import StoragePostgres
import StorageSQLite

/// Options that select a ledger's database, whether the ledger runs or not.
struct LedgerPlaceOptions: ParsableArguments {
    @Option(name: .long, help: "The ledger's data directory.")
    var data = "./.shopkeeper-ledger"

    @Option(name: .long, help: "PostgreSQL, as for `ledger serve`; default: the directory's file.")
    var database: String?

    func place() throws -> LedgerPlace {
        LedgerPlace(
            path: URL(fileURLWithPath: data).standardizedFileURL.path,
            database: try database.map { try SecretFile.value($0, field: "--database") })
    }
}

/// The place of a ledger's database.
struct LedgerPlace: Sendable {
    let path: String
    /// The connection string of PostgreSQL. Nil for a file.
    let database: String?

    /// The place in words, without a database's password.
    var words: String { database == nil ? path : "PostgreSQL" }

    /// Whether a ledger on this machine uses the data directory.
    var isServed: Bool { LedgerRunFile.running(inData: path) != nil }

    private var file: String { "\(path)/ledger.sqlite" }

    /// Opens the database for reading, also while it is served. If `copy` is
    /// given, reads a copy at that path.
    func reading<Answer: Sendable>(
        copy: String? = nil, _ body: (any Storage, Dialect) async throws -> Answer
    ) async throws -> Answer {
        guard let database else { return try await readingFile(copy, body) }
        let served = ServedDatabase(conninfo: database)
        do {
            guard let storage = try await served.existingLedger() else {
                throw noLedger("PostgreSQL has no schema `ledger`.")
            }
            let answer = try await body(storage, PostgresStorage.dialect)
            await served.close()
            return answer
        } catch {
            await served.close()
            throw DatabaseFailure.told(error, isPostgres: true)
        }
    }

    private func readingFile<Answer: Sendable>(
        _ copy: String?, _ body: (any Storage, Dialect) async throws -> Answer
    ) async throws -> Answer {
        do { try RestoredFolder.check(path) } catch {
            throw DatabaseFailure.told(error, isPostgres: false)
        }
        guard FileManager.default.fileExists(atPath: file) else {
            throw noLedger("There is no ledger in \(path).")
        }
        do {
            let storage =
                try copy.map { try SQLiteReader(copyOf: file, at: $0) } ?? SQLiteReader(file: file)
            let answer = try await body(storage, SQLiteStorage.dialect)
            try await storage.close()
            return answer
        } catch { throw DatabaseFailure.told(error, isPostgres: false) }
    }

    /// Opens the place of a restore. No ledger may use the data directory.
    func restoring<Answer: Sendable>(
        _ body: (RestoredLedger) async throws -> Answer
    ) async throws -> Answer {
        let restored = RestoredFolder(path: path)
        let lock: DirectoryLock
        do {
            lock = try DirectoryLock(folder: path)
            try restored.begin()
        } catch { throw DatabaseFailure.told(error, isPostgres: false) }
        defer { lock.release() }
        do {
            return try await restored.restoring { try await opened(restored, body) }
        } catch {
            restored.tidy()
            throw DatabaseFailure.told(error, isPostgres: database != nil)
        }
    }

    private func opened<Answer: Sendable>(
        _ restored: RestoredFolder, _ body: (RestoredLedger) async throws -> Answer
    ) async throws -> Answer {
        guard let database else {
            let file = file
            return try await body(
                RestoredLedger(dialect: SQLiteStorage.dialect) { migrations in
                    try await restored.opening {
                        try await SQLiteStorage.open(file: file, migrations: migrations)
                    }
                } delete: {
                    PrivateFiles.removeDatabase(file)
                })
        }
        let served = ServedDatabase(conninfo: database)
        let ledger = RestoredLedger(dialect: PostgresStorage.dialect) { migrations in
            try await restored.opening { try await served.ledger(migrations: migrations) }
        } delete: {
            try await served.deleteLedger()
        }
        do {
            let answer = try await body(ledger)
            await served.close()
            return answer
        } catch {
            await served.close()
            throw error
        }
    }

    private func noLedger(_ message: String) -> Failure {
        Failure(
            .unavailable, "noLedger", message, field: database == nil ? "--data" : "--database",
            rule: "where a ledger was served from", remedy: "name its data directory or database")
    }
}

/// The database into which a ledger is restored.
struct RestoredLedger {
    let dialect: Dialect
    let open: ([Migration]) async throws -> any Storage
    let delete: () async throws -> Void
}
