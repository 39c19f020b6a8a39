// SPDX-License-Identifier: Apache-2.0

import Archive
public import Commerce
public import Storage

/// Makes a store again from an archive, on either engine, in a place that
/// holds nothing (or what an earlier restore left half-done).
///
/// A mark in the registry is the first that is written and its end the last:
/// between the two no program serves the store. Then
///
/// - numbers go on ``numbersRaised`` further than the copy's, so that none
///   which was given out after the copy was made is given out again;
/// - every realm has a new generation, by which devices know that they must
///   read anew; no session goes on, so each device signs in and learns it;
/// - a seeded realm goes on without its seed, whose numbers would come again;
/// - nobody holds an errand.
public enum StoreRestore {
    /// More than any store sells between two backups. There is room for ten
    /// thousand restores.
    public static let numbersRaised: Int64 = 100_000_000

    /// What was restored.
    public struct Summary: Hashable, Sendable, Codable {
        /// When the copy was made, wall time.
        public let madeAt: Timestamp
        public let realms: [String]
        public let rows: Int
        public let keys: Int
    }

    /// Restores a store. Throws ``ArchiveFault`` before anything is written
    /// where the archive is not whole, too new, or the place is not empty.
    public static func read(
        _ path: String, into places: StoragePlaces, _ dialect: Dialect, keys: any KeyStore,
        wall: Timestamp
    ) async throws -> Summary {
        guard places.clusters.isEmpty else {
            throw ArchiveFault(
                .targetNotEmpty, "A backup cannot be shared out among clusters.",
                rule: "a store is restored to one database",
                remedy: "restore it without --cluster, and serve it so")
        }
        let contents = try ArchiveContents(path: path, holds: StoreBackup.holds)
        let plan = try RestorePlan(contents)
        try await check(keys, contents)
        let registry = try await places.registry(plan.registry)
        do {
            try await begin(registry, places, dialect, contents, wall)
            for (name, bytes) in contents.keys { _ = try await keys.store(bytes, as: name) }
            try await load(contents, plan, registry, places, dialect, wall)
            try await registry.write { writing in
                try raise(writing, contents.numbers)
                try writing.execute(Statement.Restores.finish, [.integer(wall.milliseconds)])
            }
        } catch {
            try? await registry.close()
            throw error
        }
        try await registry.close()
        return Summary(
            madeAt: contents.header.madeAt, realms: plan.realms.keys.sorted(),
            rows: contents.databases.reduce(0) { $0 + $1.rows }, keys: contents.keys.count)
    }

    /// Throws a fault where a restore was begun and not finished.
    static func checkFinished(_ registry: any Storage) async throws {
        guard try await isUnfinished(registry) else { return }
        throw StorageFault(
            .halfRestored,
            "a restore into this place was begun and not finished; restore the archive again, "
                + "which begins anew")
    }

    private static func isUnfinished(_ registry: any Storage) async throws -> Bool {
        try await registry.read { try $0.first(Statement.Restores.unfinished) } != nil
    }

    /// Keys of another store are not replaced.
    private static func check(_ keys: any KeyStore, _ contents: ArchiveContents) async throws {
        for (name, bytes) in contents.keys {
            guard let stored = try await keys.read(name), stored != bytes else { continue }
            throw ArchiveFault(
                .targetNotEmpty, "There is another key \(name) already.",
                rule: "a store is restored to a place that holds nothing",
                remedy: "name an empty data directory, or an empty database")
        }
    }

