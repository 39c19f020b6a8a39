// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import Storage
import StoragePostgres
import StorageSQLite
import Synchronization
import TestSupport

@testable import Shop

enum BackupEngine: String, Sendable, CaseIterable {
    case sqlite, postgres
}

/// A place for one store's databases and keys, as the command has it: files
/// of one folder, or schemas of one PostgreSQL with sealed keys.
final class BackupPlace: Sendable {
    let engine: BackupEngine
    let folder: TemporaryFolder
    let wall = TestWall()
    private let database: PostgresDatabase?
    private let prefix = "b\(UUID().uuidString.lowercased().prefix(8))_"

    init(_ engine: BackupEngine) async throws {
        self.engine = engine
        folder = try temporaryFolder()
        database =
            engine == .postgres
            ? PostgresDatabase(
                try await PostgresCluster.shared().conninfo,
                options: PostgresOptions(connections: 2, waitMilliseconds: Patience.milliseconds))
            : nil
    }

    deinit {
        guard let database else { return }
        Task { await database.close() }
    }

    var dialect: Dialect {
        engine == .sqlite ? SQLiteStorage.dialect : PostgresStorage.dialect
    }

    private func schema(_ id: String) -> String { prefix + id }

    var places: StoragePlaces {
        guard let database else {
            let folder = folder
            return StoragePlaces(
                registry: {
                    try await SQLiteStorage.open(
                        file: folder.file("store.sqlite"), migrations: $0)
                },
                realm: {
                    try await SQLiteStorage.open(
                        file: folder.file("realms/\($0).sqlite"), migrations: $1)
                },
                deleteRealm: { id in
                    for suffix in ["", "-wal", "-shm"] {
                        try? FileManager.default.removeItem(
                            atPath: folder.file("realms/\(id).sqlite\(suffix)"))
                    }
                }, isOneProcess: true)
        }
        let prefix = prefix
        return StoragePlaces(
            registry: { try await database.schema(prefix + "registry", migrations: $0) },
            realm: { try await database.schema(prefix + $0, migrations: $1) },
            deleteRealm: { try await database.dropSchema(prefix + $0) },
            leasesInDatabaseTime: true)
    }

    func keys() throws -> any KeyStore {
        guard engine == .postgres else {
            return FileKeyStore(directory: folder.file("keys"), randomness: .seeded(7))
        }
        return try SealedKeyStore(
            places: places, seal: [UInt8](repeating: 9, count: SealedKeyStore.sealBytes))
    }

    /// As another process reads it.
    func source() async throws -> BackupSource {
        guard let database else {
            let folder = folder
            return BackupSource(
                dialect: dialect, registry: try SQLiteReader(file: folder.file("store.sqlite")),
                realm: { try SQLiteReader(file: folder.file("realms/\($0).sqlite")) },
                keys: try keys())
        }
        guard let registry = try await database.existing(schema("registry")) else {
            throw StorageFault(.unavailable, "no registry")
        }
        let prefix = prefix
        return BackupSource(
            dialect: dialect, registry: registry,
            realm: { try await database.existing(prefix + $0) }, keys: try keys())
    }

    func backup(_ name: String) async throws -> String {
        let path = folder.file(name)
        _ = try await StoreBackup.write(source(), to: path, madeAt: TestWall.start)
        return path
    }

    /// `chance` is the machine's.
    func restore(
        _ path: String, wall: Timestamp = TestWall.start.adding(seconds: 60),
        chance: Randomness = .seeded(3)
    ) async throws -> StoreRestore.Summary {
        try await StoreRestore.read(
            path, into: places, dialect, keys: try keys(), wall: wall, randomness: chance)
    }

    /// A store that is new gets the keys that all tests share, for speed.
    func open(
        isNew: Bool = false, processor: ScriptedProcessor? = nil
    ) async throws -> Store {
        let keys = try keys()
        if isNew {
            let shared = try await TestWorld.keys.value
            for name in try await shared.names() {
                _ = try await keys.store(try await shared.read(name) ?? [], as: name)
            }
        }
        return try await Store.open(
            StorePorts(
                places: places, keys: keys, wall: wall.clock, randomness: .seeded(5),
                authoriser: { _ in processor }, passwordCost: PasswordCost(rounds: 2)))
    }
}
