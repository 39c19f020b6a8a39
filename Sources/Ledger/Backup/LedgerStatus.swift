// SPDX-License-Identifier: Apache-2.0

import Archive
public import Storage

/// How a ledger's database stands, read without changing or locking it.
public struct LedgerStatus: Hashable, Sendable, Codable {
    /// `SQLite`, `PostgreSQL`.
    public let engine: String
    /// What the engine says of itself: version, and what makes it durable.
    public let facts: [String: String]
    /// Migrations that it has taken, and those that this program knows.
    public let migrationsTaken: Int
    public let migrationsKnown: Int
    /// `current`, `behind` (migrated when it is served), `tooNew`.
    public let schema: String
    public let bytes: Int64
    /// Rows of each table.
    public let rows: [String: Int64]
    /// Whether a restore was begun and not finished: then nothing serves it.
    public let isHalfRestored: Bool

    /// Reads it; counts every row. Throws ``StorageFault``.
    public init(_ storage: any Storage, _ dialect: Dialect) async throws {
        let (inventory, isHalf) = try await storage.read { reading in
            let inventory = try DatabaseInventory(reading, dialect)
            return (
                inventory,
                inventory.rows["restores"] == nil
                    ? false : try reading.first(Statement.Upkeep.unfinished) != nil
            )
        }
        let (taken, known) = (inventory.steps, LedgerSchema.migrations)
        let isOurs = (try? MigrationHistory(taken: taken, known: known)) != nil
        engine = dialect.engine
        facts = inventory.facts
        migrationsTaken = taken.count
        migrationsKnown = known.count
        schema = !isOurs ? "tooNew" : taken.count < known.count ? "behind" : "current"
        bytes = inventory.bytes
        rows = inventory.rows
        isHalfRestored = isHalf
    }
}
