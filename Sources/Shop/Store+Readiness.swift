// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

extension Store {
    /// How long an answer stands, so that asking often costs no commits.
    static let readinessSeconds: Int64 = 1
    /// More than a page, so that a database without room is found out.
    static let readinessRoom = 16_384

    /// Returns where the store could sell now: its registry takes a write
    /// and makes it durable, the default realm answers, and the keys are there. Throws
    /// ``StorageFault`` and ``KeyStoreFault`` where not. A yes stands for a second.
    ///
    /// Other clusters do not decide: one that is down stops its own customers,
    /// whom no other server process would serve either. Which are is answered.
    @discardableResult
    public func readiness() async throws -> Readiness {
        let now = ports.wall.now
        if let last = readyAt.withLock({ $0 }), last <= now,
            now < last.adding(seconds: Self.readinessSeconds)
        {
            return Readiness(open.now)
        }
        readyAt.withLock { $0 = nil }
        let room = [UInt8](repeating: 0, count: Self.readinessRoom)
        try await registry.write { writing in
            try writing.execute(Statement.Registry.askReadiness, [.blob(room)])
            try writing.execute(Statement.Registry.leaveReadiness, [])
        }
        _ = try await realm(named: Self.defaultRealm).clock()
        _ = try await ports.keys.names()
        readyAt.withLock { $0 = now }
        return Readiness(open.now)
    }
}

/// How a store that is ready stands.
public struct Readiness: Hashable, Sendable {
    /// Clusters that did not answer whoever asked last, by the buckets they
    /// have: their customers wait.
    public let clustersAway: [String]

    init(_ realms: [Realm]) {
        let away = realms.flatMap { $0.clusters.others.filter(\.isAway).map(\.name) }
        clustersAway = Set(away).sorted()
    }
}
