// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// A move of a sandbox's clock, as it is written at the home.
struct ClockMove: Sendable {
    let clock: ClockID
    let request: MoveClockRequest
    /// What the request chose for the notifications that it causes.
    let notifications: JumpNotifications?
    let otherwise: JumpNotifications
    /// For a jump that is stopped: the latest date at which another cluster was halted.
    let farThrough: Timestamp?

    /// Returns whether the clock goes back, and its jump.
    func write(_ house: HouseLine) throws -> (isBack: Bool, jump: LastJump?) {
        guard let row = try Realm.clockRow(house.writing, of: clock) else {
            throw Realm.clockNotFound
        }
        let wall = house.wall
        let under = try ClockJump.hold(house.writing, of: clock)
        let moved = try moved(row.clock, under, wall: wall)
        let (from, to) = (row.clock.now(wall: wall), moved.now(wall: wall))
        let jump = from == to ? row.jump : LastJump(target: to, notifications: choice(row.jump))
        try Realm.setClock(clock, from: row.clock, to: moved, jump: jump, house)
        return (to < from, from == to ? nil : jump)
    }

    /// A jump that is stopped goes on as it was begun.
    private func choice(_ last: LastJump?) -> JumpNotifications {
        if let notifications { return notifications }
        return request.stopsJump == true ? last?.notifications ?? otherwise : otherwise
    }

    /// Where the jump's work has come to, so that nothing has happened later. Its
    /// work up to there is still done.
    private func stopped(
        _ clock: RealmClock, _ jump: ClockJump?, wall: Timestamp
    ) throws -> RealmClock {
        guard let jump else {
            throw Refusal(
                .conflict, code: "noJump", "There is no jump to stop.", field: "stopsJump",
                rule: "while a jump's due work is being done",
                remedy: "see `jump` in the clock")
        }
        let through = max(jump.through, farThrough ?? jump.through)
        return clock.moved(to: min(through, clock.now(wall: wall)), wall: wall)
    }

    private func moved(
        _ clock: RealmClock, _ jump: ClockJump?, wall: Timestamp
    ) throws -> RealmClock {
        let now = clock.now(wall: wall)
        // One for each field of the request.
        let moves: [RealmClock?] = [
            request.standAt.map { clock.standing(at: $0) },
            try request.runOffsetMilliseconds.map {
                clock.running(
                    aheadMilliseconds: try Self.checked($0, "runOffsetMilliseconds"), wall: wall)
            },
            try request.advanceMilliseconds.map {
                clock.moved(to: now.adding(milliseconds: try Self.step($0)), wall: wall)
            },
            try request.advancePeriod.map {
                clock.moved(to: now.adding(try Self.period($0)), wall: wall)
            },
            request.moveTo.map { clock.moved(to: $0, wall: wall) },
            request.isStanding.map {
                $0 ? clock.standing(at: now) : clock.resumed(wall: wall)
            },
            try request.rate.map { rate in
                guard RealmClock.rates.contains(rate) else { throw Self.noRate }
                return clock.running(at: ClockPace(speed: rate), wall: wall)
            },
            try request.timeRate.map { name in
                guard let pace = ClockPace(name: name) else { throw Self.noTimeRate }
                return clock.running(at: pace, wall: wall)
            },
            try request.stopsJump.flatMap { $0 ? try stopped(clock, jump, wall: wall) : nil },
        ]
        let named = moves.compactMap { $0 }
        guard named.count == 1, let moved = named.first else {
            throw Refusal(
                .badRequest, code: "clockMoveUnclear", "The move is not clear.",
                field: "standAt",
                rule: "exactly one of standAt, runOffsetMilliseconds, advanceMilliseconds, "
                    + "advancePeriod, moveTo, isStanding, rate, timeRate, stopsJump",
                remedy: "send one of them")
        }
        // Where it goes, and not where a running clock stops.
        let target = moved.standsAt ?? wall.adding(milliseconds: moved.aheadMilliseconds)
        guard (RealmClock.earliest...RealmClock.latest).contains(target) else {
            throw Self.outOfRange(request.field)
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

    private static var noTimeRate: Refusal {
        Refusal(
            .badRequest, code: "timeRateUnknown", "No rate has this name.", field: "timeRate",
            rule: ClockPace.names.joined(separator: ", "),
            remedy: "send one of them, or a number as `rate`")
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
            rule: "from \(RealmClock.earliest) to \(RealmClock.latest), for which "
                + "certificates are valid",
            remedy: "choose an instant between them")
    }
}

extension MoveClockRequest {
    /// The field that names where the clock goes.
    fileprivate var field: String {
        let fields = [
            ("moveTo", moveTo != nil), ("advancePeriod", advancePeriod != nil),
            ("advanceMilliseconds", advanceMilliseconds != nil),
            ("runOffsetMilliseconds", runOffsetMilliseconds != nil),
            ("stopsJump", stopsJump != nil),
        ]
        return fields.first { $0.1 }?.0 ?? "standAt"
    }
}
