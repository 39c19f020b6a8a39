// SPDX-License-Identifier: Apache-2.0

import Commerce
package import Storage
import Work

extension Realm {
    /// The database of everything that does not belong to a customer.
    var home: any Storage { clusters.home }

    /// The database with all facts of a customer.
    func storage(of customer: CustomerID) -> any Storage { clusters.of(customer) }

    /// Opens the home, creates what a new one lacks, and opens the others. A
    /// cluster that cannot be reached is opened later when it is needed, except
    /// by a realm with a seed, whose numbers could repeat. Throws
    /// ``StorageFault`` `otherClusters` if a cluster is not the original one.
    static func openClusters(_ row: RealmRow, _ ports: StorePorts) async throws -> Clusters {
        let map: BucketMap
        do { map = try ports.places.buckets() } catch {
            throw StorageFault(.otherClusters, "\(error)")
        }
        let home = try await ports.places.realm(row.id, RealmSchema.migrations)
        var clusters = Clusters(home: home)
        do {
            let marks = try await makeHome(row, map, in: home, ports)
            let others = zip(ports.places.clusters, marks).map { place, mark in
                FarCluster(place.buckets) {
                    try await openFar(place, mark, row, home: home, ports)
                }
            }
            clusters = Clusters(home: home, others: others, map: map)
            if ports.places.isOneProcess { try await Errands.releaseLeft(in: home) }
            for cluster in others { try await open(cluster, of: row, ports) }
            return clusters
        } catch {
            try? await clusters.close()
            throw error
        }
    }

    /// Creates the home's rows. Returns the marks of the other clusters.
    private static func makeHome(
        _ row: RealmRow, _ map: BucketMap, in home: any Storage, _ ports: StorePorts
    ) async throws -> [String] {
        if try await home.read({ try $0.first(Statement.Clustering.own) }) == nil {
            let marks = (1..<map.count).map { _ in ports.randomness.hex(8) }
            try await home.write { writing in
                // Another process may have been first, with marks of its own.
                guard
                    try writing.first(
                        Statement.Realms.insert,
                        row.born(
                            generation: Self.firstGeneration, house: 0,
                            buckets: Founding.text(map))) != nil
                else { return }
                try writing.execute(Statement.Clustering.insertClock, RealmClock.bornRow)
                try Founding.write(map, marks: marks, writing)
            }
        }
        return try await home.read { reading in
            guard try reading.first(Statement.Clustering.own)?.text("id") == row.id else {
                throw StorageFault(.unreadable, "this database belongs to another realm")
            }
            return try Founding.marks(map, realm: row.name, reading)
        }
    }

    private static func openFar(
        _ place: ClusterPlace, _ mark: String, _ row: RealmRow, home: any Storage,
        _ ports: StorePorts
    ) async throws -> any Storage {
        if row.environment == .production { try await place.proveDurable() }
        let far = try await place.realm(row.id, RealmSchema.migrations)
        do {
            let wall = ports.wall.now
            try await Founding.prove(mark, place.buckets, of: row, in: far, home: home, at: wall)
            try await bringHouse(from: home, to: far, at: wall)
            if ports.places.isOneProcess { try await Errands.releaseLeft(in: far) }
            return far
        } catch {
            try? await far.close()
            throw error
        }
    }

    private static func open(
        _ cluster: FarCluster, of row: RealmRow, _ ports: StorePorts
    ) async throws {
        do { try await cluster.opened() } catch let fault as StorageFault
            where isAway(fault) && row.seed == nil
        {
            ports.log(
                .error, "a cluster does not answer: its customers have to wait", nil,
                ["realm": row.id, "cluster": cluster.name, "fault": "\(fault)"])
        }
    }

    /// Whether a later attempt may succeed.
    package static func isAway(_ fault: StorageFault) -> Bool {
        [.unavailable, .busy, .outcomeUnknown].contains(fault.code)
    }

    /// Rings the bell of the worker on the customer's cluster.
    func ring(_ customer: CustomerID) {
        bells[clusters.map.cluster(of: customer.value)].ring()
    }

    func ringAll() {
        for bell in bells { bell.ring() }
    }

    /// Whether the realm's only database is the home.
    var isOneCluster: Bool { clusters.isOne }

    /// Whether a customer's facts are on another cluster than the home.
    func isFar(_ customer: CustomerID) -> Bool { clusters.map.cluster(of: customer.value) != 0 }

    var isClosed: Bool { bells[0].isClosed }
}
