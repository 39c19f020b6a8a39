// SPDX-License-Identifier: Apache-2.0

public import Storage

/// The places of databases. The executable or a test supplies them.
public struct StoragePlaces: Sendable {
    /// Opens the registry and migrates it.
    public var registry: @Sendable ([Migration]) async throws -> any Storage
    /// Opens the database of a realm, and creates it if there is none.
    public var realm: @Sendable (_ id: String, [Migration]) async throws -> any Storage
    /// Deletes the closed database of a realm. A repeated call has no effect.
    public var deleteRealm: @Sendable (_ id: String) async throws -> Void
    /// Deletes the closed registry, after a restore into it was refused. Nil if
    /// it cannot be deleted; its rows are then deleted.
    public var deleteRegistry: (@Sendable () async throws -> Void)?
    /// Whether no other process can have these databases open. Errands of an
    /// earlier process are then free at once, without waiting for their leases.
    public var isOneProcess: Bool
    /// Whether leases use the database's time. Otherwise they use this
    /// machine's, which all users of the database share.
    public var leasesInDatabaseTime: Bool
    /// Throws if the database may lose what it has acknowledged. Called before
    /// a production realm is opened.
    public var proveDurable: @Sendable () async throws -> Void
    /// Other clusters, each with the customers of its buckets. These places are
    /// then the home's: they have the registry, the names, what is
    /// administered, and the customers of all other buckets.
    public var clusters: [ClusterPlace] = []

    public init(
        registry: @escaping @Sendable ([Migration]) async throws -> any Storage,
        realm: @escaping @Sendable (_ id: String, [Migration]) async throws -> any Storage,
        deleteRealm: @escaping @Sendable (_ id: String) async throws -> Void,
        isOneProcess: Bool = false, leasesInDatabaseTime: Bool = false,
        proveDurable: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.leasesInDatabaseTime = leasesInDatabaseTime
        self.isOneProcess = isOneProcess
        self.proveDurable = proveDurable
        self.registry = registry
        self.realm = realm
        self.deleteRealm = deleteRealm
    }
}
