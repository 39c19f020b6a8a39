// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// The house rows that customers' commits read: the clock, the generation and
/// the catalogue. The home has the originals. Every other cluster has a copy,
/// which one commit brings to a later state.
///
/// A copy has the state of one moment of the home, and never goes back: a
/// process with an older copy finds a higher revision and writes nothing.
struct House: Sendable {
    let revision: Int64
    /// The generation that the last reset made.
    let resetGeneration: Int64
    /// The values of ``Statement/Houses/set`` after the revision.
    private let realm: [SQLValue]
    /// The rows of each table in ``HouseCopy/all``, with the key first.
    private let rows: [[[SQLValue]]]

    init(_ reading: any Reading) throws {
        guard let row = try reading.first(Statement.Houses.realm) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        revision = try row.integer("house_revision")
        resetGeneration = try row.integer("reset_generation")
        realm = try HouseCopy.realmColumns.map { try row.value($0) }
        rows = try HouseCopy.all.map { try $0.read(reading) }
    }

    /// Replaces an older copy. If the home was reset since, the same commit
    /// deletes what happened to this cluster's customers. Leaves a cluster that
    /// already has this state or a later one.
    func write(_ writing: any Writing, wall: Timestamp) throws -> Ending<Void> {
        guard let now = try writing.first(Statement.Houses.state) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        guard try now.integer("house_revision") < revision else { return .leave(()) }
        let before = try now.integer("generation")
        // Locks the customers' lines before the realm's row, in the same order
        // as every customer's commit.
        if before > 0, before < resetGeneration { _ = try ClearedRows.clear(writing) }
        guard
            try writing.first(
                Statement.Houses.set, [.integer(revision)] + realm) != nil
        else { return .leave(()) }
        let clocks = try Self.clocks(writing)
        for (table, rows) in zip(HouseCopy.all, rows) { try table.put(rows, writing) }
        for (table, rows) in zip(HouseCopy.all, rows).reversed() {
            try table.removeOthers(than: rows, writing)
        }
        for (id, clock) in try Self.clocks(writing) {
            guard let before = clocks[id] else { continue }
            try ClockJump.note(
                of: id, from: before.now(wall: wall), to: clock.now(wall: wall), writing)
        }
        return .commit(())
    }

    /// All clocks of this database.
    private static func clocks(_ writing: any Writing) throws -> [ClockID: RealmClock] {
        var clocks = try Realm.customerClocks(writing)
        clocks[.realm] = try Realm.clock(writing)
        return clocks
    }
}

extension Statement {
    /// Statements for reading at the home and writing on the other clusters.
    enum Houses {
        static let realm = Statement(
            "house.realm", [],
            """
            SELECT house_revision, catalogue_revision, generation, reset_generation FROM realm
            """)

        static let state = Statement(
            "house.state", [], "SELECT house_revision, generation FROM realm")

        /// Returns a row if the written state is newer.
        static let set = Statement(
            "house.set", [.integer, .integer, .integer],
            """
            UPDATE realm SET house_revision = $1, catalogue_revision = $2, generation = $3
            WHERE house_revision < $1 RETURNING generation
            """)

        /// Makes the next comparison with the home copy its rows again.
        static let outdate = Statement(
            "house.outdate", [],
            "UPDATE realm SET house_revision = house_revision - 1 WHERE house_revision > 0")

        static let all =
            [realm, state, set, outdate]
            + HouseCopy.all.flatMap { [$0.list, $0.upsert, $0.remove] }
    }
}
