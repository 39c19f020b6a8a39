// SPDX-License-Identifier: Apache-2.0

package import Commerce
package import Storage

/// The time for leases: the database's own if several machines share it,
/// because their clocks differ. Otherwise this machine's.
package struct LeaseClock: Sendable {
    private let wall: Timestamp
    private let isDatabases: Bool

    package init(wall: Timestamp, isDatabases: Bool) {
        self.wall = wall
        self.isDatabases = isDatabases
    }

    package func now(_ reading: any Reading) throws -> Timestamp {
        isDatabases ? Timestamp(milliseconds: try reading.databaseTime()) : wall
    }
}
