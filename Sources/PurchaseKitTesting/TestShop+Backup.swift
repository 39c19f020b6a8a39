// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
public import Shop
import Storage
import StorageSQLite
import Synchronization

/// A backup of a test's store.
public struct ShopBackup: Sendable {
    let path: String
}

extension TestShop {
    /// Makes a backup while the store runs.
    public func backup() async throws -> ShopBackup {
        let path = folder.file("\(Live.randomness.hex(8)).archive")
        let keys = try await TestAuthority.keys.value
        if let own = ownPlaces {
            _ = try await StoreBackup.write(
                try own.source(options.dialect, keys), to: path, madeAt: wall.now)
            return ShopBackup(path: path)
        }
        let folder = folder
        let registry = try SQLiteReader(file: folder.file("store/registry.sqlite"))
        let source = BackupSource(
            dialect: SQLiteStorage.dialect, registry: registry,
            realm: { try SQLiteReader(file: folder.file("store/realm-\($0).sqlite")) }, keys: keys)
        _ = try await StoreBackup.write(source, to: path, madeAt: wall.now)
        try await registry.close()
        return ShopBackup(path: path)
    }

    /// Stops the store and starts it from the backup, as after the loss of a
    /// disk. Later sales are lost, and devices read everything again. A store
    /// with its own `places` is restored `into` other, empty ones.
    public func restore(_ backup: ShopBackup, into others: StoragePlaces? = nil) async throws {
        precondition(
            (others == nil) == (ownPlaces == nil),
            "a store in places of the test's own is restored into others of that kind")
        await stop()
        if others == nil { try FileManager.default.removeItem(atPath: folder.file("store")) }
        _ = try await StoreRestore.read(
            backup.path, into: others ?? .files(in: folder, SQLiteOptions()),
            others == nil ? SQLiteStorage.dialect : options.dialect,
            keys: try await TestAuthority.keys.value, wall: wall.now, randomness: Live.randomness)
        try await start(in: others)
    }

    /// Deletes everything that was bought, like `shopkeeper realm reset`.
    /// Sessions end, and devices sign in again and read everything again.
    public func reset() async throws {
        _ = try await store.resetRealm(
            named: Store.defaultRealm, RequestContext(requestID: "test"))
    }
}

/// The test's own places, and the databases that are open in them. A class,
/// because a backup reads databases that the store has opened.
final class OwnPlaces: Sendable {
    private let base: StoragePlaces
    private let open = Mutex<(registry: (any Storage)?, realms: [String: any Storage])>((nil, [:]))

    init(_ base: StoragePlaces) {
        self.base = base
    }

    var places: StoragePlaces {
        var places = base
        places.registry = { migrations in
            let registry = try await self.base.registry(migrations)
            self.open.withLock { $0.registry = registry }
            return registry
        }
        places.realm = { id, migrations in
            let realm = try await self.base.realm(id, migrations)
            self.open.withLock { $0.realms[id] = realm }
            return realm
        }
        return places
    }

    func source(_ dialect: Dialect, _ keys: any KeyStore) throws -> BackupSource {
        guard let registry = open.withLock({ $0.registry }) else {
            throw StorageFault(.unavailable, "the store was never opened")
        }
        return BackupSource(
            dialect: dialect, registry: Borrowed(base: registry),
            realm: { id in self.open.withLock { $0.realms[id] }.map { Borrowed(base: $0) } },
            keys: keys)
    }
}

/// A database that stays open for the store when its reader closes it.
private struct Borrowed: Storage {
    let base: any Storage

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await base.read(body) }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer { try await base.write(body) }

    func close() async throws {}
}
