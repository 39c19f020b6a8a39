// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SignedData
import Storage
public import StoreWire
import Synchronization
package import Work

/// One isolated world inside a store: its apps, customers, catalogue,
/// transactions and clock, in its own database. Its use cases accept and return
/// wire values, so that a server module is a thin shell around them.
///
/// A class, because all its users share its database, its cached catalogue and
/// its waiting requests.
public final class Realm: Sendable {
    /// The sign-in name of the customer that a sandbox is created with.
    public static let defaultCustomer = "customer"
    /// The generation with which a realm is made.
    static let firstGeneration: Int64 = 1

    /// Contains the generation of when this process opened the realm. A session
    /// contains the present one.
    public let description: RealmDescription

    /// The databases of the realm. Only one, unless its customers are divided
    /// among clusters.
    let clusters: Clusters
    let ports: StorePorts
    private let live: LiveAuthority
    let authorities: Authorities
    let processor: (any Authoriser)?
    let hub = Waiters<CustomerID>()
    /// The bells to ring after every commit that owes outer work, one for each
    /// cluster.
    package let bells: [WorkBell]
    /// What this process runs of outer work, for each cluster.
    package let lanes: [RunningLanes]
    package let jumpTurns: [JumpTurn]
    package let clockTurns: [ClockTurns]
    /// The turn of the task that changes which customers have which clocks. It is taken
    /// before all other turns.
    let clockOwnersTurn = JumpTurn()
    /// The handler for each kind of outer work.
    package let errandHandlers: [String: any ErrandHandler<Realm>]
    /// The handler for each kind of inner work. Every process handles all
    /// kinds.
    package let dueWorkHandlers: [String: any DueWorkHandler<Realm>]
    package let chores: [Chore<Realm>]
    let passwords: Passwords
    let recentSessions = RecentSessions()
    let attempts: AttemptLimits
    let merchantLimits = MerchantLimits()
    let contentKey: ContentLinkKey
    let contentChecks = ContentChecks()
    let seed: Int64?
    private let seeded: SeededNumbers?
    private let numbers: NumberBlocks
    let keyRealms: ServerKeyRealms
    let recentTokens: RecentTokens
    private let cachedShelf = Mutex<Shelf?>(nil)
    private let hearing = Mutex<Task<Void, Never>?>(nil)

    private init(_ opening: Opening, _ clusters: Clusters, of parts: RealmParts) async throws {
        description = opening.description
        seed = opening.seed
        seeded = opening.seed == nil ? nil : SeededNumbers(next: opening.nextCounts)
        numbers = parts.numbers
        keyRealms = parts.keyRealms
        recentTokens = parts.recentTokens
        ports = parts.ports
        passwords = Passwords(
            cost: parts.ports.passwordCost, randomness: parts.ports.randomness,
            queue: parts.passwordQueue)
        attempts = parts.attempts
        contentKey = parts.contentKey
        processor = parts.ports.authoriser(opening.description)
        let handlers = parts.errandHandlers(processor)
        errandHandlers = Dictionary(uniqueKeysWithValues: handlers.map { ($0.kind, $0) })
        dueWorkHandlers = Dictionary(
            uniqueKeysWithValues: parts.dueWorkHandlers.map { ($0.kind, $0) })
        chores = parts.chores
        authorities = parts.authorities
        live = try await parts.authorities.live(
            opening.description.environment == .production ? .production : .sandbox)
        self.clusters = clusters
        bells = clusters.all.map { _ in WorkBell() }
        lanes = clusters.all.map { _ in RunningLanes() }
        jumpTurns = clusters.all.map { _ in JumpTurn() }
        clockTurns = clusters.all.map { _ in ClockTurns() }
    }

    /// Opens the realm's databases and creates what a new one lacks.
    static func open(_ row: RealmRow, _ parts: RealmParts) async throws -> Realm {
        let clusters = try await openClusters(row, parts.ports)
        do {
            guard var opening = try await clusters.home.read({ try Opening(reading: $0) }) else {
                throw StorageFault(.unreadable, "the realm's row cannot be read back")
            }
            // A seeded realm continues after the counts in the rows of all
            // clusters.
            for cluster in clusters.others where opening.seed != nil {
                let counts = try await cluster.read { try Opening.nextCounts(reading: $0) }
                opening.nextCounts.merge(counts) { max($0, $1) }
            }
            let realm = try await Realm(opening, clusters, of: parts)
            realm.hearing.withLock { $0 = realm.hearWakes() }
            if !opening.hasDefaultCustomer, !realm.isProduction {
                try await parts.makeDefaultCustomer(realm)
            }
            return realm
        } catch {
            try? await clusters.close()
            throw error
        }
    }

    /// Closes the realm's database.
    func close() async {
        hearing.withLock { $0 }?.cancel()
        hub.finish()
        for bell in bells { bell.close() }
        do { try await clusters.close() } catch {
            ports.log(.error, "a realm did not close", nil, ["realm": description.id])
        }
    }

    /// The authority that signs at present. A rotation changes it while the
    /// realm is open.
    var authority: CertificateAuthority { live.current }

    var isProduction: Bool { description.environment == .production }

    /// How payments are authorised.
    var authoriserKind: AuthoriserKind {
        if processor != nil { return .processor }
        return isProduction ? .none : .rule
    }