    private static func begin(
        _ registry: any Storage, _ places: StoragePlaces, _ dialect: Dialect,
        _ contents: ArchiveContents, _ wall: Timestamp
    ) async throws {
        if try await isUnfinished(registry) {
            let left = try await registry.read { reading in
                try reading.query(Statement.Restores.allRealms, []).map { try $0.text("id") }
            }
            // Those of the archive too: the row may not have been written yet.
            for id in Set(left).union(try RestorePlan(contents).realms.keys) {
                try await places.deleteRealm(id)
            }
            try await ArchiveContents.clear(registry, dialect)
        }
        guard try await ArchiveContents.isEmpty(registry, dialect) else {
            throw ArchiveFault(
                .targetNotEmpty, "There is a store in this place already.",
                rule: "a store is restored to a place that holds nothing",
                remedy: "name an empty data directory, or an empty database")
        }
        try await registry.write { writing in
            try writing.execute(
                Statement.Restores.begin,
                [
                    .integer(contents.header.madeAt.milliseconds), .integer(wall.milliseconds),
                ])
        }
    }

    private static func load(
        _ contents: ArchiveContents, _ plan: RestorePlan, _ registry: any Storage,
        _ places: StoragePlaces, _ dialect: Dialect, _ wall: Timestamp
    ) async throws {
        var open: [any Storage] = []
        do {
            try await contents.load(dialect) { database in
                guard let id = RestorePlan.realm(database.name) else { return registry }
                let realm = try await places.realm(id, plan.realms[id] ?? [])
                open.append(realm)
                return realm
            }
            for realm in open {
                try await realm.write { writing in
                    try writing.execute(
                        Statement.Restores.newGeneration, [.integer(wall.milliseconds)])
                    try writing.execute(Statement.Restores.freeErrands, [])
                }
                try await realm.close()
            }
        } catch {
            for realm in open { try? await realm.close() }
            throw error
        }
    }

    /// Numbers go on beyond every one that may have been given out: `numbers`
    /// are the next of each kind that the copy knows.
    static func raise(_ writing: any Writing, _ numbers: [Int64: Int64]) throws {
        try writing.execute(Statement.Restores.forgetSeeds, [])
        // Of a kind that the copy knows none of, some may have been given out since.
        for kind in IDKind.allCases.map(\.rawValue) {
            let next = SQLValue.integer(numbers[kind] ?? 0)
            try writing.execute(Statement.Registry.insertNumbers, [.integer(kind), next])
            try writing.execute(
                Statement.Restores.raiseNumbers,
                [.integer(kind), next, .integer(numbersRaised)])
        }
    }
}

/// Which migrations each database of an archive takes before its rows come:
/// those that it had. What is newer is taken when the store is opened.
private struct RestorePlan {
    let registry: [Migration]
    let realms: [String: [Migration]]

    init(_ contents: ArchiveContents) throws {
        var registry: [Migration]?
        var realms: [String: [Migration]] = [:]
        for database in contents.databases {
            if let id = Self.realm(database.name) {
                realms[id] = try Self.prefix(database, RealmSchema.migrations)
            } else if database.name == StoreBackup.registry {
                registry = try Self.prefix(database, RegistrySchema.migrations)
            }
        }
        guard let registry, registry.count >= RegistrySchema.restoresSince,
            contents.databases.count == realms.count + 1
        else {
            throw ArchiveFault(
                .notAnArchive, "\(contents.path) has databases that no store has.",
                rule: "one registry, and each realm once")
        }
        self.registry = registry
        self.realms = realms
    }

    static func realm(_ name: String) -> String? {
        guard name.hasPrefix(StoreBackup.realmPrefix) else { return nil }
        let id = String(name.dropFirst(StoreBackup.realmPrefix.count))
        let isID =
            (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
        return isID ? id : nil
    }

    private static func prefix(
        _ database: ArchiveContents.Database, _ known: [Migration]
    ) throws -> [Migration] {
        do { _ = try MigrationHistory(taken: database.steps, known: known) } catch {
            throw ArchiveFault(
                .tooNew, "The database `\(database.name)` cannot be restored: \(error.reason).",
                rule: "migrations that this program knows",
                remedy: "restore it with the program that made the backup, or a newer one")
        }
        return Array(known.prefix(database.steps.count))
    }
}
