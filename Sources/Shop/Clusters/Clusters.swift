// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import Storage

/// Another cluster than the home, as the executable or a test gives it:
/// where it keeps the databases of realms, and whose customers are there.
public struct ClusterPlace: Sendable {
    public var buckets: BucketRanges
    /// Opens the database of a realm, making it where there is none.
    public var realm: @Sendable (_ id: String, [Migration]) async throws -> any Storage
    /// Deletes the closed database of a realm; deleting again changes nothing.
    public var deleteRealm: @Sendable (_ id: String) async throws -> Void
    /// Throws where the database may lose what it acknowledges.
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
    /// Which cluster has which bucket. Throws ``BucketFault`` where two
    /// clusters name the same one.
    public func buckets() throws(BucketFault) -> BucketMap {
        clusters.isEmpty ? .whole : try BucketMap(others: clusters.map(\.buckets))
    }
}

/// The databases of one realm: the home's, which holds what is nobody's and
/// what is administered, and those of other clusters, each with the facts of
/// its customers and a copy of the house rows that their commits read
/// (``House``). Nothing that is sold is ever in two of them.
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

    /// Where the customer's facts are. Nobody's are at home.
    func of(_ customer: CustomerID) -> any Storage { of(number: customer.value) }

    /// By any number that ends with its customer's bucket.
    func of(number: Int64) -> any Storage { self[map.cluster(of: number)] }

    /// The home first.
    subscript(index: Int) -> any Storage { index == 0 ? home : others[index - 1] }

    var all: [any Storage] { [home] + others }

    var isOne: Bool { others.isEmpty }

    /// What people call a cluster: the buckets it has.
    func name(_ index: Int) -> String {
        index == 0 ? "home" : others[index - 1].name
    }

    /// The answers of all clusters, the home's first. One that does not
    /// answer fails the whole: half a list would pass for the whole one.
    ///
    /// `number`: whose answer it is alone; then only that cluster is asked.
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

    /// A page of a list that every cluster has a part of, each part in
    /// order: all are asked for a whole page, for it may be one cluster's.
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
    /// The order in which both engines keep texts: that of their bytes.
    func isBefore(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}
