// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The time for leases: the database's own if several machines share it,
/// because their clocks differ. Otherwise this machine's.
struct LeaseClock: Sendable {
    let wall: Timestamp
    let isDatabases: Bool

    func now(_ reading: any Reading) throws -> Timestamp {
        isDatabases ? Timestamp(milliseconds: try reading.databaseTime()) : wall
    }
}
