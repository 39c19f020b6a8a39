// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoragePostgres
import StorageSQLite
import TestSupport
import Testing

@testable import Shop

/// What becomes of a store whose database takes no writes for a while.
@Suite(.timeLimit(.minutes(5))) struct ReadinessTests {
    private let readOnly = "PRAGMA query_only = 1"

    private func registry(_ options: SQLiteOptions = SQLiteOptions()) async throws -> any Storage {
        try await SQLiteStorage.open(
            file: nil, migrations: RegistrySchema.migrations, options: options)
    }

    private func store(
        registry: any Storage, places: TestPlaces = TestPlaces(), wall: TestWall
    ) async throws -> Store {
        var places = places.places
        places.registry = { _ in registry }
        return try await Store.open(
            StorePorts(
                places: places, keys: try await TestWorld.keys.value, wall: wall.clock,
                randomness: .seeded(1), passwordCost: PasswordCost(rounds: 2)))
    }

    @Test(arguments: [
        ("PRAGMA query_only = 1", "PRAGMA query_only = 0", StorageFault.Code.readOnly),
        ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 100000", .full),
    ])
    func `a store is not ready while its database takes nothing, and then is`(
        broken: String, mended: String, code: StorageFault.Code
    ) async throws {
        let (registry, wall) = (try await registry(), TestWall())
        let store = try await store(registry: registry, wall: wall)

        // A pragma answers rows and writes nothing: it is read.
        _ = try await registry.read { try $0.query(Statement("test.break", broken), []) }
        let fault = await #expect(throws: StorageFault.self) { try await store.readiness() }
        _ = try await registry.read { try $0.query(Statement("test.mend", mended), []) }
        try await store.readiness()
        // A yes stands for a second, and no longer.
        _ = try await registry.read { try $0.query(Statement("test.query", readOnly), []) }
        try await store.readiness()
        wall.advance(seconds: 2)
        let later = await #expect(throws: StorageFault.self) { try await store.readiness() }

        #expect(fault?.code == code)
        #expect(later?.code == .readOnly)
        await store.close()
    }

    @Test func `a read-only server is reported as such`() async throws {
        let database = PostgresDatabase(
            try await PostgresCluster.shared().conninfo
                + " options='-c default_transaction_read_only=on'",
            options: PostgresOptions(connections: 1, waitMilliseconds: Patience.milliseconds))

        let fault = await #expect(throws: StorageFault.self) {
            _ = try await database.schema("readonly_new", migrations: RegistrySchema.migrations)
        }

        #expect(fault?.code == .readOnly)
        await database.close()
    }
}
