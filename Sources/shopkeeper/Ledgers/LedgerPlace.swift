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

    /// Opens the database for writing. No ledger may use the data directory.
    func writing<Answer: Sendable>(
        _ body: (Dialect, ([Migration]) async throws -> any Storage) async throws -> Answer
    ) async throws -> Answer {
        let file = file
        let lock: DirectoryLock
        do { lock = try DirectoryLock(folder: path) } catch {
            throw DatabaseFailure.told(error, isPostgres: false)
        }
        defer { lock.release() }
        guard let database else {
            do {
                return try await body(SQLiteStorage.dialect) {
                    try await SQLiteStorage.open(file: file, migrations: $0)
                }
            } catch { throw DatabaseFailure.told(error, isPostgres: false) }
        }
        let served = ServedDatabase(conninfo: database)
        do {
            let answer = try await body(PostgresStorage.dialect) {
                try await served.ledger(migrations: $0)
            }
            await served.close()
            return answer
        } catch {
            await served.close()
            throw DatabaseFailure.told(error, isPostgres: true)
        }
    }

    private func noLedger(_ message: String) -> Failure {
        Failure(
            .unavailable, "noLedger", message, field: database == nil ? "--data" : "--database",
            rule: "where a ledger was served from", remedy: "name its data directory or database")
    }
}