    /// Whether the processor may know charges that the store does not: since the realm
    /// was made, it was restored from a copy or set back.
    var mayHaveLostCharges: Bool {
        processor != nil && description.generation > Self.firstGeneration
    }

    /// Draws a number of a kind. `bucket` is that of its customer. A customer's
    /// own number determines the bucket.
    func newNumber(_ kind: IDKind, bucket: Int64? = nil) async throws -> Int64 {
        guard let seeded else { return try await numbers.next(kind, bucket: bucket) }
        let count = seeded.next(kind)
        return NumberLayout(
            kind: kind, count: count, bucket: bucket ?? count % NumberLayout.buckets
        ).number
    }

    /// Gives back a number that was drawn and then neither written nor returned
    /// to any caller.
    func giveBack(_ number: Int64) {
        guard let seeded else { return numbers.giveBack(number) }
        guard let layout = NumberLayout(number: number) else { return }
        seeded.giveBack(layout.kind, layout.count)
    }

    /// The next counts of a seeded realm in this process. Empty for any other
    /// realm.
    var seededNext: [IDKind: Int64] { seeded?.nextCounts ?? [:] }

    /// Returns a UUID for a thing that `cause` names. It is random, except in a
    /// seeded realm, where it depends only on the seed and the cause, also
    /// after a restart.
    func uuid(for cause: String) -> String { randomness(for: cause).uuid() }

    /// Returns a source of at most 32 bytes for a thing that `cause` names, as
    /// ``uuid(for:)`` does for a UUID.
    func randomness(for cause: String) -> Randomness {
        guard let seed else { return ports.randomness }
        let digest = Array(SHA256.hash(data: Data("\(seed)/\(cause)".utf8)))
        return Randomness { Array(digest.prefix($0)) }
    }

    /// Returns sixteen bytes that are the same at every request for the same
    /// receipt.
    func opaque(for cause: String) -> [UInt8] {
        let world = seed.map(String.init) ?? description.id
        return Array(SHA256.hash(data: Data("\(world)/receipt/\(cause)".utf8)).prefix(16))
    }

    /// Returns what the realm's apps sell to a customer. Reads it again only
    /// after a change.
    func shelf(revision: Int64, for customer: CustomerID) async throws -> Shelf {
        if let cached = cachedShelf.withLock({ $0 }), cached.revision == revision {
            return cached
        }
        return try await loadShelf(for: customer)
    }

    /// The revision of the catalogue that this process has read last.
    var shelfRevision: Int64? { cachedShelf.withLock { $0?.revision } }

    /// Returns what the realm's apps sell now.
    @discardableResult
    func loadShelf() async throws -> Shelf { try await loadShelf(in: home) }

    /// Returns what they sell to a customer, from the customer's cluster. This
    /// may be a moment behind the home, but the customer's commits decide by
    /// it.
    func loadShelf(for customer: CustomerID) async throws -> Shelf {
        try await loadShelf(in: storage(of: customer))
    }

    func loadShelf(in storage: any Storage) async throws -> Shelf {
        let known = cachedShelf.withLock { $0 }
        let shelf = try await storage.read { reading in
            let revision = try reading.first(Statement.Realms.clock)?
                .integer("catalogue_revision")
            if let known, known.revision == revision { return known }
            return try Shelf(reading: reading)
        }
        cachedShelf.withLock { cached in
            if (cached?.revision ?? -1) < shelf.revision { cached = shelf }
        }
        return shelf
    }
}

/// The facts in a realm's database that are needed to open it.
private struct Opening: Sendable {
    let description: RealmDescription
    let seed: Int64?
    let hasDefaultCustomer: Bool
    /// The first free count of each kind.
    var nextCounts: [IDKind: Int64]

    /// Nil if the database is new.
    init?(reading: any Reading) throws {
        guard let row = try reading.first(Statement.Realms.open) else { return nil }
        description = RealmDescription(
            id: try row.text("id"), name: try row.text("name"),
            environment: Environment(rawValue: try row.text("environment")),
            generation: try row.integer("generation"))
        seed = try row.optionalInteger("seed")
        hasDefaultCustomer = try row.optionalInteger("default_customer") != nil
        nextCounts = try Self.nextCounts(row, reading)
    }

    static func nextCounts(reading: any Reading) throws -> [IDKind: Int64] {
        guard let row = try reading.first(Statement.Realms.open) else { return [:] }
        return try nextCounts(row, reading)
    }

    private static func nextCounts(
        _ row: Row, _ reading: any Reading
    ) throws -> [IDKind: Int64] {
        var next = try Realm.nextCounts(row)
        for mark in try reading.query(Statement.Resets.marks, []) {
            guard let kind = IDKind(rawValue: try mark.integer("kind")) else { continue }
            next[kind] = max(next[kind] ?? 0, try mark.integer("next_count"))
        }
        return next
    }
}

extension Realm {
    /// Returns the first free count of each kind, from a row of
    /// ``Statement/Realms/open``.
    static func nextCounts(_ row: Row) throws -> [IDKind: Int64] {
        let columns: [IDKind: String] = [
            .customer: "customer", .transaction: "last_transaction", .device: "device",
            .appTransaction: "app_transaction",
        ]
        return try columns.compactMapValues { column in
            try row.optionalInteger(column).flatMap(NumberLayout.init(number:)).map { $0.count + 1 }
        }
    }
}
