// SPDX-License-Identifier: Apache-2.0

import Commerce
public import SignedData
import Storage
import StoreWire
import Synchronization

/// A store: one certificate authority for each kind of realm, and any number of
/// realms. A class, because all its users share the open databases.
///
/// ```swift
/// let store = try await Store.open(ports)
/// let realm = try await store.realm(named: Store.defaultRealm)
/// ```
public final class Store: Sendable {
    /// The realm that every store has.
    public static let defaultRealm = "default"

    let ports: StorePorts
    let registry: any Storage
    let numbers: NumberBlocks
    let authorities: Authorities
    let keyRealms: ServerKeyRealms
    let recentTokens = RecentTokens()
    let open = OpenRealms()
    /// When the store was last found ready, in wall time.
    let readyAt = Mutex<Timestamp?>(nil)
    let attempts = AttemptLimits()
    let passwordQueue: PasswordQueue
    let receipts: ReceiptDesk
    let contentKey: ContentLinkKey
    private let doorKeys: [Door: String]
    private let opened = Mutex<[String: Task<Realm, any Error>]>([:])
    private let named = Mutex<[String: Realm]>([:])

    private init(ports: StorePorts, registry: any Storage, doorKeys: [Door: String]) {
        self.ports = ports
        self.registry = registry
        self.doorKeys = doorKeys
        passwordQueue = PasswordQueue(workers: ports.passwordWorkers)
        receipts = ReceiptDesk(workers: ports.passwordWorkers)
        contentKey = ContentLinkKey(keys: ports.keys, randomness: ports.randomness)
        numbers = NumberBlocks(registry: registry)
        keyRealms = ServerKeyRealms(registry: registry)
        authorities = Authorities(keys: ports.keys, statusURLs: ports.statusURLs)
    }

    /// Opens the registry and creates what a new store lacks (door keys, the
    /// sandbox's certificate authority, the default realm). Then finishes what
    /// an earlier process left unfinished, and asks the processor of every
    /// realm for the outcome of purchases that are authorising.
    public static func open(_ ports: StorePorts) async throws -> Store {
        let registry = try await ports.places.registry(RegistrySchema.migrations)
        do {
            try await StoreRestore.checkFinished(registry)
            try await StoreAdvance.checkFinished(registry)
        } catch {
            try? await registry.close()
            throw error
        }
        let doorKeys = try await makeDoorKeys(in: registry, ports.randomness)
            .merging(ports.doorKeys) { _, given in given }
        let store = Store(ports: ports, registry: registry, doorKeys: doorKeys)
        do {
            _ = try await store.authorities.authority(.sandbox)
            try await store.auditRotations()
            try await store.makeDefaultRealm()
            try await store.numbers.prepare(.transaction)
            try await store.removeDeletedRealms()
            try await store.settleRealms()
            return store
        } catch {
            await store.close()
            throw error
        }
    }

    /// Returns the open realm with a name. Refusal: `realmNotFound`. A name is
    /// cached, because every request looks up its realm. A registry in SQLite
    /// has only one process, so no other one can delete the realm.
    public func realm(named name: String) async throws -> Realm {
        await authorities.lookIfDue(ports.wall.now, ports.log)
        if let known = named.withLock({ $0[name] }) { return known }
        guard let row = try await realmRow(named: name) else { throw Self.realmNotFound(name) }
        let realm = try await opened(row)
        named.withLock { $0[name] = realm }
        // The realm was deleted while it was being opened, after the deletion
        // had removed the name.
        if try await realmRow(named: name)?.id != row.id { named.withLock { $0[name] = nil } }
        return realm
    }

    /// Returns an open realm that was asked for before, without a wait. Nil for others.
    public func knownRealm(named name: String) -> Realm? { named.withLock { $0[name] } }

    /// Returns the key of a door, for `run.json`.
    public func doorKey(_ door: Door) async throws -> String {
        guard let key = doorKeys[door] else {
            throw Refusal(.notFound, code: "doorKeyMissing", "This door has no key.")
        }
        return key
    }

