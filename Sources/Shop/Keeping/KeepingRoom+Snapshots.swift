// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Snapshots of a sandbox: its whole state under a name, to which it can return.
extension KeepingRoom {
    /// Saves the state of one moment, in one commit. Refusals, in order:
    /// `sandboxOnly`, `oneDatabaseOnly`, `snapshotNameInvalid`, `processorIsOwed`,
    /// `jumpUnderWay`, `snapshotTooLarge`, `snapshotExists`, `snapshotsTooMany`.
    public func saveSnapshot(
        _ request: SaveSnapshotRequest, _ context: RequestContext
    ) async throws -> SnapshotSummary {
        try checkHasSnapshots()
        let name = request.name
        try Self.check(name)
        let wall = realm.ports.wall.now
        let contents = try await realm.home.read {
            try SnapshotContents(copying: $0, wall: wall)
        }
        try await realm.house(.rows, context) { house -> Ending<Void> in
            let count = try house.writing.query(Statement.Snapshots.list, []).count
            guard try contents.store(as: name, wall: wall, house.writing) else {
                throw Self.nameIsTaken
            }
            guard count < SnapshotLimits.countMax else { throw Self.tooMany }
            try house.audit(
                "snapshot.save", name, before: nil,
                after: ["now": "\(contents.now)", "rows": "\(contents.rows)"])
            return .commit(())
        }
        realm.ports.log(.info, "snapshot saved", context, ["rows": "\(contents.rows)"])
        return SnapshotSummary(
            name: name, savedDate: wall, now: contents.now, rows: Int64(contents.rows),
            bytes: Int64(contents.bytes))
    }

    /// Returns every snapshot, by name.
    public func listSnapshots() async throws -> SnapshotList {
        SnapshotList(
            snapshots: try await realm.home.read { reading in
                try reading.query(Statement.Snapshots.list, []).map(SnapshotSummary.init(row:))
            })
    }

    /// Deletes a snapshot. Refusal: `snapshotNotFound`.
    public func deleteSnapshot(_ name: String, _ context: RequestContext) async throws {
        try Self.check(found: name)
        try await realm.house(.rows, context) { house -> Ending<Void> in
            let row = try house.writing.first(Statement.Snapshots.remove, [.text(name)])
            guard let row else { throw Self.notFound }
            try house.writing.execute(Statement.Snapshots.removePages, [.text(name)])
            try house.audit(
                "snapshot.delete", name, before: ["rows": "\(try row.integer("row_count"))"],
                after: nil)
            return .commit(())
        }
    }

    /// Makes the realm what it was when the snapshot was saved, its clock too, in one
    /// commit. Numbers that were given out since are not given out again, keys and
    /// the audit stay, nothing that was owed is sent, and every device signs in
    /// again and reads everything anew. Refusals, in order: `sandboxOnly`,
    /// `oneDatabaseOnly`, `snapshotNotFound`, `snapshotOutdated`, `processorIsOwed`.
    public func loadSnapshot(
        _ name: String, _ context: RequestContext
    ) async throws -> SnapshotLoaded {
        try checkHasSnapshots()
        let contents = try await snapshot(name)
        let rows = try contents.decoded()
        let loaded = try await load(contents, rows, name, context)
        realm.recentSessions.forgetAll()
        realm.wakeEverybody()
        realm.ports.log(
            .info, "snapshot loaded", context,
            ["realm": realm.description.id, "generation": "\(loaded.generation)"])
        return loaded
    }

    /// The contents of a snapshot. Refusal: `snapshotNotFound`.
    func snapshot(_ name: String) async throws -> SnapshotContents {
        try Self.check(found: name)
        let contents = try await realm.home.read {
            try SnapshotContents(stored: name, $0)
        }
        guard let contents else { throw Self.notFound }
        return contents
    }

