// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// What a store tells those who watch it: of the realms that this process
/// has open.
public struct RealmFigures: Sendable {
    public struct Errands: Sendable {
        /// What kind of outer work.
        public let kind: String
        /// Owed, due or not.
        public let owed: Int64
        public let due: Int64
        /// Tried before, and owed still.
        public let failed: Int64
        /// Commercial seconds for which the oldest has been due.
        public let oldestSeconds: Int64
    }

    public let realm: String
    /// Devices that wait in this process.
    public let waiting: Int
    public let errands: [Errands]
}

extension Store {
    /// How many commits this process has made, where it is counted.
    public var commits: Int? { ports.commits.map { $0() } }

    /// Figures of the realms that are open here, by name.
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
        let wall = ports.wall.now
        let errands = try await storage.read { reading -> [RealmFigures.Errands] in
            let now = try Self.now(reading, wall: wall)
            let rows = try reading.query(
                Statement.Errands.figures, [.integer(now.milliseconds)])
            return try rows.map { row in
                let oldest = Timestamp(milliseconds: try row.integer("oldest"))
                return RealmFigures.Errands(
                    kind: try row.text("kind"), owed: try row.integer("owed"),
                    due: try row.integer("due"), failed: try row.integer("failed"),
                    oldestSeconds: max(0, now.milliseconds(since: oldest) / 1000))
            }
        }
        return RealmFigures(realm: description.name, waiting: hub.waiting, errands: errands)
    }
}
