// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// The snapshots of a sandbox. They are in the database that they describe, so
/// that one commit saves or loads each. A backup has none, because the values
/// in their pages are not checked when they are loaded.
extension RealmSchema {
    /// `made_at` is wall time, `clock_now` the commercial time that was saved.
    static let snapshots = Table(
        "snapshots", key: ["name"],
        [
            "name": .realmName, "made_at": .time, "clock_now": .time,
            "clock_rate": .integer(RealmClock.rates), "clock_stands": .flag,
            "row_count": .count, "byte_count": .count,
        ], isInBackup: false)

    /// `contents` are rows of one table with the named columns.
    static let snapshotPages = Table(
        "snapshot_pages", key: ["name", "place"],
        [
            "name": .realmName, "place": .place, "table_name": .name,
            "column_names": .longText, "contents": .blob(bytes: 0...SnapshotLimits.bytesMax),
        ], isInBackup: false)
}

/// How much a realm's snapshots may hold.
enum SnapshotLimits {
    /// The most snapshots of a realm.
    static let countMax = 20
    /// The most rows of a snapshot.
    static let rowsMax = 200_000
    /// The most bytes of a snapshot.
    static let bytesMax = 64 * 1024 * 1024
}
