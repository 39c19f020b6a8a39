// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import Storage

/// Makes a store safe to serve whose databases were set back by other means
/// than a restore: a snapshot of a disk, PostgreSQL's own archive, a standby
/// that lacked the last commits. What was sold since is not in them, but the
/// customers' devices, the merchant's ledger and the processor know it; so
///
/// - numbers of every kind go on where none was given out, also not by another
///   store that goes on from the same snapshot (``FreshStart``);
/// - every realm has a new generation and no sessions, by which devices know
///   that they must read anew;
/// - a seeded realm goes on without its seed, whose numbers would come again;
/// - nobody holds an errand;
/// - where only the home, or only another cluster, was set back, the names of
///   customers follow what the customers' clusters have.
///
/// A mark in the registry is the first that is written and its end the last:
/// between the two no program serves the store. No server may run meanwhile.
/// Doing it again, or without need, takes nothing but numbers.
public enum StoreAdvance {
    /// What was done.
    public struct Summary: Hashable, Sendable, Codable {
        /// Names of the realms that go on.
        public let realms: [String]
        /// The count from which the numbers of each kind go on.
        public let numbersFrom: Int64
        /// Customers of other clusters whose names the home had lost.
        public let namesFound: Int
        /// Names whose customers another cluster had lost.
        public let namesFreed: Int
    }

    /// Advances a store. All clusters must answer. Throws ``StorageFault``;
    /// then it is not served until this was done again.
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
        // Whoever forgot a cluster hears of it before anything is begun.
        for row in rows {
            _ = try await AdvancedRealm.with(row, places, wall) { _ in NamesMended() }
        }
        try await registry.write {
            try $0.execute(Statement.Advances.begin, [.integer(wall.milliseconds)])
        }
        var names = NamesMended()
        for row in rows {
            names += try await AdvancedRealm.with(row, places, wall) { try await $0.goOn(start) }
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

    /// Throws a fault where an advance was begun and not finished.
    static func checkFinished(_ registry: any Storage) async throws {
        guard try await registry.read({ try $0.first(Statement.Advances.unfinished) }) != nil
        else { return }
        throw StorageFault(
            .halfAdvanced, "an advance of these databases was begun and not finished; do it again")
    }
}

extension StorageFault.Code {
    /// An advance was begun and not finished: nothing serves the store.
    public static let halfAdvanced = StorageFault.Code("halfAdvanced")
}
