// SPDX-License-Identifier: Apache-2.0

import Storage

/// The tables of outer work.
extension RealmSchema {
    static let workTables = [errands, errandsByLane]

    /// Outer work. `due_at` is commercial time. `lease_until` is the database's
    /// own time, and null without a lease.
    private static let errands = """
        CREATE TABLE errands (
            customer_id INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            lane TEXT NOT NULL,
            due_at INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            fence INTEGER NOT NULL,
            lease_until INTEGER,
            PRIMARY KEY (customer_id, kind, subject)
        ) WITHOUT ROWID, STRICT
        """

    private static let errandsByLane = """
        CREATE INDEX errands_by_lane ON errands (kind, lane, due_at, customer_id, subject)
        """
}
