// SPDX-License-Identifier: Apache-2.0

public import Archive
public import Commerce
public import Storage

/// A store opened for reading by a backup. A server may serve it at the same
/// time.
public struct BackupSource: Sendable {
    public var dialect: Dialect
    public var registry: any Storage
    /// Returns the database of a realm. Nil if there is none.
    public var realm: @Sendable (_ id: String) async throws -> (any Storage)?
    public var keys: any KeyStore
    /// The other clusters, for their status. A backup has none.
    public var clusters: [ClusterSource] = []

    public init(
        dialect: Dialect, registry: any Storage,
        realm: @escaping @Sendable (_ id: String) async throws -> (any Storage)?,
        keys: any KeyStore
    ) {
        self.dialect = dialect
        self.registry = registry
        self.realm = realm
        self.keys = keys
    }
}

/// A cluster other than the home, opened for reading.
public struct ClusterSource: Sendable {
    public var buckets: BucketRanges
    /// Returns the database of a realm. Nil if there is none.
    public var realm: @Sendable (_ id: String) async throws -> (any Storage)?

    public init(
        buckets: BucketRanges,
        realm: @escaping @Sendable (_ id: String) async throws -> (any Storage)?
    ) {
        self.buckets = buckets
        self.realm = realm
    }
}

/// Copies a store into one archive while it is in use: registry, realms and
/// keys. Each database is copied in the state of one moment. The list of realms
/// is that of the registry's moment. The next free numbers are read last, so
/// that they are above every number in the copy.
///
/// Left out are sessions (every device signs in again after a restore, and
/// recognises it by that), the sealed form of keys (they are written in plain
/// form) and leases.
public enum StoreBackup {
    /// The value of `holds` in the archive's header.
    static let holds = "store"
    static let registry = "registry"
    static let realmPrefix = "realm "

    /// Writes an archive to a new file. Throws ``ArchiveFault`` and
    /// ``StorageFault``. An incomplete file is removed.
    public static func write(
        _ source: BackupSource, to path: String, madeAt: Timestamp
    ) async throws -> ArchiveWriter.Summary {
        try await check(source.registry)
        let writer = try ArchiveWriter(
            path: path,
            header: ArchiveHeader(holds: holds, madeAt: madeAt, engine: source.dialect.engine))
        do {
            try await writer.add(
                source.registry, as: registry, source.dialect, RegistrySchema.tables)
            for id in try await realms(source.registry) {
                try await add(realm: id, of: source, to: writer)
            }
            for name in try await source.keys.names() {
                guard let bytes = try await source.keys.read(name) else { continue }
                try writer.add(key: name, bytes)
            }
            for (kind, next) in try await numbers(source.registry) {
                try writer.add(number: kind, next: next)
            }
            return try writer.finish()
        } catch {
            writer.discard()
            throw error
        }
    }

    private static func add(
        realm id: String, of source: BackupSource, to writer: ArchiveWriter
    ) async throws {
        guard let realm = try await source.realm(id) else {
            throw ArchiveFault(
                .source, "The realm \(id) has no database; it may just have been deleted.",
                rule: "every realm of the registry is copied", remedy: "make the backup again")
        }
        do {
            try await checkIsWhole(realm, id)
            try await writer.add(
                realm, as: realmPrefix + id, source.dialect, RealmSchema.tables.map(\.table))
        } catch {
            try? await realm.close()
            throw error
        }
        try await realm.close()
    }

    /// Throws if the realm has several clusters, because an archive has the
    /// state of one moment.
    private static func checkIsWhole(_ realm: any Storage, _ id: String) async throws {
        let isShared = try await realm.read { reading in
            try reading.first(Statement.Clustering.own)?.optionalText("buckets") != nil
        }
        guard !isShared else {
            throw ArchiveFault(
                .source, "The realm \(id) has customers on other clusters.",
                rule: "a backup is of one moment of one database",
                remedy: "back up each cluster with PostgreSQL's own means (docs/SCALING.md)")
        }
    }

    /// Throws if there is an unfinished restore or advance.
    private static func check(_ registry: any Storage) async throws {
        let taken = try await registry.read { reading in
            try MigrationHistory.steps(reading)
        }
        _ = try MigrationHistory(taken: taken, known: RegistrySchema.migrations)
        try await StoreRestore.checkFinished(registry)
        try await StoreAdvance.checkFinished(registry)
    }

    private static func realms(_ registry: any Storage) async throws -> [String] {
        try await registry.read { reading in
            try reading.query(Statement.Registry.liveRealms, []).map { try $0.text("id") }
        }
    }

    private static func numbers(_ registry: any Storage) async throws -> [(Int64, Int64)] {
        try await registry.read { reading in
            try reading.query(Statement.Registry.numbers, []).map {
                (try $0.integer("kind"), try $0.integer("next_count"))
            }
        }
    }
}
