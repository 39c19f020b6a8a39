// SPDX-License-Identifier: Apache-2.0

package import Commerce
package import Storage
package import Work

extension CustomerLine: WorkLine {}

/// The result of an errand of a realm.
typealias RealmReport = ErrandReport<CustomerLine>

/// What a worker needs to know of a realm.
extension Realm: WorkContext {
    package var customersOfCommit: Int { ports.customersOfCommit }

    package var databases: [any Storage] { clusters.all }

    package func database(of customer: CustomerID) -> any Storage { storage(of: customer) }

    package func clockTurns(of customer: CustomerID) -> ClockTurns {
        clockTurns[clusters.map.cluster(of: customer.value)]
    }

    package func name(ofDatabase index: Int) -> String { clusters.name(index) }

    package var wall: Timestamp { ports.wall.now }

    package var leases: LeaseClock {
        LeaseClock(wall: ports.wall.now, isDatabases: ports.places.leasesInDatabaseTime)
    }

    package func sleep(_ pause: Duration) async throws { try await ports.sleep(pause) }

    package static func clock(_ reading: any Reading) throws -> RealmClock {
        try clockRow(reading).clock
    }

    package static func customerClocks(
        _ reading: any Reading
    ) throws -> [ClockID: RealmClock] {
        let rows = try reading.query(Statement.Clocks.list, []).map {
            try ClockRow($0, hasLastEvent: false)
        }
        return Dictionary(rows.map { ($0.id, $0.clock) }) { first, _ in first }
    }

    package var isAlone: Bool { ports.places.isOneProcess }

    package var repeatsItself: Bool { seed != nil }

    static func clockRow(_ reading: any Reading) throws -> ClockRow {
        guard let row = try reading.first(Statement.Realms.clock) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        return try ClockRow(row, hasLastEvent: false)
    }

    /// Nil if there is no such clock.
    static func clockRow(_ reading: any Reading, of id: ClockID) throws -> ClockRow? {
        try reading.first(Statement.Clocks.one, [.integer(id.value)])
            .map { try ClockRow($0, hasLastEvent: false) }
    }

    package static func clock(_ reading: any Reading, of id: ClockID) throws -> RealmClock? {
        try clockRow(reading, of: id)?.clock
    }

    static func now(_ reading: any Reading, wall: Timestamp) throws -> Timestamp {
        try clock(reading).now(wall: wall)
    }

    package static func now(
        of customer: CustomerID, wall: Timestamp, _ reading: any Reading
    ) throws -> Timestamp? {
        try reading.first(Statement.Lines.now, [.integer(customer.value)])
            .map { try ClockRow($0).now(wall: wall) }
    }

    package static func lines(
        of customers: [CustomerID], wall: Timestamp, _ writing: any Writing
    ) throws -> [CustomerLine?] {
        try CustomerLine.all(of: customers, wall: wall, writing).map { $0?.ofDueWork }
    }

    package static func foreseenLines(
        of customers: [CustomerID], wall: Timestamp, _ writing: any Writing
    ) throws -> [CustomerLine?] {
        try CustomerLine.foreseen(of: customers, wall: wall, writing).map { $0?.ofDueWork }
    }

    package func uncancelledLine(
        of customer: CustomerID, _ body: @escaping @Sendable (CustomerLine) throws -> Void
    ) async throws {
        _ = try await uncancelledLine(of: customer, asking: .time) { line -> Ending<Void> in
            .commit(try body(line))
        }
    }

    package func report(
        _ severity: WorkSeverity, _ message: String, _ facts: [String: String]
    ) {
        let level: ShopLog.Level =
            switch severity {
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
        ports.log(level, message, nil, facts)
    }

    var worker: Worker<Realm> { Worker(self) }
}
