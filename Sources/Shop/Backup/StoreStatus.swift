// SPDX-License-Identifier: Apache-2.0

import Archive
public import Commerce
import Storage

/// How a store's databases stand, read without changing or locking them.
public struct StoreStatus: Hashable, Sendable, Codable {
    /// A database's schema.
    public struct Schema: Hashable, Sendable, Codable {
        /// Migrations that it has taken, and those that this program knows.
        public let taken: Int
        public let known: Int
        /// `current`, `behind` (migrated when it is served), `tooNew`.
        public let state: String
    }

    /// A realm's database.
    public struct RealmStatus: Hashable, Sendable, Codable {
        public let id: String
        public let name: String
        public let environment: String
        public let generation: Int64
        public let schema: Schema
        public let bytes: Int64
        public let rows: [String: Int64]
        /// Work owed to others' servers, and when the oldest of it fell due,
        /// in the realm's time.
        public let errands: Int64
        public let oldestErrandDue: Timestamp?
    }

    /// `SQLite`, `PostgreSQL`.
    public let engine: String
    /// What the engine says of itself: version, and what makes it durable.
    public let facts: [String: String]
    public let registry: Schema
    /// Of all databases together.
    public let bytes: Int64
    public let realms: [RealmStatus]
    /// Whether a restore was begun and not finished: then nothing serves it.
    public let isHalfRestored: Bool

    /// Reads it. Throws ``StorageFault``.
    public init(_ source: BackupSource) async throws {
        let dialect = source.dialect
        let (inventory, rows, isHalf) = try await source.registry.read { reading in
            let inventory = try DatabaseInventory(reading, dialect)
            return (
                inventory, try reading.query(Statement.Registry.liveRealms, []).map(RealmRow.init),
                inventory.rows["restores"] == nil
                    ? false : try reading.first(Statement.Restores.unfinished) != nil
            )
        }
        var realms: [RealmStatus] = []
        for row in rows {
            guard let realm = try await source.realm(row.id) else { continue }
            realms.append(try await Self.status(row, realm, dialect))
            try await realm.close()
        }
        engine = dialect.engine
        facts = inventory.facts
        registry = Self.schema(inventory.steps, RegistrySchema.migrations)
        bytes = inventory.bytes + realms.reduce(0) { $0 + $1.bytes }
        self.realms = realms
        isHalfRestored = isHalf
    }

    private static func status(
        _ row: RealmRow, _ realm: any Storage, _ dialect: Dialect
    ) async throws -> RealmStatus {
        try await realm.read { reading in
            let inventory = try DatabaseInventory(reading, dialect)
            let generation = try reading.first(Statement.Restores.generation)
            let owed = try reading.first(Statement.Restores.errands)
            return RealmStatus(
                id: row.id, name: row.name, environment: row.environment,
                generation: try generation?.integer("generation") ?? 0,
                schema: schema(inventory.steps, RealmSchema.migrations), bytes: inventory.bytes,
                rows: inventory.rows, errands: try owed?.integer("errands") ?? 0,
                oldestErrandDue: try owed?.optionalInteger("oldest").map(
                    Timestamp.init(milliseconds:)))
        }
    }

    private static func schema(
        _ taken: [MigrationHistory.Step], _ known: [Migration]
    ) -> Schema {
        let isOurs = (try? MigrationHistory(taken: taken, known: known)) != nil
        let state = !isOurs ? "tooNew" : taken.count < known.count ? "behind" : "current"
        return Schema(taken: taken.count, known: known.count, state: state)
    }
}
