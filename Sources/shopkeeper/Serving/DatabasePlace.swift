// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Live
import Logging
import Shop
import Storage
import StoragePostgres
import StorageSQLite

/// Options that select a store's databases, whether the store runs or not.
struct DatabaseOptions: ParsableArguments {
    @Option(name: .long, help: "The store's data directory.")
    var data: String?

    @Option(name: .long, help: "PostgreSQL, as for `serve`; default: the data directory's files.")
    var database: String?

    @Option(name: .long, help: "The file with the key that seals the keys in PostgreSQL.")
    var sealKey: String?

    func place(clusters: [String] = []) throws -> DatabasePlace {
        guard clusters.isEmpty || database != nil else { throw ServedClusters.needDatabase }
        let folder = data ?? Live.environment["SHOPKEEPER_DATA"] ?? "./.shopkeeper"
        return DatabasePlace(
            path: URL(fileURLWithPath: folder).standardizedFileURL.path,
            database: try database.map { try SecretFile.value($0, field: "--database") },
            clusters: try ServedClusters(clusters.map(ServedClusters.withSecret)),
            sealKey: sealKey)
    }
}

/// Options for a store's other clusters.
struct ClusterOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Another PostgreSQL of the store, as for `serve`; repeatable.",
            valueName: "500-999=postgres://…"))
    var cluster: [String] = []
}

/// The place of a store's databases and keys.
struct DatabasePlace: Sendable {
    let path: String
    /// The connection string of PostgreSQL. Nil for files.
    let database: String?
    let clusters: ServedClusters
    let sealKey: String?

    /// The place in words, without a database's password.
    var words: String { database == nil ? path : "PostgreSQL" }

    /// Whether a server on this machine uses the data directory.
    var isServed: Bool { RunFile.running(inData: path) != nil }

    private var files: FileKeyStore {
        FileKeyStore(directory: path + "/keys", randomness: Live.randomness)
    }

    /// Opens the databases for reading, also while they are served. Without
    /// keys, the sealing key is not needed. `copy`: the path to which a realm's
    /// file is copied, so that a long read does not keep a server from moving
    /// its log.
    func reading<Answer: Sendable>(
        withKeys: Bool, copy: String? = nil, _ body: (BackupSource) async throws -> Answer
    ) async throws -> Answer {
        guard let database else { return try await readingFiles(copy, body) }
        let served = ServedDatabase(conninfo: database)
        let others = clusters.databases { ServedDatabase(conninfo: $0) }
        return try await told([served] + others.map(\.database)) {
            let registry = try await existingRegistry(served)
            // Only for reading: no migration is applied and no key is
            // generated.
            var places = served.places
            places.registry = { _ in registry }
            var source = BackupSource(
                dialect: PostgresStorage.dialect, registry: registry,
                realm: { try await served.existingRealm($0) },
                keys: withKeys
                    ? SplitKeyStore(shared: try sealed(places, seal(makes: false)), own: files)
                    : files)
            source.clusters = others.map { other in
                ClusterSource(buckets: other.buckets) {
                    try await other.database.existingRealm($0)
                }
            }
            return try await body(source)
        }
    }

    private func existingRegistry(_ served: ServedDatabase) async throws -> any Storage {
        guard let registry = try await served.existingRegistry() else {
            throw noStore("PostgreSQL has no schema `shopkeeper`.")
        }
        return registry
    }

    /// Like ``closing(_:_:)``, and explains the error to the user.
    private func told<Answer: Sendable>(
        _ databases: [ServedDatabase], _ body: () async throws -> Answer
    ) async throws -> Answer {
        do { return try await closing(databases, body) } catch {
            throw DatabaseFailure.told(error, isPostgres: true)
        }
    }

    /// Closes the databases after `body`, whether it succeeds or throws, and
    /// passes on its result.
    private func closing<Answer: Sendable>(
        _ databases: [ServedDatabase], _ body: () async throws -> Answer
    ) async throws -> Answer {
        do {
            let answer = try await body()
            for database in databases { await database.close() }
            return answer
        } catch {
            for database in databases { await database.close() }
            throw error
        }
    }

    private func readingFiles<Answer: Sendable>(
        _ copy: String?, _ body: (BackupSource) async throws -> Answer
    ) async throws -> Answer {
        let path = path
        let file = path + "/store.sqlite"
        try checkFinished()
        guard FileManager.default.fileExists(atPath: file) else {
            throw noStore("There is no store in \(path).")
        }
        do {
            let registry = try SQLiteReader(file: file)
            let answer = try await body(
                BackupSource(
                    dialect: SQLiteStorage.dialect, registry: registry,
                    realm: { id in
                        let file = "\(path)/realms/\(id).sqlite"
                        guard FileManager.default.fileExists(atPath: file) else { return nil }
                        guard let copy else { return try SQLiteReader(file: file) }
                        return try SQLiteReader(copyOf: file, at: copy)
                    }, keys: files))
            try await registry.close()
            return answer
        } catch { throw DatabaseFailure.told(error, isPostgres: false) }
    }