    /// Checks a key at a door. Accepts the door's own key, compared in constant
    /// time, and at the operators' door also operators' keys. A key opens no
    /// other door. A right key is always accepted, even after many wrong ones
    /// from the same client. After many wrong keys, further wrong keys of the
    /// client have to wait. Refusal: `tooManyAttempts`.
    public func knock(
        _ key: String, at door: Door, _ context: RequestContext
    ) async throws -> Knock {
        if fits(key, door) { return .admitted(as: door.rawValue) }
        if Door.allCases.contains(where: { fits(key, $0) }) { return .otherDoor }
        if let name = try await operatorName(ofKey: key) {
            return door == .operator ? .admitted(as: name) : .otherDoor
        }
        let client = context.client ?? "here"
        let now = ports.wall.now
        try attempts.admitKey(of: client, at: now)
        attempts.wrongKey(of: client, at: now)
        return .refused
    }

    private func fits(_ key: String, _ door: Door) -> Bool {
        guard let right = doorKeys[door] else { return false }
        return constantTimeEqual(Array(key.utf8), Array(right.utf8))
    }

    /// Returns the root against which people and devices verify signatures.
    /// Refusal: `authorityNotMade` for production before the first production
    /// realm.
    public func rootCertificate(_ kind: AuthorityKind) async throws -> RootCertificate {
        guard let authority = try await authorities.existing(kind) else {
            throw Refusal(
                .notFound, code: "authorityNotMade",
                "The production certificate authority has not been made.", field: "kind",
                rule: "it is made with the first production realm",
                remedy: "create a production realm, or ask for the sandbox's root")
        }
        return RootCertificate(
            der: authority.root, pem: authority.rootPEM, fingerprint: authority.rootFingerprint)
    }

    /// Issues a certificate for a server with TLS, which clients accept that
    /// trust the sandboxes' root. Its key is in the answer only, so a server asks
    /// for a new one at each start.
    public func serverCertificate(for names: ServerNames) async throws -> ServerCertificate {
        try await authorities.authority(.sandbox)
            .serverCertificate(for: names, .sandbox, now: ports.wall.now)
    }

    /// Closes every database. Later calls throw.
    public func close() async {
        readyAt.withLock { $0 = nil }
        let tasks = opened.withLock { opened in
            defer { opened = [:] }
            return Array(opened.values)
        }
        for task in tasks {
            guard let realm = try? await task.value else { continue }
            await realm.close()
        }
        do { try await registry.close() } catch { ports.log(.error, "the registry did not close") }
    }

    /// Opens a realm once for all concurrent callers.
    func opened(_ row: RealmRow) async throws -> Realm {
        let task = opened.withLock { opened in
            if let task = opened[row.id] { return task }
            let task = Task { try await openLive(row) }
            opened[row.id] = task
            return task
        }
        do { return try await task.value } catch {
            opened.withLock { opened in
                if opened[row.id] == task { opened[row.id] = nil }
            }
            throw error
        }
    }

    /// Opens a realm. If it is deleted in the meantime, deletes what this
    /// created.
    private func openLive(_ row: RealmRow) async throws -> Realm {
        if row.environment == .production { try await ports.places.proveDurable() }
        let realm = try await Realm.open(row, parts)
        if try await realmRow(named: row.name)?.id == row.id {
            open.add(realm)
            return realm
        }
        await realm.close()
        for cluster in ports.places.clusters { try await cluster.deleteRealm(row.id) }
        try await ports.places.deleteRealm(row.id)
        throw Self.realmNotFound(row.name)
    }

    /// Removes a realm from the open ones, and closes it.
    func closeRealm(id: String) async {
        named.withLock { named in named = named.filter { $0.value.description.id != id } }
        open.remove(id)
        guard let task = opened.withLock({ $0.removeValue(forKey: id) }) else { return }
        guard let realm = try? await task.value else { return }
        await realm.close()
    }
}

/// The result of checking a key at a door.
public enum Knock: Hashable, Sendable {
    /// Accepted, with a name for the audit: the key's own, or
    /// ``Store/unnamedOperator``.
    case admitted(as: String)
    /// The key belongs to another door.
    case otherDoor
    /// The key is invalid.
    case refused
}

/// The root certificate of all signatures of one kind of realm.
public struct RootCertificate: Hashable, Sendable {
    public let der: [UInt8]
    public let pem: String
    /// SHA-256 of the DER, in lower-case hexadecimal digits.
    public let fingerprint: String
}
