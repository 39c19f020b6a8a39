// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import Work

extension Realm {
    /// The start of a clock's range, in which the certificates are valid.
    static let clockEarliest = RealmClock.earliest
    static let clockLatest = RealmClock.latest

    /// Returns the realm's commercial time. A jump is under way until its due
    /// work is done on every cluster, also on one that does not answer at
    /// present.
    public func clock() async throws -> ClockDescription {
        let (clock, jump) = try await readHouse {
            (try Self.clock($0), try ClockJump.current($0))
        }
        let others = await farClocks(clock, asksAway: true)
        return described(clock, jump, away: others?.away ?? [])
    }

    /// Moves a sandbox's clock or changes its speed. Returns when the work that
    /// fell due by then is done; its notifications may still be under way. Wall
    /// time, and with it every token and session, does not change. The answer is
    /// the clock as it is then, because another move may have come in between.
    /// The audit records the old and the new clock. Refusals, in order:
    /// `sandboxOnly`, `clockMoveUnclear`, `clockRateInvalid`, `clockBackwards`,
    /// `clockOutOfRange`.
    public func moveClock(
        _ request: MoveClockRequest, _ context: RequestContext
    ) async throws -> ClockDescription {
        guard !isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly", "A production realm's clock is never moved.",
                field: "realm", rule: "clocks are moved in sandboxes only",
                remedy: "create a sandbox")
        }
        let isBack = try await house(.clock, context) { house in
            let clock = try Self.clock(house.writing)
            let moved = try Self.move(clock, request, wall: house.wall)
            try Self.setClock(from: clock, to: moved, house)
            return .commit(moved.now(wall: house.wall) < clock.now(wall: house.wall))
        }
        if isBack {
            for index in clusters.all.indices { await worker.bringForwardQuietly(in: index) }
        }
        wakeWorkers()
        do { _ = try await worker.workDue() } catch {
            // The clock has been moved. A worker will do the rest of the due
            // work.
            ports.log(.error, "due work was not done", context, ["fault": "\(error)"])
        }
        let described = try await clock()
        ports.log(.info, "clock moved", context, ["now": described.now.description])
        return described
    }

    /// Writes the new clock, and the jump that its move begins. The realm's row is
    /// locked. The audit has both values.
    static func setClock(
        from before: RealmClock, to clock: RealmClock, _ house: HouseLine
    ) throws {
        try house.writing.execute(
            Statement.Realms.setClock,
            RealmSchema.clocks.row([
                "clock_id": .integer(0), "clock_ahead": .integer(clock.aheadMilliseconds),
                "clock_stands_at": .optional(clock.standsAt), "clock_rate": .integer(clock.rate),
                "clock_since": .integer(clock.since.milliseconds),
            ]))
        try ClockJump.note(
            from: before.now(wall: house.wall), to: clock.now(wall: house.wall), house.writing)
        try house.audit(
            "clock.move", "clock", before: before.audited(wall: house.wall),
            after: clock.audited(wall: house.wall))
    }

    private func described(
        _ clock: RealmClock, _ jump: ClockJump?, away: [String]
    ) -> ClockDescription {
        let wall = ports.wall.now
        let now = clock.now(wall: wall)
        let isStanding = clock.standsAt != nil
        return ClockDescription(
            now: now, isStanding: isStanding,
            offsetMilliseconds: isStanding ? nil : now.milliseconds(since: wall),
            rate: clock.rate == 1 ? nil : clock.rate,
            jump: jump.map { JumpDescription(target: $0.target, reached: $0.reached) },
            clustersAway: away.isEmpty ? nil : away)
    }

    private static func move(
        _ clock: RealmClock, _ request: MoveClockRequest, wall: Timestamp
    ) throws -> RealmClock {
        let now = clock.now(wall: wall)
        // One for each field of the request.
        let moves: [RealmClock?] = [
            request.standAt.map { clock.standing(at: $0) },
            try request.runOffsetMilliseconds.map {
                clock.running(
                    aheadMilliseconds: try checked($0, "runOffsetMilliseconds"), wall: wall)
            },
            try request.advanceMilliseconds.map {
                clock.moved(to: now.adding(milliseconds: try step($0)), wall: wall)
            },
            try request.advancePeriod.map {
                clock.moved(to: now.adding(try period($0)), wall: wall)
            },
            request.moveTo.map { clock.moved(to: $0, wall: wall) },
            request.isStanding.map {
                $0 ? clock.standing(at: now) : clock.resumed(wall: wall)
            },
            try request.rate.map { rate in
                guard RealmClock.rates.contains(rate) else { throw noRate }
                return clock.running(atRate: rate, wall: wall)
            },
        ]
        let named = moves.compactMap { $0 }
        guard named.count == 1, let moved = named.first else {
            throw Refusal(
                .badRequest, code: "clockMoveUnclear", "The move is not clear.",
                field: "standAt",
                rule: "exactly one of standAt, runOffsetMilliseconds, advanceMilliseconds, "
                    + "advancePeriod, moveTo, isStanding, rate",
                remedy: "send one of them")
        }
        // Where it goes, and not where a running clock stops.
        let target = moved.standsAt ?? wall.adding(milliseconds: moved.aheadMilliseconds)
        guard (clockEarliest...clockLatest).contains(target) else {
            throw outOfRange(request.field)
        }
        return moved
    }

    private static func step(_ milliseconds: Int64) throws -> Int64 {
        guard milliseconds >= 0 else {
            throw Refusal(
                .badRequest, code: "clockBackwards", "A jump goes forward.",
                field: "advanceMilliseconds", rule: "0 or more milliseconds",
                remedy: "use moveTo or standAt to go back")
        }
        return try checked(milliseconds, "advanceMilliseconds")
    }

    private static func period(_ text: String) throws -> Period {
        guard let period = Period(iso8601: text) else {
            throw Refusal(
                .badRequest, code: "periodInvalid", "This is not a period.",
                field: "advancePeriod", rule: "ISO 8601 of one unit, of at most 999",
                remedy: "send one such as `P1M`")
        }
        return period
    }

    private static var noRate: Refusal {
        Refusal(
            .badRequest, code: "clockRateInvalid", "A clock does not run at this speed.",
            field: "rate",
            rule: "a whole number of times the machine's speed, "
                + "\(RealmClock.rates.lowerBound) to \(RealmClock.rates.upperBound)",
            remedy: "send 1 for real time, 1440 for a day a minute")
    }

    /// Rejects more than a century, because that would be outside the clock's
    /// range anyway.
    private static func checked(_ milliseconds: Int64, _ field: String) throws -> Int64 {
        guard milliseconds.magnitude <= 3_200_000_000_000 else { throw outOfRange(field) }
        return milliseconds
    }

    private static func outOfRange(_ field: String) -> Refusal {
        Refusal(
            .badRequest, code: "clockOutOfRange", "The clock cannot go there.", field: field,
            rule: "from \(clockEarliest) to \(clockLatest), for which certificates are valid",
            remedy: "choose an instant between them")
    }
}

extension RealmClock {
    /// The text for the audit: the clock's time at the change, and how it
    /// continued.
    fileprivate func audited(wall: Timestamp) -> AuditFields {
        [
            "now": "\(now(wall: wall))", "state": standsAt == nil ? "running" : "standing",
            "rate": "\(rate)",
        ]
    }
}

extension MoveClockRequest {
    /// The field that names where the clock goes.
    fileprivate var field: String {
        let fields = [
            ("moveTo", moveTo != nil), ("advancePeriod", advancePeriod != nil),
            ("advanceMilliseconds", advanceMilliseconds != nil),
            ("runOffsetMilliseconds", runOffsetMilliseconds != nil),
        ]
        return fields.first { $0.1 }?.0 ?? "standAt"
    }
}
