// SPDX-License-Identifier: Apache-2.0

package import Commerce
package import Storage

/// The rows of outer work.
package enum Errands {
    /// How long a lease lasts. The time-outs of handlers are far below this.
    package static let leaseMilliseconds: Int64 = 30_000
    /// The most errands of one lane that a process runs at once.
    package static let laneMax = 8
    /// The most errands of a realm that a process runs at once.
    package static let runningMax = 128

    /// How many errands of a lane in order may fail in a row. What is due there by
    /// then is skipped.
    package static let failuresMax = 3

    private static let inOrderPrefix = "in-order/"
    /// With the number of a customers' clock and a `/` behind it.
    private static let ofClockPrefix = "in-order@"

    /// Returns the lane whose errands run one at a time, by their dates, beside the
    /// lane `name`. They wait until the jump that caused them has done its work.
    /// `clock`: whose jump that is, and by which they fall due. All other lanes' errands
    /// fall due by the realm's.
    package static func inOrder(_ name: String, by clock: ClockID = .realm) -> String {
        clock == .realm ? inOrderPrefix + name : "\(ofClockPrefix)\(clock)/\(name)"
    }

    package static func name(ofInOrder lane: String) -> String {
        lane.firstIndex(of: "/").map { String(lane[lane.index(after: $0)...]) } ?? ""
    }

    package static func isInOrder(_ lane: String) -> Bool {
        lane.hasPrefix(inOrderPrefix) || customersClock(ofLane: lane) != nil
    }

    /// Returns the clock by which the errands of a lane fall due.
    package static func clock(ofLane lane: String) -> ClockID {
        customersClock(ofLane: lane) ?? .realm
    }

    private static func customersClock(ofLane lane: String) -> ClockID? {
        guard lane.hasPrefix(ofClockPrefix), let slash = lane.firstIndex(of: "/"),
            let number = Int64(lane[..<slash].dropFirst(ofClockPrefix.count)), number > 0
        else { return nil }
        return ClockID(number)
    }

    /// The pattern of the lanes in order of a customers' clock.
    static func lanesInOrder(of clock: ClockID) -> String { "\(ofClockPrefix)\(clock)/%" }

    /// Adds an errand, in the commit that causes it. An existing one is not
    /// changed.
    package static func add(
        kind: String, subject: String, lane: String, dueAt: Timestamp, customer: CustomerID,
        _ writing: any Writing
    ) throws {
        try writing.execute(
            Statement.Errands.insert,
            WorkSchema.errands.row([
                "customer_id": .integer(customer.value), "kind": .text(kind),
                "subject": .text(subject), "lane": .text(lane),
                "due_at": .integer(dueAt.milliseconds), "attempt": .integer(0),
                "fence": .integer(0),
            ]))
    }

    /// Adds an errand that the caller runs itself after the commit. The caller
    /// holds a lease from the start. If the caller dies, another worker takes
    /// it over.
    package static func addHeld(
        kind: String, subject: String, lane: String, now: Timestamp, lease: Timestamp,
        customer: CustomerID, _ writing: any Writing
    ) throws -> Errand {
        let errand = Errand(
            customer: customer, kind: kind, subject: subject, lane: lane, attempt: 1, fence: 1)
        try writing.execute(
            Statement.Errands.insertHeld,
            WorkSchema.errands.row([
                "customer_id": .integer(customer.value), "kind": .text(kind),
                "subject": .text(subject), "lane": .text(lane),
                "due_at": .integer(now.milliseconds), "attempt": .integer(1),
                "fence": .integer(1),
                "lease_until": .integer(
                    lease.adding(milliseconds: leaseMilliseconds).milliseconds),
            ]))
        return errand
    }

    /// Leases one errand, due or not, unless it is leased already.
    package static func take(
        kind: String, subject: String, of customer: CustomerID, lease: Timestamp,
        _ writing: any Writing
    ) throws -> Errand? {
        let until = lease.adding(milliseconds: leaseMilliseconds)
        let row = try writing.first(
            Statement.Errands.take,
            [
                .integer(customer.value), .text(kind), .text(subject),
                .integer(lease.milliseconds), .integer(until.milliseconds),
            ])
        return try row.map { row in
            Errand(
                customer: customer, kind: kind, subject: subject, lane: try row.text("lane"),
                attempt: Int(try row.integer("attempt")), fence: try row.integer("fence"))
        }
    }

    /// Returns the lanes of a kind that have errands, due now or later, with
    /// the date of the first one that is not leased.
    static func lanes(
        _ kind: String, at lease: Timestamp, _ reading: any Reading
    ) throws -> [(lane: String, dueAt: Timestamp)] {
        try reading.query(Statement.Errands.lanes, [.text(kind), .integer(lease.milliseconds)])
            .compactMap { row in
                guard let due = try row.optionalInteger("due_at") else { return nil }
                return (try row.text("lane"), Timestamp(milliseconds: due))
            }
    }

    /// Returns the names of the lanes of a kind that have errands, leased or not.
    static func names(
        ofLanes kind: String, at lease: Timestamp, _ reading: any Reading
    ) throws -> [String] {
        try reading.query(Statement.Errands.lanes, [.text(kind), .integer(lease.milliseconds)])
            .map { try $0.text("lane") }
    }

    /// Leases up to `limit` errands of a lane that are due and not leased.
    static func claim(
        _ kind: String, lane: String, limit: Int, now: Timestamp, lease: Timestamp,
        _ writing: any Writing
    ) throws -> [Errand] {
        let rows = try writing.claim(
            Statement.Errands.due,
            [
                .text(kind), .text(lane), .integer(now.milliseconds),
                .integer(lease.milliseconds), .integer(Int64(limit)),
            ])
        let until = lease.adding(milliseconds: leaseMilliseconds)
        return try rows.compactMap { row in
            let key: [SQLValue] = [
                .integer(try row.integer("customer_id")), .text(kind),
                .text(try row.text("subject")),
            ]
            let held = try writing.first(
                Statement.Errands.hold,
                key + [.integer(try row.integer("fence")), .integer(until.milliseconds)])
            guard let held else { return nil }
            return Errand(
                customer: CustomerID(try row.integer("customer_id")), kind: kind,
                subject: try row.text("subject"), lane: lane,
                attempt: Int(try held.integer("attempt")), fence: try held.integer("fence"))
        }
    }

    /// Leases the first errand of a lane in order, if it is due. None if it is leased
    /// already.
    static func claimFirst(
        _ kind: String, lane: String, now: Timestamp, lease: Timestamp, _ writing: any Writing
    ) throws -> [Errand] {
        guard let row = try first(kind, lane: lane, now: now, lease: lease, writing),
            try row.integer("is_free") == 1
        else { return [] }
        let key: [SQLValue] = [
            .integer(try row.integer("customer_id")), .text(kind), .text(try row.text("subject")),
        ]
        let until = lease.adding(milliseconds: leaseMilliseconds)
        // Without a row, another process was faster.
        let held = try writing.first(
            Statement.Errands.hold,
            key + [.integer(try row.integer("fence")), .integer(until.milliseconds)])
        guard let held else { return [] }
        var errand = Errand(
            customer: CustomerID(try row.integer("customer_id")), kind: kind,
            subject: try row.text("subject"), lane: lane,
            attempt: Int(try held.integer("attempt")), fence: try held.integer("fence"))
        errand.dueAt = Timestamp(milliseconds: try row.integer("due_at"))
        errand.leasedAt = now
        return [errand]
    }

    /// The first errand of a lane that is due, leased or not.
    static func first(
        _ kind: String, lane: String, now: Timestamp, lease: Timestamp, _ reading: any Reading
    ) throws -> Row? {
        try reading.first(
            Statement.Errands.first,
            [
                .text(kind), .text(lane), .integer(now.milliseconds),
                .integer(lease.milliseconds),
            ])
    }

    /// Settles an errand and writes its result. Throws ``LeaseLost``, with
    /// nothing written, if its fence is not current any more.
    package static func settle(
        _ errand: Errand, _ report: ErrandReport<some Any>, _ writing: any Writing
    ) throws {
        let key = errand.key + [.integer(errand.fence)]
        let settled: Row?
        switch report.outcome {
        case .settled: return
        case .done, .givenUp: settled = try writing.first(Statement.Errands.remove, key)
        case .again(let date):
            settled = try writing.first(
                Statement.Errands.postpone, key + [.integer(date.milliseconds)])
        }
        guard settled != nil else { throw LeaseLost() }
        try report.write(writing)
    }

    /// Releases the leases of an earlier process, if only this process uses
    /// the database. The fences do not change.
    package static func releaseLeft(in storage: any Storage) async throws {
        let isHeld = try await storage.read { try $0.first(Statement.Errands.anyHeld) != nil }
        guard isHeld else { return }
        try await storage.write { try $0.execute(Statement.Errands.releaseAll, []) }
    }

    /// Another worker has taken the errand over.
    package struct LeaseLost: Error {}
}