    /// Tries again with another generation if a reset or another load was faster.
    private func load(
        _ contents: SnapshotContents, _ rows: SnapshotRows, _ name: String,
        _ context: RequestContext
    ) async throws -> SnapshotLoaded {
        while true {
            let wall = realm.ports.wall.now
            let last = try await realm.home.read {
                try $0.first(Statement.Restores.generation)?.integer("generation") ?? 0
            }
            let commit = SnapshotLoadCommit(
                name: name, contents: contents, rows: rows,
                generation: FreshStart(wall: wall, randomness: realm.ports.randomness)
                    .generation(after: last),
                who: context.actor, wall: wall, drawn: realm.seededNext)
            if try await realm.home.writeOrLeave({ try commit.write($0) }).answer {
                return SnapshotLoaded(
                    name: name, generation: commit.generation, now: contents.now,
                    rows: Int64(contents.rows))
            }
        }
    }

    /// Throws unless the realm can have snapshots.
    func checkHasSnapshots() throws {
        guard !realm.isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly", "A production realm has no snapshots.",
                field: "realm", rule: "only a sandbox is saved and loaded",
                remedy: "use `database backup` for production")
        }
        guard realm.clusters.isOne else {
            throw Refusal(
                .conflict, code: "oneDatabaseOnly",
                "The realm's customers are on several clusters.", field: "realm",
                rule: "a snapshot is one commit of one database",
                remedy: "use a store without --cluster")
        }
    }

    private static func check(_ name: String) throws {
        guard RealmRow.isName(name) else {
            throw Refusal(
                .badRequest, code: "snapshotNameInvalid", "This is not a snapshot's name.",
                field: "name", rule: "1 to 40 lower-case letters a–z, digits and `-`",
                remedy: "choose a name such as `before-renewal`")
        }
    }

    private static func check(found name: String) throws {
        guard RealmRow.isName(name) else { throw notFound }
    }

    private static let notFound = Refusal(
        .notFound, code: "snapshotNotFound", "There is no snapshot of this name.",
        field: "name", rule: "a snapshot that was saved in this realm",
        remedy: "list them with `snapshot list`")

    private static let nameIsTaken = Refusal(
        .conflict, code: "snapshotExists", "There is a snapshot of this name already.",
        field: "name", rule: "a snapshot's name is its own, and a snapshot never changes",
        remedy: "choose another name, or delete the snapshot")

    private static let tooMany = Refusal(
        .conflict, code: "snapshotsTooMany", "The realm has too many snapshots.",
        field: "name", rule: "at most \(SnapshotLimits.countMax)", remedy: "delete one")
}

/// The commit of a load. May run twice.
private struct SnapshotLoadCommit: Sendable {
    let name: String
    let contents: SnapshotContents
    let rows: SnapshotRows
    let generation: Int64
    let who: String
    let wall: Timestamp
    /// The next counts of a seeded realm in this process.
    let drawn: [IDKind: Int64]

    /// False if the realm has this generation or a later one already.
    func write(_ writing: any Writing) throws -> Ending<Bool> {
        // Waits for running writes for customers, and makes later ones wait.
        try writing.execute(Statement.Resets.takeLines, [])
        if try writing.first(Statement.Resets.processorErrand) != nil {
            throw ClearedRows.processorIsOwed
        }
        try ClearedRows.markNumbers(writing, drawn)
        guard try writing.first(Statement.Snapshots.newState, [.integer(generation)]) != nil
        else { return .leave(false) }
        let before = try Realm.clock(writing).now(wall: wall)
        try rows.write(writing, wall: wall)
        try writing.execute(Statement.Snapshots.removeKeys, [])
        // The errands that the snapshot's families were owed are not in it.
        try FamilyDebt.oweSweep("snapshot/\(generation)", at: contents.now, writing)
        try AuditEntry(
            who: who, wall: wall, deed: "snapshot.load", subject: name,
            before: ["now": "\(before)"],
            after: ["now": "\(contents.now)", "generation": "\(generation)"]
        ).write(writing)
        return .commit(true)
    }
}

extension SnapshotSummary {
    init(row: Row) throws {
        self.init(
            name: try row.text("name"),
            savedDate: Timestamp(milliseconds: try row.integer("made_at")),
            now: Timestamp(milliseconds: try row.integer("clock_now")),
            rows: try row.integer("row_count"), bytes: try row.integer("byte_count"))
    }
}
