// SPDX-License-Identifier: Apache-2.0

import Archive
public import Commerce
import Storage

/// The state of a store's databases, read without changing or locking them.
public struct StoreStatus: Hashable, Sendable, Codable {
    /// The schema of a database.
    public struct Schema: Hashable, Sendable, Codable {
        /// The number of migrations that were applied to it, and of those that
        /// this program knows.
        public let taken: Int
        public let known: Int
        /// `current`, `behind` (it is migrated when it is served) or `tooNew`.
        public let state: String
    }

    /// The contents of one database of a realm.
    public struct Holding: Hashable, Sendable, Codable {
        public let generation: Int64
        public let schema: Schema
        public let bytes: Int64
        public let rows: [String: Int64]
        /// The number of owed errands, and when the oldest fell due, in the
        /// realm's time.
        public let errands: Int64
        public let oldestErrandDue: Timestamp?
    }

    /// A realm's database on a cluster other than the home.
    public struct ClusterStatus: Hashable, Sendable, Codable {
        /// The buckets of its customers: `500-999`.
        public let buckets: String
        /// `here`, `empty`, `away`, `notNamed` (the home knows the cluster, but
        /// its address was not given) or `unknown` (the home does not know it).
        public let state: String
        /// Present if the state is `here`.
        public let holding: Holding?
    }

    /// A realm's database. If it has several, the home's.
    public struct RealmStatus: Hashable, Sendable, Codable {
        public let id: String
        public let name: String
        public let environment: Environment
        public let generation: Int64
        public let schema: Schema
        public let bytes: Int64
        public let rows: [String: Int64]
        public let errands: Int64
        public let oldestErrandDue: Timestamp?
        /// The realm's other clusters. Nil if there are none.
        public let clusters: [ClusterStatus]?
    }

    /// `SQLite`, `PostgreSQL`.
    public let engine: String
    /// The engine's facts: its version and its durability settings.
    public let facts: [String: String]
    public let registry: Schema
    /// The size of all databases together.
    public let bytes: Int64
    public let realms: [RealmStatus]
    /// Whether there is an unfinished restore. The store is then not served.
    public let isHalfRestored: Bool
    /// Whether there is an unfinished advance. The store is then not served.
    public let isHalfAdvanced: Bool

    /// Reads the state. Throws ``StorageFault``. A cluster other than the home
    /// that does not answer is reported in the result.
    public init(_ source: BackupSource) async throws {
        let dialect = source.dialect
        let (inventory, rows, isHalf) = try await source.registry.read { reading in
            let inventory = try DatabaseInventory(reading, dialect)
            return (
                inventory, try reading.query(Statement.Registry.liveRealms, []).map(RealmRow.init),
                (
                    restored: try Self.isHalf(
                        inventory, "restores", Statement.Restores.unfinished, reading),
                    advanced: try Self.isHalf(
                        inventory, "advances", Statement.Advances.unfinished, reading)
                )
            )
        }
        var realms: [RealmStatus] = []
        for row in rows {
            guard let realm = try await source.realm(row.id) else { continue }
            realms.append(try await Self.status(row, realm, source))
            try await realm.close()
        }
        engine = dialect.engine
        facts = inventory.facts
        registry = Self.schema(inventory.steps, RegistrySchema.migrations)
        bytes = inventory.bytes + realms.reduce(0) { $0 + $1.bytesEverywhere }
        self.realms = realms
        (isHalfRestored, isHalfAdvanced) = isHalf
    }

    private static func isHalf(
        _ inventory: DatabaseInventory, _ table: String, _ unfinished: Statement,
        _ reading: any Reading
    ) throws -> Bool {
        guard inventory.rows[table] != nil else { return false }
        return try reading.first(unfinished) != nil
    }

    private static func status(
        _ row: RealmRow, _ realm: any Storage, _ source: BackupSource
    ) async throws -> RealmStatus {
        let (home, known) = try await realm.read { reading in
            (
                try Holding(reading, source.dialect),
                try reading.query(Statement.Clustering.others, []).map {
                    try $0.text("buckets")
                }
            )
        }
        let clusters = try await clusters(known, row.id, source)
        return RealmStatus(
            id: row.id, name: row.name, environment: row.environment,
            generation: home.generation, schema: home.schema, bytes: home.bytes,
            rows: home.rows, errands: home.errands, oldestErrandDue: home.oldestErrandDue,
            clusters: clusters.isEmpty ? nil : clusters)
    }

    /// Returns the clusters that the home knows and those that were given.
    private static func clusters(
        _ known: [String], _ id: String, _ source: BackupSource
    ) async throws -> [ClusterStatus] {
        var named: [String: ClusterSource] = [:]
        for cluster in source.clusters { named[cluster.buckets.description] = cluster }
        var all: [ClusterStatus] = []
        for buckets in Set(known).union(named.keys).sorted() {
            guard let cluster = named[buckets] else {
                all.append(ClusterStatus(buckets: buckets, state: "notNamed", holding: nil))
                continue
            }
            let (state, holding) = try await look(at: cluster, id, source.dialect)
            let isKnown = known.contains(buckets)
            all.append(
                ClusterStatus(
                    buckets: buckets, state: isKnown ? state : "unknown", holding: holding))
        }
        return all
    }

    private static func look(
        at cluster: ClusterSource, _ id: String, _ dialect: Dialect
    ) async throws -> (state: String, holding: Holding?) {
        do {
            guard let realm = try await cluster.realm(id) else { return ("empty", nil) }
            let holding = try await realm.read { try Holding($0, dialect) }
            try await realm.close()
            return ("here", holding)
        } catch let fault as StorageFault where Realm.isAway(fault) {
            return ("away", nil)
        }
    }

    fileprivate static func schema(
        _ taken: [MigrationHistory.Step], _ known: [Migration]
    ) -> Schema {
        let isOurs = (try? MigrationHistory(taken: taken, known: known)) != nil
        let state = !isOurs ? "tooNew" : taken.count < known.count ? "behind" : "current"
        return Schema(taken: taken.count, known: known.count, state: state)
    }
}

extension StoreStatus.Holding {
    fileprivate init(_ reading: any Reading, _ dialect: Dialect) throws {
        let inventory = try DatabaseInventory(reading, dialect)
        let owed = try reading.first(Statement.Restores.errands)
        self.init(
            generation: try reading.first(Statement.Restores.generation)?
                .integer("generation") ?? 0,
            schema: StoreStatus.schema(inventory.steps, RealmSchema.migrations),
            bytes: inventory.bytes, rows: inventory.rows,
            errands: try owed?.integer("errands") ?? 0,
            oldestErrandDue: try owed?.optionalInteger("oldest").map(
                Timestamp.init(milliseconds:)))
    }
}

extension StoreStatus.RealmStatus {
    fileprivate var bytesEverywhere: Int64 {
        bytes + (clusters ?? []).reduce(0) { $0 + ($1.holding?.bytes ?? 0) }
    }
}
