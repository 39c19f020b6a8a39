// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Logging
import Shop
import Storage
import StorageSQLite
import Synchronization

/// A data directory: `store.sqlite`, `realms/ID.sqlite`, `keys/` and `content/`. Only one
/// process uses it at a time.
final class StoreFolder: Sendable {
    let path: String
    private let lock: DirectoryLock
    private let commits = CommitCounter()

    /// Creates the folder if there is none, and locks it. Throws
    /// ``StorageFault`` if another process uses it, or if a restore into it was
    /// not finished. `restored`: the folder as the place of a restore.
    init(path: String, _ restored: RestoredFolder? = nil) throws(StorageFault) {
        self.path = path
        lock = try DirectoryLock(folder: path)
        if let restored { try restored.begin() } else { try RestoredFolder.check(path) }
    }

    func release() { lock.release() }

    func file(_ name: String) -> String { path + "/" + name }

    /// Returns everything that a store needs from this folder and this machine.
    func ports(
        options: ServeOptions, logger: Logger, events: @escaping StoreEvents.Sink
    ) throws -> StorePorts {
        let places = try places(options)
        var ports = StorePorts(
            places: places, keys: try keys(options, places, logger), wall: Live.wallClock,
            randomness: Live.randomness,
            authoriser: try options.authoriser(), courier: LiveCourier(),
            passwordCost: try options.passwordCost(), log: Self.log(logger, events),
            sleep: { try await Live.sleep($0) }, defaultRealmSeed: options.seed,
            statusURL: try options.checkedStatusURL())
        ports.defaultRealmEnvironment = try options.realmEnvironment()
        ports.doorKeys = try options.doorKeys.keys(isOpen: options.proxy.isOpen)
        // Each worker needs the memory of one password hash. The other
        // processors continue to serve.
        ports.passwordWorkers = max(2, min(Live.processors / 2, 8))
        let commits = commits
        ports.commits = { commits.count }
        ports.opensSandboxes = options.opensSandboxes
        ports.content = content(options)
        return ports
    }

    /// Servers that share a database could not deliver what another one has in its data
    /// directory, so that they host content only in a folder that is named.
    private func content(_ options: ServeOptions) -> (any ContentFiles)? {
        if let named = options.contentFolder {
            return FolderContentFiles(
                path: URL(fileURLWithPath: named).standardizedFileURL.path)
        }
        return options.database == nil ? FolderContentFiles(path: file("content")) : nil
    }

    private func places(_ options: ServeOptions) throws -> StoragePlaces {
        let partitions = try options.partitions.map { try ServedDatabase.partitions($0, options) }
        guard let database = options.database else {
            guard options.cluster.isEmpty else { throw ServedClusters.needDatabase }
            return options.inMemory ? memory : files
        }
        guard !options.inMemory else {
            throw Failure(
                .usage, "databaseTwice", "A store is in memory or in PostgreSQL.",
                field: "--database", rule: "one of --in-memory and --database",
                remedy: "leave one of them out")
        }
        var places = ServedDatabase(
            conninfo: database, partitions: partitions, observer: commits
        ).places
        places.clusters = try ServedClusters(options.cluster).places {
            ServedDatabase(conninfo: $0, partitions: partitions, observer: commits)
        }
        return places
    }

    /// Keys are files on one machine, or sealed rows in a shared database.
    private func keys(
        _ options: ServeOptions, _ places: StoragePlaces, _ logger: Logger
    ) throws -> any KeyStore {
        guard options.database != nil else {
            let keys = FileKeyStore(directory: file("keys"), randomness: Live.randomness)
            // This process holds the folder's lock.
            keys.removeLeft()
            return keys
        }
        let seal = try SealKey(file: options.sealKey, folder: path)
        seal.announce(logger)
        return try SealedKeyStore(places: places, seal: seal.bytes)
    }

    /// One file for each database.
    var files: StoragePlaces {
        let (path, timed) = (path, timed)
        var places = StoragePlaces(
            registry: { migrations in
                try await SQLiteStorage.open(
                    file: "\(path)/store.sqlite", migrations: migrations, options: timed)
            },
            realm: { id, migrations in
                try await SQLiteStorage.open(
                    file: "\(path)/realms/\(id).sqlite", migrations: migrations,
                    options: timed)
            },
            deleteRealm: { id in
                PrivateFiles.removeDatabase("\(path)/realms/\(id).sqlite")
            }, isOneProcess: true)
        places.deleteRegistry = { PrivateFiles.removeDatabase("\(path)/store.sqlite") }
        return places
    }

    private var timed: SQLiteOptions {
        SQLiteOptions(
            observer: commits, milliseconds: { Int64(Live.monotonic() / .milliseconds(1)) })
    }

    private var memory: StoragePlaces {
        let options = SQLiteOptions(observer: commits)
        return StoragePlaces(
            registry: {
                try await SQLiteStorage.open(file: nil, migrations: $0, options: options)
            },
            realm: { try await SQLiteStorage.open(file: nil, migrations: $1, options: options) },
            deleteRealm: { _ in })
    }

    private static func log(
        _ logger: Logger, _ events: @escaping StoreEvents.Sink
    ) -> ShopLog {
        ShopLog { level, message, facts in
            events(message, facts)
            let known: Logger.Level =
                switch level {
                case .debug: .debug
                case .info: .info
                case .warning: .warning
                case .error: .error
                }
            logger.log(
                level: known, "\(message)", metadata: facts.mapValues { .string($0) })
        }
    }
}

/// Counts the commits of one process, for its metrics.
final class CommitCounter: StorageObserver {
    private let commits = Atomic<Int>(0)

    var count: Int { commits.load(ordering: .relaxed) }

    func didRun(_ statement: Statement) {}
    func didCommit() { commits.add(1, ordering: .relaxed) }
    func didRoundTrip() {}
}
