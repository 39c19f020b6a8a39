// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Ledger
import Live
import Storage
import StoragePostgres
import StorageSQLite

/// Which ledger's database a verb is about, running or not.
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

/// Where a ledger's database lies.
struct LedgerPlace: Sendable {
    let path: String
    /// Nil for a file.
    let database: String?

    /// For people; a database's password is never told.
    var words: String { database == nil ? path : "PostgreSQL" }

    /// Whether a ledger of this machine has the data directory.
    var isServed: Bool { LedgerRunFile.running(inData: path) != nil }

    private var file: String { "\(path)/ledger.sqlite" }

    /// Opens it to be read, also while it is served; from a copy at `copy`
    /// where that is given.
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

    /// Takes it to be written: no ledger may have the data directory.
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
