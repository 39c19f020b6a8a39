// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The time in which leases are reckoned: the database's own where several
/// machines share one, for their clocks differ; else this machine's.
struct LeaseClock: Sendable {
    let wall: Timestamp
    let isDatabases: Bool

    func now(_ reading: any Reading) throws -> Timestamp {
        isDatabases ? Timestamp(milliseconds: try reading.databaseTime()) : wall
    }
}