    /// Opens the place of a restore. No server may use the data directory.
    func restoring<Answer: Sendable>(
        _ body: (StoragePlaces, Dialect, any KeyStore) async throws -> Answer
    ) async throws -> Answer {
        let restored = RestoredFolder(path: path)
        return try await locked(restored) { folder in
            do {
                return try await restored.restoring {
                    guard let database else {
                        let places = folder.files.opened(by: restored)
                        return try await body(places, SQLiteStorage.dialect, files)
                    }
                    let served = ServedDatabase(conninfo: database)
                    return try await closing([served]) {
                        let seal = try seal()
                        let shared = try sealed(served.places, seal)
                        let keys = SplitKeyStore(shared: shared, own: files)
                        let places = served.places.opened(by: restored)
                        let answer = try await body(places, PostgresStorage.dialect, keys)
                        seal.announce(TerminalLog.logger("shopkeeper", .notice))
                        return answer
                    }
                }
            } catch {
                restored.tidy()
                throw error
            }
        }
    }

    /// Locks the data directory while `body` runs. No server may use it.
    private func locked<Answer: Sendable>(
        _ restored: RestoredFolder? = nil, _ body: (StoreFolder) async throws -> Answer
    ) async throws -> Answer {
        let folder: StoreFolder
        do { folder = try StoreFolder(path: path, restored) } catch {
            throw DatabaseFailure.told(error, isPostgres: false)
        }
        defer { folder.release() }
        do { return try await body(folder) } catch {
            throw DatabaseFailure.told(error, isPostgres: database != nil)
        }
    }

    /// Opens the existing store with all its clusters for maintenance. No
    /// server may run, on this machine or another.
    func goingOver<Answer: Sendable>(
        _ body: (StoragePlaces) async throws -> Answer
    ) async throws -> Answer {
        guard let database else {
            try checkFinished()
            guard FileManager.default.fileExists(atPath: path + "/store.sqlite") else {
                throw noStore("There is no store in \(path).")
            }
            return try await locked { try await body($0.files) }
        }
        if isServed {
            throw DatabaseFailure.failure(
                StorageFault(.busy, "a server of this machine has \(path)"), isPostgres: false)
        }
        let served = ServedDatabase(conninfo: database)
        let others = clusters.databases { ServedDatabase(conninfo: $0) }
        return try await told([served] + others.map(\.database)) {
            try await ServedDatabase.checkIsIdle(try await existingRegistry(served))
            var places = served.places
            places.clusters = others.map { $0.database.cluster($0.buckets) }
            return try await body(places)
        }
    }

    /// Throws if a restore into the data directory was not finished.
    private func checkFinished() throws {
        do { try RestoredFolder.check(path) } catch {
            throw DatabaseFailure.told(error, isPostgres: false)
        }
    }

    private func seal(makes: Bool = true) throws -> SealKey {
        try SealKey(file: sealKey, folder: path, makes: makes)
    }

    private func sealed(_ places: StoragePlaces, _ seal: SealKey) throws -> SealedKeyStore {
        try SealedKeyStore(places: places, seal: seal.bytes)
    }

    private func noStore(_ message: String) -> Failure {
        Failure(
            .unavailable, "noStore", message, field: database == nil ? "--data" : "--database",
            rule: "where a store was served from", remedy: "name its data directory or database")
    }
}

extension StoragePlaces {
    /// The same places, whose registry is opened through the place of a restore.
    fileprivate func opened(by restored: RestoredFolder) -> StoragePlaces {
        var places = self
        let open = registry
        places.registry = { migrations in
            try await restored.opening { try await open(migrations) }
        }
        return places
    }
}

/// The keys of a shared database, except those that each machine has for
/// itself: the private halves of server keys, which are in the data directory.
struct SplitKeyStore: KeyStore {
    let shared: any KeyStore
    let own: any KeyStore

    private func place(of name: String) -> any KeyStore {
        name.hasPrefix("server/") ? own : shared
    }

    func read(_ name: String) async throws -> [UInt8]? {
        try await place(of: name).read(name)
    }

    func store(_ bytes: [UInt8], as name: String) async throws -> [UInt8] {
        try await place(of: name).store(bytes, as: name)
    }

    func replace(_ bytes: [UInt8], as name: String) async throws {
        try await place(of: name).replace(bytes, as: name)
    }

    func names() async throws -> [String] {
        try await shared.names() + own.names().filter { $0.hasPrefix("server/") }
    }
}
