// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// The figures of a realm that this process has open, for monitoring.
public struct RealmFigures: Sendable {
    public struct ErrandCounts: Sendable {
        /// The kind of outer work.
        public let kind: String
        /// The number of owed errands, due or not.
        public let owed: Int64
        public let due: Int64
        /// The number of owed errands that have failed at least once.
        public let failed: Int64
        /// For how many commercial seconds the oldest one has been due.
        public let oldestSeconds: Int64
    }

    public let realm: String
    /// The number of devices that wait in this process.
    public let waiting: Int
    public let errands: [ErrandCounts]
    /// Whether each cluster except the home has answered this time, by its
    /// buckets. The errands of those that have not are missing in `errands`.
    public let clusters: [String: Bool]
}

extension Store {
    /// The number of commits of this process, if it is counted.
    public var commits: Int? { ports.commits.map { $0() } }

    /// Returns the figures of the open realms, ordered by name.
    public func figures() async throws -> [RealmFigures] {
        var figures: [RealmFigures] = []
        for realm in open.now.sorted(by: { $0.description.name < $1.description.name }) {
            figures.append(try await realm.figures())
        }
        return figures
    }
}

extension Realm {
    fileprivate func figures() async throws -> RealmFigures {
        var errands: [RealmFigures.ErrandCounts] = []
        var answered: [String: Bool] = [:]
        for index in clusters.all.indices {
            // The worker calls an unreachable cluster repeatedly, so it is not
            // called here.
            if index > 0, clusters.others[index - 1].isAway {
                answered[clusters.name(index)] = false
                continue
            }
            do {
                errands += try await figures(of: clusters[index])
                if index > 0 { answered[clusters.name(index)] = true }
            } catch let fault as StorageFault where index > 0 && Self.isAway(fault) {
                answered[clusters.name(index)] = false
            }
        }
        let kinds = Dictionary(grouping: errands, by: \.kind)
        return RealmFigures(
            realm: description.name, waiting: hub.waiting,
            errands: kinds.keys.sorted().compactMap {
                kinds[$0].map(RealmFigures.ErrandCounts.init)
            },
            clusters: answered)
    }

    private func figures(of storage: any Storage) async throws -> [RealmFigures.ErrandCounts] {
        let wall = ports.wall.now
        return try await storage.read { reading in
            let now = try Self.now(reading, wall: wall)
            let rows = try reading.query(
                Statement.Errands.figures, [.integer(now.milliseconds)])
            return try rows.map { row in
                let oldest = Timestamp(milliseconds: try row.integer("oldest"))
                return RealmFigures.ErrandCounts(
                    kind: try row.text("kind"), owed: try row.integer("owed"),
                    due: try row.integer("due"), failed: try row.integer("failed"),
                    oldestSeconds: max(0, now.milliseconds(since: oldest) / 1000))
            }
        }
    }
}

extension RealmFigures.ErrandCounts {
    /// Adds up the figures of one kind on all clusters. `parts` is never empty.
    fileprivate init(_ parts: [RealmFigures.ErrandCounts]) {
        self.init(
            kind: parts[0].kind, owed: parts.reduce(0) { $0 + $1.owed },
            due: parts.reduce(0) { $0 + $1.due }, failed: parts.reduce(0) { $0 + $1.failed },
            oldestSeconds: parts.map(\.oldestSeconds).max() ?? 0)
    }
}
