// SPDX-License-Identifier: Apache-2.0

public import Archive
public import Commerce
public import Storage

/// Restores a store from an archive, on either engine, into an empty place (or
/// into what an earlier restore left unfinished).
///
/// It writes a mark in the registry first and completes it last. In between, no
/// program serves the store. Afterwards
///
/// - numbers continue where none was used in the copy or in any other store
///   that was made from it or from a similar copy (``FreshStart``);
/// - every realm has a new generation, so that devices read everything again;
///   sessions are not restored, so each device signs in and receives it;
/// - a seeded realm continues without its seed, which would produce the same
///   numbers again;
/// - no errand is leased.
public enum StoreRestore {
    /// The result of a restore.
    public struct Summary: Hashable, Sendable, Codable {
        /// When the copy was made, in wall time.
        public let madeAt: Timestamp
        public let realms: [String]
        public let rows: Int
        public let keys: Int
    }

    /// Restores a store. Throws ``ArchiveFault`` if the archive is incomplete or
    /// too new, if its rows contradict each other, or if the place is not empty.
    /// The place is then as it was before: empty, or with an unfinished restore.
    /// `checksum`: that of the expected archive; nil for any.
    public static func read(
        _ path: String, checksum: ArchiveChecksum? = nil, into places: StoragePlaces,
        _ dialect: Dialect, keys: any KeyStore, wall: Timestamp, randomness: Randomness
    ) async throws -> Summary {
        let start = FreshStart(wall: wall, randomness: randomness)
        guard places.clusters.isEmpty else {
            throw ArchiveFault(
                .targetNotEmpty, "A backup cannot be shared out among clusters.",
                rule: "a store is restored to one database",
                remedy: "restore it without --cluster, and serve it so")
        }
        let contents = try StoreArchive(path: path).contents
        try contents.check(checksum)
        let plan = try RestorePlan(contents)
        // A new registry has the mark of an unfinished restore from the
        // beginning.
        let registry = try await places.registry(contents.marked(plan.registry, wall))
        do {
            let before = try await registry.read { try $0.first(Statement.Restores.unfinished) }
            let wasUnfinished = try before.map { try $0.integer("begun_at") != wall.milliseconds }
            do {
                try await check(keys, contents)
                try await begin(registry, places, dialect, contents, wall)
                try await load(contents, plan, registry, places, dialect, start)
            } catch {
                guard let fault = Self.strange(error, path) else { throw error }
                if wasUnfinished != true {
                    try await undo(plan, registry, places, dialect, begunAt: wall)
                }
                throw fault
            }
            // After the rows, which may turn out to be no store's.
            for (name, bytes) in contents.keys { _ = try await keys.store(bytes, as: name) }
            try await registry.write { writing in
                try raise(writing, contents.numbers, start)
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

    /// The fault if the archive's rows are no store's; nil for any other error.
    private static func strange(_ error: any Error, _ path: String) -> ArchiveFault? {
        if let fault = error as? ArchiveFault { return fault }
        guard (error as? StorageFault)?.code == .constraint else { return nil }
        return ArchiveContents.invalid(
            path, "a row", "each row once, and what it refers to beside it")
    }

    /// Leaves the place as it was before, if that was empty. Does nothing if the
    /// restore was refused before it wrote its mark. The registry with the mark
    /// comes last, so that a process that dies here leaves an unfinished
    /// restore.
    private static func undo(
        _ plan: RestorePlan, _ registry: any Storage, _ places: StoragePlaces, _ dialect: Dialect,
        begunAt: Timestamp
    ) async throws {
        let mark = try await registry.read { try $0.first(Statement.Restores.unfinished) }
        guard try mark?.integer("begun_at") == begunAt.milliseconds else { return }
        for id in plan.realms.keys { try await places.deleteRealm(id) }
        guard let delete = places.deleteRegistry else {
            return try await ArchiveContents.clear(registry, dialect)
        }
        try await registry.close()
        try await delete()
    }

    /// Throws a fault if there is an unfinished restore.
    static func checkFinished(_ registry: any Storage) async throws {
        guard try await isUnfinished(registry) else { return }
        throw StorageFault(
            .halfRestored,
            "a restore into this place was begun and not finished; restore the archive again, "
                + "which starts from the beginning")
    }

    private static func isUnfinished(_ registry: any Storage) async throws -> Bool {
        try await registry.read { try $0.first(Statement.Restores.unfinished) } != nil
    }

    /// Throws if the key store has other keys, because those of another store
    /// are not replaced.
    private static func check(_ keys: any KeyStore, _ contents: ArchiveContents) async throws {
        for (name, bytes) in contents.keys {
            guard let stored = try await keys.read(name), stored != bytes else { continue }
            throw ArchiveFault(
                .targetNotEmpty, "There is another key \(name) already.",
                rule: "a store is restored to an empty place",
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
                    .filter(RealmRow.isID)
            }
            // Includes the realms of the archive, because the row may not have
            // been written yet.
            for id in Set(left).union(try RestorePlan(contents).realms.keys) {
                try await places.deleteRealm(id)
            }
        } else if try await !ArchiveContents.isEmpty(registry, dialect) {
            throw ArchiveFault(
                .targetNotEmpty, "There is a store in this place already.",
                rule: "a store is restored to an empty place",
                remedy: "name an empty data directory, or an empty database")
        }
        let mark: [SQLValue] = [
            .integer(contents.header.madeAt.milliseconds), .integer(wall.milliseconds),
        ]
        // One commit, so that the registry is never without a mark.
        try await registry.write { writing in
            try ArchiveContents.clear(writing, dialect)
            try writing.execute(Statement.Restores.begin, mark)
        }
    }

    private static func load(
        _ contents: ArchiveContents, _ plan: RestorePlan, _ registry: any Storage,
        _ places: StoragePlaces, _ dialect: Dialect, _ start: FreshStart
    ) async throws {
        var open: [(id: String, realm: any Storage)] = []
        do {
            try await contents.load(dialect) { database in
                guard let id = StoreArchiveRules.realmID(database.name) else { return registry }
                let realm = try await places.realm(id, plan.realms[id] ?? [])
                open.append((id, realm))
                return realm
            }
            try await contents.check(
                Statement.Restores.registryReferences, in: registry, StoreBackup.registry)
            try await contents.check(
                Statement.Restores.registryContradictions, in: registry, StoreBackup.registry)
            for (id, realm) in open {
                try await contents.check(
                    Statement.Restores.realmReferences, in: realm, StoreBackup.realmPrefix + id)
                try await contents.check(
                    Statement.Restores.contradictions, in: realm, StoreBackup.realmPrefix + id)
                try await realm.write { writing in
                    let last =
                        try writing.first(Statement.Restores.generation)?
                        .integer("generation") ?? 0
                    try writing.execute(
                        Statement.Restores.newGeneration,
                        [.integer(start.generation(after: last))])
                    try writing.execute(Statement.Restores.freeErrands, [])
                }
                try await realm.close()
            }
        } catch {
            for (_, realm) in open { try? await realm.close() }
            throw error
        }
    }

    /// Makes the numbers of all kinds continue from one count, and returns it.
    /// `numbers`: the next numbers of each kind in the copy, in addition to the
    /// registry's.
    @discardableResult
    static func raise(
        _ writing: any Writing, _ numbers: [Int64: Int64], _ start: FreshStart
    ) throws -> Int64 {
        try writing.execute(Statement.Restores.forgetSeeds, [])
        let rows = try writing.query(Statement.Registry.numbers, []).map {
            try $0.integer("next_count")
        }
        guard let first = start.firstCount(from: (rows + numbers.values).max() ?? 0) else {
            throw StorageFault(.numbersSpent, "no numbers are left to go on with")
        }
        // For a kind without numbers in the copy, some may have been used
        // since.
        for kind in IDKind.allCases.map(\.rawValue) {
            try writing.execute(
                Statement.Restores.setNumbers, [.integer(kind), .integer(first)])
        }
        return first
    }
}

/// The migrations to apply to each database before its rows are loaded: those
/// that it had in the archive. Newer ones are applied when the store is opened.
struct RestorePlan {
    let registry: [Migration]
    let realms: [String: [Migration]]

    init(_ contents: ArchiveContents) throws {
        var registry: [Migration]?
        var realms: [String: [Migration]] = [:]
        for database in contents.databases {
            if let id = StoreArchiveRules.realmID(database.name) {
                realms[id] = try Self.prefix(database, RealmSchema.migrations)
            } else if database.name == StoreBackup.registry {
                registry = try Self.prefix(database, RegistrySchema.migrations)
            }
        }
        guard let registry, !registry.isEmpty,
            contents.databases.count == realms.count + 1
        else {
            throw ArchiveFault(
                .notAnArchive, "\(contents.path) has databases that no store has.",
                rule: "one registry, and each realm once")
        }
        self.registry = registry
        self.realms = realms
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
