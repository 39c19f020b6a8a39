// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// Copies the home's house rows to the other clusters.
extension Realm {
    /// Copies the home's house rows to all other clusters, concurrently. A
    /// cluster that cannot be reached receives them later from a worker. This
    /// is logged.
    func bringHouse() async {
        if clusters.isOne { return }
        await withDiscardingTaskGroup { group in
            for cluster in clusters.others {
                group.addTask { await self.bringHouseQuietly(to: cluster) }
            }
        }
    }

    private func bringHouseQuietly(to cluster: FarCluster) async {
        do { try await Self.bringHouse(from: home, to: cluster, at: ports.wall.now) } catch {
            ports.log(
                .warning, "a change cannot be copied to a cluster at present", nil,
                ["realm": description.id, "cluster": cluster.name, "fault": "\(error)"])
        }
    }

    /// If nothing has changed, only two revisions are read.
    static func bringHouse(
        from home: any Storage, to far: any Storage, at wall: Timestamp
    ) async throws {
        let there = try await houseRevision(far)
        let here = try await houseRevision(home)
        guard there <= here else {
            throw StorageFault(
                .otherClusters,
                "the home's rows are of revision \(here), and this cluster has seen \(there): "
                    + "the home was set back to an older state")
        }
        if there == here { return }
        let house = try await home.read { try House($0) }
        _ = try await far.writeOrLeave { try house.write($0, wall: wall) }
    }

    private static func houseRevision(_ storage: any Storage) async throws -> Int64 {
        try await storage.read { reading in
            guard let row = try reading.first(Statement.Houses.state) else {
                throw StorageFault(.malformedRow, "the realm has no row")
            }
            return try row.integer("house_revision")
        }
    }
}
