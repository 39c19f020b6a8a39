// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import Storage

/// A cluster other than the home: where it keeps the databases of realms, and
/// the buckets of its customers. The executable or a test supplies it.
public struct ClusterPlace: Sendable {
    public var buckets: BucketRanges
    /// Opens the database of a realm, and creates it if there is none.
    public var realm: @Sendable (_ id: String, [Migration]) async throws -> any Storage
    /// Deletes the closed database of a realm. A repeated call has no effect.
    public var deleteRealm: @Sendable (_ id: String) async throws -> Void
    /// Throws if the database may lose what it has acknowledged.
    public var proveDurable: @Sendable () async throws -> Void

    public init(
        buckets: BucketRanges,
        realm: @escaping @Sendable (_ id: String, [Migration]) async throws -> any Storage,
        deleteRealm: @escaping @Sendable (_ id: String) async throws -> Void,
        proveDurable: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.buckets = buckets
        self.realm = realm
        self.deleteRealm = deleteRealm
        self.proveDurable = proveDurable
    }
}

extension StoragePlaces {
    /// Returns the map of buckets to clusters. Throws ``BucketFault`` if two
    /// clusters name the same bucket.
    public func buckets() throws(BucketFault) -> BucketMap {
        clusters.isEmpty ? .whole : try BucketMap(others: clusters.map(\.buckets))
    }
}

/// The databases of one realm. The home has everything that belongs to no
/// customer and everything that is administered. Each other cluster has the
/// facts of its own customers and a copy of the house rows that their commits
/// read (``House``). A sale is never in two databases.
struct Clusters: Sendable {
    let home: any Storage
    let others: [FarCluster]
    let map: BucketMap

    init(home: any Storage, others: [FarCluster] = [], map: BucketMap = .whole) {
        precondition(map.count == others.count + 1, "each cluster has its place on the map")
        self.home = home
        self.others = others
        self.map = map
    }

    /// Returns the database with the customer's facts. Those of customer 0 are
    /// at the home.
    func of(_ customer: CustomerID) -> any Storage { of(number: customer.value) }

    /// Returns the database for any number that ends with its customer's
    /// bucket.
    func of(number: Int64) -> any Storage { self[map.cluster(of: number)] }

    /// The home has index 0.
    subscript(index: Int) -> any Storage { index == 0 ? home : others[index - 1] }

    var all: [any Storage] { [home] + others }

    var isOne: Bool { others.isEmpty }

    /// The name of a cluster for people: its buckets.
    func name(_ index: Int) -> String {
        index == 0 ? "home" : others[index - 1].name
    }

    /// Reads from all clusters, and returns the home's answer first. Throws if
    /// one does not answer, because a partial list could be mistaken for a
    /// complete one.
    ///
    /// `number`: if given, only the cluster of this number is asked.
    func readAll<Answer: Sendable>(
        of number: Int64? = nil,
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> [Answer] {
        if isOne { return [try await home.read(body)] }
        if let number { return [try await of(number: number).read(body)] }
        return try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
            for (index, storage) in all.enumerated() {
                group.addTask { (index, try await storage.read(body)) }
            }
            var answers: [Int: Answer] = [:]
            for try await (index, answer) in group { answers[index] = answer }
            return answers.keys.sorted().compactMap { answers[$0] }
        }
    }

    /// Returns a page of a list that is divided among the clusters, each part
    /// in order. Every cluster is asked for a whole page, because all of it may
    /// come from one.
    func page<Element: Sendable>(
        _ limit: Int, of number: Int64? = nil, by isBefore: (Element, Element) -> Bool,
        _ body: @escaping @Sendable (any Reading) throws -> [Element]
    ) async throws -> [Element] {
        let parts = try await readAll(of: number, body)
        if parts.count == 1 { return parts[0] }
        return Array(parts.joined().sorted(by: isBefore).prefix(limit))
    }

    func close() async throws {
        var failure: (any Error)?
        for storage in all {
            do { try await storage.close() } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

extension String {
    /// The order of texts in both engines, which is by bytes.
    func isBefore(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}
