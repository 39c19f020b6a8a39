// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

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
    /// The rows of each table in ``HouseTable/all``, with the key first.
    private let rows: [[[SQLValue]]]

    init(_ reading: any Reading) throws {
        guard let row = try reading.first(Statement.Houses.realm) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        revision = try row.integer("house_revision")
        resetGeneration = try row.integer("reset_generation")
        realm = try HouseTable.realmColumns.map { try row.value($0) }
        rows = try HouseTable.all.map { try $0.read(reading) }
    }

    /// Replaces an older copy. If the home was reset since, the same commit
    /// deletes what happened to this cluster's customers. Leaves a cluster that
    /// already has this state or a later one.
    func write(_ writing: any Writing) throws -> Ending<Void> {
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
        for (table, rows) in zip(HouseTable.all, rows) { try table.put(rows, writing) }
        for (table, rows) in zip(HouseTable.all, rows).reversed() {
            try table.removeOthers(than: rows, writing)
        }
        return .commit(())
    }
}

/// A table of house rows that is copied.
struct HouseTable: Sendable {
    struct Column: Sendable {
        let name: String
        let type: SQLType

        static func text(_ name: String) -> Column { Column(name: name, type: .text) }
        static func integer(_ name: String) -> Column { Column(name: name, type: .integer) }
        static func boolean(_ name: String) -> Column { Column(name: name, type: .boolean) }
    }

    let name: String
    let keyCount: Int
    let columns: [Column]
    let list: Statement
    let upsert: Statement
    let remove: Statement

    init(_ name: String, key: [Column], _ rest: [Column]) {
        self.name = name
        keyCount = key.count
        columns = key + rest
        let names = columns.map(\.name).joined(separator: ", ")
        let keys = key.map(\.name).joined(separator: ", ")
        let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let sets = rest.map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ")
        list = Statement(
            "house.\(name).list", "SELECT \(names) FROM \(name) ORDER BY \(keys)")
        upsert = Statement(
            "house.\(name).put", columns.map(\.type),
            """
            INSERT INTO \(name) (\(names)) VALUES (\(places))
            ON CONFLICT (\(keys)) DO UPDATE SET \(sets)
            """)
        let own = key.enumerated().map { "\($1.name) = $\($0 + 1)" }.joined(separator: " AND ")
        remove = Statement(
            "house.\(name).remove", key.map(\.type), "DELETE FROM \(name) WHERE \(own)")
    }

    func read(_ reading: any Reading) throws -> [[SQLValue]] {
        try reading.query(list, []).map { row in
            try columns.map { column in
                // SQLite has no booleans.
                column.type == .boolean
                    ? .boolean(try row.boolean(column.name)) : try row.value(column.name)
            }
        }
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

    /// The copied columns of the realm's row, in the order of `Houses.set`.
    static let realmColumns = [
        "clock_ahead", "clock_stands_at", "clock_rate", "clock_since", "catalogue_revision",
        "generation",
    ]

    /// A table comes after those that it refers to. Secrets that customers'
    /// commits do not read are not copied.
    static let all = [
        HouseTable(
            "apps", key: [.text("bundle_id")],
            [
                .integer("app_id"), .text("name"), .text("storefront"), .text("locale"),
                .text("notification_url"), .boolean("purchases_enabled"), .text("settings"),
                .boolean("has_sold"),
            ]),
        HouseTable(
            "products", key: [.text("bundle_id"), .text("product_id")],
            [
                .integer("place"), .text("product_type"), .text("reference_name"),
                .integer("price"), .boolean("is_family_shareable"), .text("localizations"),
                .text("group_id"), .text("period"), .text("state"), .integer("withdrawn_at"),
                .text("listing"), .boolean("from_file"), .text("came_with"), .text("terms"),
            ]),
        HouseTable(
            "app_versions", key: [.text("bundle_id"), .text("version")],
            [.text("state"), .integer("made_at"), .integer("live_at")]),
        HouseTable(
            "subscription_groups", key: [.text("bundle_id"), .text("group_id")],
            [
                .integer("place"), .text("name"), .text("localizations"), .boolean("from_file"),
            ]),
    ]
}

extension Statement {
    /// Statements for reading at the home and writing on the other clusters.
    enum Houses {
        static let realm = Statement(
            "house.realm", [],
            """
            SELECT house_revision, clock_ahead, clock_stands_at, clock_rate, clock_since,
                catalogue_revision, generation, reset_generation
            FROM realm
            """)

        static let state = Statement(
            "house.state", [], "SELECT house_revision, generation FROM realm")

        /// Returns a row if the written state is newer.
        static let set = Statement(
            "house.set",
            [.integer, .integer, .integer, .integer, .integer, .integer, .integer],
            """
            UPDATE realm SET house_revision = $1, clock_ahead = $2, clock_stands_at = $3,
                clock_rate = $4, clock_since = $5, catalogue_revision = $6, generation = $7
            WHERE house_revision < $1 RETURNING generation
            """)

        static let all =
            [realm, state, set] + HouseTable.all.flatMap { [$0.list, $0.upsert, $0.remove] }
    }
}
