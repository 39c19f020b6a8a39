// SPDX-License-Identifier: Apache-2.0

import Archive
public import Storage

/// The state of a ledger's database, read without changing or locking it.
public struct LedgerStatus: Hashable, Sendable, Codable {
    /// `SQLite`, `PostgreSQL`.
    public let engine: String
    /// The engine's facts: its version and its durability settings.
    public let facts: [String: String]
    /// The number of migrations that were applied to it, and of those that this
    /// program knows.
    public let migrationsTaken: Int
    public let migrationsKnown: Int
    /// `current`, `behind` (it is migrated when it is served) or `tooNew`.
    public let schema: String
    public let bytes: Int64
    /// The number of rows in each table.
    public let rows: [String: Int64]
    /// Whether there is an unfinished restore. The ledger is then not served.
    public let isHalfRestored: Bool

    /// Reads the state and counts every row. Throws ``StorageFault``.
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
