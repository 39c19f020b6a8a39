// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import Storage

/// Makes a store safe to serve after its databases were set back by other means
/// than a restore: a snapshot of a disk, PostgreSQL's own archive, or a standby
/// that lacked the last commits. Later sales are missing in them, but
/// customers' devices, the merchant's ledger and the payment processor know
/// about them. Therefore
///
/// - numbers of every kind continue where none was used, not even by another
///   store that continues from the same snapshot (``FreshStart``);
/// - every realm gets a new generation and loses its sessions, so that devices
///   read everything again;
/// - a seeded realm continues without its seed, which would produce the same
///   numbers again;
/// - all leases on errands are released;
/// - if only the home or only another cluster was set back, customers' names
///   follow the clusters that have the customers.
///
/// It writes a mark in the registry first and completes it last. In between, no
/// program serves the store. No server may run at that time. An unnecessary or
/// repeated advance only uses up numbers.
public enum StoreAdvance {
    /// The result of an advance.
    public struct Summary: Hashable, Sendable, Codable {
        /// The names of the advanced realms.
        public let realms: [String]
        /// The count from which the numbers of each kind continue.
        public let numbersFrom: Int64
        /// The number of customers on other clusters whose names the home had
        /// lost.
        public let namesFound: Int
        /// The number of names whose customers another cluster had lost.
        public let namesFreed: Int
    }

    /// Advances a store. All clusters must answer. Throws ``StorageFault``. The
    /// store is then not served until an advance succeeds.
    public static func run(
        _ places: StoragePlaces, wall: Timestamp, randomness: Randomness
    ) async throws -> Summary {
        let start = FreshStart(wall: wall, randomness: randomness)
        let registry = try await places.registry(RegistrySchema.migrations)
        do {
            let summary = try await run(places, registry, wall, start)
            try await registry.close()
            return summary
        } catch {
            try? await registry.close()
            throw error
        }
    }

    private static func run(
        _ places: StoragePlaces, _ registry: any Storage, _ wall: Timestamp,
        _ start: FreshStart
    ) async throws -> Summary {
        try await StoreRestore.checkFinished(registry)
        let rows = try await registry.read { reading in
            try reading.query(Statement.Registry.liveRealms, []).map(RealmRow.init)
        }
        // Reports a forgotten cluster before anything is changed.
        for row in rows {
            _ = try await AdvancedRealm.with(row, places, wall) { _ in NamesMended() }
        }
        try await registry.write {
            try $0.execute(Statement.Advances.begin, [.integer(wall.milliseconds)])
        }
        var names = NamesMended()
        for row in rows {
            names += try await AdvancedRealm.with(row, places, wall) {
                try await $0.goOn(start, at: wall)
            }
        }
        let first = try await registry.write { writing in
            let first = try StoreRestore.raise(writing, [:], start)
            try writing.execute(Statement.Advances.finish, [.integer(wall.milliseconds)])
            return first
        }
        return Summary(
            realms: rows.map(\.name), numbersFrom: first, namesFound: names.found,
            namesFreed: names.freed)
    }

    /// Throws a fault if there is an unfinished advance.
    static func checkFinished(_ registry: any Storage) async throws {
        guard try await registry.read({ try $0.first(Statement.Advances.unfinished) }) != nil
        else { return }
        throw StorageFault(
            .halfAdvanced, "an advance of these databases was begun and not finished; do it again")
    }
}

extension StorageFault.Code {
    /// There is an unfinished advance, so the store is not served.
    public static let halfAdvanced = StorageFault.Code("halfAdvanced")
}
