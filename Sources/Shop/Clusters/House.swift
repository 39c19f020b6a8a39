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
        let clock = try Realm.clock(writing)
        for (table, rows) in zip(HouseCopy.all, rows) { try table.put(rows, writing) }
        for (table, rows) in zip(HouseCopy.all, rows).reversed() {
            try table.removeOthers(than: rows, writing)
        }
        try ClockJump.note(
            from: clock.now(wall: wall), to: try Realm.clock(writing).now(wall: wall), writing)
        return .commit(())
    }
}

/// A table of house rows that is copied.
struct HouseCopy: Sendable {
    let name: String
    private let keyCount: Int
    /// The columns, with the key's first.
    let columns: [Table.Column]
    let list: Statement
    let upsert: Statement
    let remove: Statement

    init(of table: Table, without left: Set<String>) {
        name = table.name
        keyCount = table.key.count
        let rest = table.columns.filter { !table.key.contains($0.name) && !left.contains($0.name) }
        columns = table.key.map { table[$0] } + rest
        let names = columns.map(\.name).joined(separator: ", ")
        let keys = table.key.joined(separator: ", ")
        let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        list = Statement(
            "house.\(name).list", "SELECT \(names) FROM \(name) ORDER BY \(keys)")
        upsert = Statement(
            "house.\(name).put", columns.map(\.rule.type),
            """
            INSERT INTO \(name) (\(names)) VALUES (\(places))
            ON CONFLICT (\(keys)) DO UPDATE SET \(table.replaced(rest.map(\.name)))
            """)
        remove = .remove("house.\(name).remove", from: table)
    }

    func read(_ reading: any Reading) throws -> [[SQLValue]] {
        try reading.query(list, []).map { row in try columns.map { try $0.value(in: row) } }
    }

    /// Writes the rows that differ. Does not delete any.
    func put(_ rows: [[SQLValue]], _ writing: any Writing) throws {
        let known = Set(try read(writing))
        let changed = rows.filter { !known.contains($0) }
        if !changed.isEmpty { try writing.insertMany(upsert, changed) }
    }

    func removeOthers(than rows: [[SQLValue]], _ writing: any Writing) throws {
        let kept = Set(rows.map { Array($0.prefix(keyCount)) })
        for row in try read(writing) {
            let key = Array(row.prefix(keyCount))
            if !kept.contains(key) { try writing.execute(remove, key) }
        }
    }

    /// Every table that is copied. A table comes after those that it refers to.
    static let all = RealmSchema.tables.compactMap(\.copy)

    /// The copied columns of the realm's row, in the order of `Houses.set`.
    static let realmColumns = [
        "catalogue_revision", "generation",
    ]
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

        static let all =
            [realm, state, set] + HouseCopy.all.flatMap { [$0.list, $0.upsert, $0.remove] }
    }
}
