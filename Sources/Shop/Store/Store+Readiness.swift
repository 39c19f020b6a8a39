// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

extension Store {
    /// How long a positive result is reused, so that frequent requests cost no
    /// commits.
    static let readinessSeconds: Int64 = 1
    /// Bytes, more than a page, so that a full database is detected.
    static let readinessRoom = 16_384

    /// Returns if the store can sell at present: its registry accepts a durable
    /// write, the default realm answers, and the keys are available. Otherwise
    /// throws ``StorageFault`` and ``KeyStoreFault``. A positive result is
    /// reused for a second.
    ///
    /// Other clusters are reported but do not decide: one that is down affects
    /// only its own customers, whom no other server process could serve either.
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
        _ = try await realm(named: Self.defaultRealm).readHouse { try Realm.clock($0) }
        _ = try await ports.keys.names()
        readyAt.withLock { $0 = now }
        return Readiness(open.now)
    }
}

/// The state of a store that is ready.
public struct Readiness: Hashable, Sendable {
    /// The clusters that the last call could not reach, by their buckets. Their
    /// customers have to wait.
    public let clustersAway: [String]

    init(_ realms: [Realm]) {
        let away = realms.flatMap { $0.clusters.others.filter(\.isAway).map(\.name) }
        clustersAway = Set(away).sorted()
    }
}
