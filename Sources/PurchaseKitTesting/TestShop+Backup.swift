// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Shop
import StorageSQLite

/// A copy of a test's store, as it was when it was made.
public struct ShopBackup: Sendable {
    let path: String
}

extension TestShop {
    /// Copies the store while it sells.
    public func backup() async throws -> ShopBackup {
        let (folder, keys) = (folder, try await TestAuthority.keys.value)
        let path = folder.file("\(Live.randomness.hex(8)).archive")
        let registry = try SQLiteReader(file: folder.file("store/registry.sqlite"))
        let source = BackupSource(
            dialect: SQLiteStorage.dialect, registry: registry,
            realm: { try SQLiteReader(file: folder.file("store/realm-\($0).sqlite")) }, keys: keys)
        _ = try await StoreBackup.write(source, to: path, madeAt: wall.now)
        try await registry.close()
        return ShopBackup(path: path)
    }

    /// Stops the store and starts it from the copy, as after a lost disk: what
    /// was sold since is forgotten there, and devices read anew.
    public func restore(_ backup: ShopBackup) async throws {
        await stop()
        try FileManager.default.removeItem(atPath: folder.file("store"))
        _ = try await StoreRestore.read(
            backup.path, into: .files(in: folder, SQLiteOptions()), SQLiteStorage.dialect,
            keys: try await TestAuthority.keys.value, wall: wall.now)
        try await start()
    }
}
