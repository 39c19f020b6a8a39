// SPDX-License-Identifier: Apache-2.0

import Live
package import Shop
import StorageSQLite

/// The certificate authority that all test stores of a process share, because
/// generating RSA keys takes too long for a test.
package enum TestAuthority {
    /// Keys with a sandbox's authority, made once by a store that is opened
    /// only for this.
    package static let keys = Task {
        let keys = MemoryKeyStore()
        let places = StoragePlaces(
            registry: { try await SQLiteStorage.open(file: nil, migrations: $0) },
            realm: { try await SQLiteStorage.open(file: nil, migrations: $1) },
            deleteRealm: { _ in })
        let store = try await Store.open(
            StorePorts(
                places: places, keys: keys, wall: Live.wallClock, randomness: Live.randomness))
        await store.close()
        return keys
    }
}
