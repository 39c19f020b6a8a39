// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The databases of one realm during an advance.
struct AdvancedRealm {
    let home: any Storage
    /// The other databases with the marks by which the home knows them, in the
    /// order of the map.
    let others: [(storage: any Storage, mark: String)]
    let map: BucketMap

    /// Opens all databases for `body`, and closes them in any case. A realm
    /// without databases has nothing to advance.
    static func with(
        _ row: RealmRow, _ places: StoragePlaces, _ wall: Timestamp,
        _ body: (AdvancedRealm) async throws -> NamesMended
    ) async throws -> NamesMended {
        var open: [any Storage] = []
        do {
            var names = NamesMended()
            if let realm = try await opened(row, places, wall, &open) {
                names = try await body(realm)
            }
            for storage in open { try await storage.close() }
            return names
        } catch {
            for storage in open { try? await storage.close() }
            throw error
        }
    }

    private static func opened(
        _ row: RealmRow, _ places: StoragePlaces, _ wall: Timestamp, _ open: inout [any Storage]
    ) async throws -> AdvancedRealm? {
        let map: BucketMap
        do { map = try places.buckets() } catch {
            throw StorageFault(.otherClusters, "\(error)")
        }
        let home = try await places.realm(row.id, RealmSchema.migrations)
        open.append(home)
        let isMade = try await home.read { try $0.first(Statement.Clustering.own) != nil }
        guard isMade else { return nil }
        let marks = try await home.read { try Founding.marks(map, realm: row.name, $0) }
        var others: [(storage: any Storage, mark: String)] = []
        for (place, mark) in zip(places.clusters, marks) {
            let storage = try await place.realm(row.id, RealmSchema.migrations)
            open.append(storage)
            try await Founding.prove(
                mark, place.buckets, of: row, in: storage, home: home, at: wall)
            others.append((storage, mark))
        }
        return AdvancedRealm(home: home, others: others, map: map)
    }

    /// Gives all databases one new generation that none has had.
    func goOn(_ start: FreshStart, at wall: Timestamp) async throws -> NamesMended {
        var last = try await State(home)
        for other in others {
            // If a cluster missed a reset, this applies it, so that the deleted
            // rows do not come back.
            if try await State(other.storage).house < last.house {
                try await Realm.bringHouse(
                    from: home, to: other.storage, at: wall)
            }
        }
        for other in others { last = last.later(try await State(other.storage)) }
        let generation = start.generation(after: last.generation)
        var names = NamesMended()
        for (index, other) in others.enumerated() {
            let carried = try await home.read {
                try $0.first(Statement.Clustering.one, [.text(other.mark)])?
                    .integer("audit_carried") ?? 0
            }
            try await goOn(
                other.storage, Statement.Advances.far, [.integer(generation), .integer(carried)])
            names += try await mendNames(of: index + 1)
        }
        // Above the revisions of all clusters, so that they accept copies from
        // the home again.
        try await goOn(
            home, Statement.Advances.home, [.integer(generation), .integer(last.house + 1)])
        return names
    }

    private func goOn(
        _ storage: any Storage, _ statement: Statement, _ values: [SQLValue]
    ) async throws {
        try await storage.write { writing in
            try writing.execute(statement, values)
            try writing.execute(Statement.Advances.endSessions, [])
            try writing.execute(Statement.Restores.freeErrands, [])
        }
    }

    /// The generation and revisions of a database.
    private struct State {
        var generation: Int64
        var house: Int64

        init(_ storage: any Storage) async throws {
            guard let row = try await storage.read({ try $0.first(Statement.Houses.state) }) else {
                throw StorageFault(.malformedRow, "the realm has no row")
            }
            generation = try row.integer("generation")
            house = try row.integer("house_revision")
        }

        func later(_ other: State) -> State {
            var state = self
            state.generation = max(generation, other.generation)
            state.house = max(house, other.house)
            return state
        }
    }
}
