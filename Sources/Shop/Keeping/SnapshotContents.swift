// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage
import StoreWire
import Work

/// The state of a sandbox at one moment, as a snapshot keeps it.
struct SnapshotContents: Sendable {
    struct StoredPage: Sendable {
        let table: String
        let columns: String
        let bytes: [UInt8]
    }

    let now: Timestamp
    let rate: Int64
    let isStanding: Bool
    private(set) var pages: [StoredPage] = []
    private(set) var rows = 0
    private(set) var bytes = 0

    /// Copies a realm. Refusals: `processorIsOwed`, `jumpUnderWay`,
    /// `snapshotTooLarge`.
    init(copying reading: any Reading, wall: Timestamp) throws {
        if try reading.first(Statement.Resets.processorErrand) != nil {
            throw ClearedRows.processorIsOwed
        }
        guard try ClockJump.current(reading) == nil,
            try reading.first(Statement.Jumps.clocks) == nil
        else { throw Self.jumpUnderWay }
        let clock = try Realm.clock(reading)
        (now, rate, isStanding) = (clock.now(wall: wall), clock.rate, clock.standsAt != nil)
        try add(
            try SnapshotClock.rows(reading, wall: wall), SnapshotClock.table,
            SnapshotClock.columns)
        for table in SnapshotTable.all {
            try table.forEachPage(reading) {
                try self.add($0, table.table.name, table.columnNames)
            }
        }
    }

    private mutating func add(_ rows: [[SQLValue]], _ table: String, _ columns: String) throws {
        let page = StoredPage(
            table: table, columns: columns, bytes: try RowPage.bytes(of: rows))
        if table != SnapshotClock.table { self.rows += rows.count }
        bytes += page.bytes.count
        guard self.rows <= SnapshotLimits.rowsMax, bytes <= SnapshotLimits.bytesMax else {
            throw Self.tooLarge
        }
        pages.append(page)
    }

    /// Reads a stored snapshot. Nil if there is none.
    init?(stored name: String, _ reading: any Reading) throws {
        guard let row = try reading.first(Statement.Snapshots.one, [.text(name)]) else {
            return nil
        }
        now = Timestamp(milliseconds: try row.integer("clock_now"))
        rate = try row.integer("clock_rate")
        isStanding = try row.boolean("clock_stands")
        rows = Int(try row.integer("row_count"))
        bytes = Int(try row.integer("byte_count"))
        pages = try reading.query(Statement.Snapshots.pages, [.text(name)]).map { row in
            StoredPage(
                table: try row.text("table_name"), columns: try row.text("column_names"),
                bytes: try row.blob("contents"))
        }
    }

    /// Stores the snapshot. Returns false if the name is in use.
    func store(as name: String, wall: Timestamp, _ writing: any Writing) throws -> Bool {
        let stored = try writing.first(
            Statement.Snapshots.insert,
            RealmSchema.snapshots.row([
                "name": .text(name), "made_at": .integer(wall.milliseconds),
                "clock_now": .integer(now.milliseconds), "clock_rate": .integer(rate),
                "clock_stands": .boolean(isStanding), "row_count": .integer(Int64(rows)),
                "byte_count": .integer(Int64(bytes)),
            ]))
        guard stored != nil else { return false }
        for (place, page) in pages.enumerated() {
            try writing.execute(
                Statement.Snapshots.insertPage,
                RealmSchema.snapshotPages.row([
                    "name": .text(name), "place": .integer(Int64(place)),
                    "table_name": .text(page.table), "column_names": .text(page.columns),
                    "contents": .blob(page.bytes),
                ]))
        }
        return true
    }

    /// Decodes the rows. Refusal: `snapshotOutdated`.
    func decoded() throws -> SnapshotRows {
        var found: [String: [[SQLValue]]] = [:]
        var clocks: [SnapshotClock] = []
        for page in pages {
            if page.table == SnapshotClock.table {
                guard page.columns == SnapshotClock.columns else { throw Self.outdated }
                clocks += try RowPage.rows(in: page.bytes).compactMap(SnapshotClock.init)
                continue
            }
            guard let table = SnapshotTable.all.first(where: { $0.table.name == page.table }),
                table.columnNames == page.columns
            else { throw Self.outdated }
            found[page.table, default: []] += try RowPage.rows(in: page.bytes)
        }
        return SnapshotRows(clocks: clocks, rows: found)
    }

    private static let jumpUnderWay = Refusal(
        .conflict, code: "jumpUnderWay", "The due work of a jump is still being done.",
        field: "name", rule: "a snapshot is of a moment between two jumps",
        remedy: "wait until `clock show` reports no jump")

    private static let tooLarge = Refusal(
        .conflict, code: "snapshotTooLarge", "The realm is too large for a snapshot.",
        field: "name",
        rule: "at most \(SnapshotLimits.rowsMax) rows and "
            + "\(SnapshotLimits.bytesMax / 1_048_576) MiB",
        remedy: "use `database backup`, or a realm with less in it")

    private static let outdated = Refusal(
        .conflict, code: "snapshotOutdated", "Another version of the program made the snapshot.",
        field: "name", rule: "a snapshot is loaded by a program with the same tables",
        remedy: "load it with the program that made it, or delete it")
}

/// The rows of a snapshot, by table.
struct SnapshotRows: Sendable {
    private let clocks: [SnapshotClock]
    private let rows: [String: [[SQLValue]]]

    init(clocks: [SnapshotClock], rows: [String: [[SQLValue]]]) {
        (self.clocks, self.rows) = (clocks, rows)
    }

    /// Replaces what the realm has, except the apps' shared secrets. The clocks go on from
    /// where they were saved, from `wall` on.
    func write(_ writing: any Writing, wall: Timestamp) throws {
        try writing.execute(Statement.Clocks.removeCustomers, [])
        for clock in clocks {
            try Realm.putClock(clock.id, clock.clock(wall: wall), jump: nil, writing)
        }
        let secrets = try writing.query(Statement.Snapshots.secrets, []).map {
            [try $0.value("bundle_id"), try $0.value("shared_secret")]
        }
        for statement in SnapshotTable.cleared { try writing.execute(statement, []) }
        for table in SnapshotTable.all.reversed() { try table.clear(writing) }
        for table in SnapshotTable.all { try table.put(rows[table.table.name] ?? [], writing) }
        for secret in secrets {
            try writing.execute(Statement.Catalogues.setSharedSecret, secret)
        }
        try removeOtherCustomers(writing)
    }

    /// Deletes the customers who came after the snapshot.
    private func removeOtherCustomers(_ writing: any Writing) throws {
        let known = Set((rows[RealmSchema.customers.name] ?? []).compactMap(\.first))
        for row in try writing.query(Statement.Snapshots.customers, []) {
            let customer = try row.value("customer_id")
            if !known.contains(customer) {
                try writing.execute(Statement.Snapshots.removeCustomer, [customer])
            }
        }
    }
}
