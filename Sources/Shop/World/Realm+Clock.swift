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
        let moved: RealmClock
        let step = request.advanceMilliseconds
        switch (request.standAt, request.runOffsetMilliseconds, step, request.rate) {
        case (let instant?, nil, nil, nil): moved = clock.standing(at: instant)
        case (nil, let offset?, nil, nil):
            moved = clock.running(
                aheadMilliseconds: try checked(offset, "runOffsetMilliseconds"), wall: wall)
        case (nil, nil, let step?, nil): moved = try advance(clock, by: step, wall: wall)
        case (nil, nil, nil, let rate?):
            guard RealmClock.rates.contains(rate) else { throw noRate }
            moved = clock.running(atRate: rate, wall: wall)
        default:
            throw Refusal(
                .badRequest, code: "clockMoveUnclear", "The move is not clear.",
                field: "standAt",
                rule: "exactly one of standAt, runOffsetMilliseconds, advanceMilliseconds, rate",
                remedy: "send one of them")
        }
        guard (clockEarliest...clockLatest).contains(moved.now(wall: wall)) else {
            throw outOfRange("standAt")
        }
        return moved
    }

    private static func advance(
        _ clock: RealmClock, by step: Int64, wall: Timestamp
    ) throws -> RealmClock {
        guard step >= 0 else {
            throw Refusal(
                .badRequest, code: "clockBackwards", "A jump goes forward.",
                field: "advanceMilliseconds", rule: "0 or more milliseconds",
                remedy: "use standAt to go back")
        }
        return clock.advanced(
            milliseconds: try checked(step, "advanceMilliseconds"), wall: wall)
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
