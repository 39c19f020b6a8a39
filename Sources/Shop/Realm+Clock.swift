// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Realm {
    /// The range that a clock may visit: the certificates are valid in it.
    static let clockEarliest = Timestamp(milliseconds: 946_684_800_000)
    static let clockLatest = Timestamp(milliseconds: 4_102_358_400_000)

    /// The realm's commercial time.
    public func clock() async throws -> ClockDescription {
        let row = try await storage.read { try $0.first(Statement.Realms.clock) }
        guard let row else { throw StorageFault(.malformedRow, "the realm has no row") }
        return described(try ClockRow(row, hasLastEvent: false).clock)
    }

    /// Moves a sandbox's clock, and returns when what fell due on the way has
    /// happened; notifications of it may still be under way. Wall time, and with it every token and
    /// session, stays as it is. Refusals, in order: `sandboxOnly`,
    /// `clockMoveUnclear`, `clockBackwards`, `clockOutOfRange`.
    public func moveClock(
        _ request: MoveClockRequest, _ context: RequestContext
    ) async throws -> ClockDescription {
        guard !isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly", "A production realm's clock is never moved.",
                field: "realm", rule: "clocks are moved in sandboxes only",
                remedy: "create a sandbox")
        }
        let wall = ports.wall.now
        let moved = try await storage.write { writing in
            guard let row = try writing.first(Statement.Realms.clock) else {
                throw StorageFault(.malformedRow, "the realm has no row")
            }
            let clock = try ClockRow(row, hasLastEvent: false).clock
            let moved = try Self.move(clock, request, wall: wall)
            try writing.execute(Statement.Realms.setClock, Self.values(moved))
            return moved
        }
        wakeWorkers()
        do { _ = try await workDue() } catch {
            // The clock has moved; whoever works here does what fell due.
            ports.log(.error, "due work was not done", context, ["fault": "\(error)"])
        }
        let described = described(moved)
        ports.log(.info, "clock moved", context, ["now": described.now.description])
        return described
    }

    private func described(_ clock: RealmClock) -> ClockDescription {
        var offset: Int64?
        if case .running(let ahead) = clock { offset = ahead }
        return ClockDescription(
            now: clock.now(wall: ports.wall.now), isStanding: offset == nil,
            offsetMilliseconds: offset)
    }

    private static func values(_ clock: RealmClock) -> [SQLValue] {
        switch clock {
        case .running(let offset): [.integer(offset), .null]
        case .standing(let instant): [.integer(0), .integer(instant.milliseconds)]
        }
    }

    private static func move(
        _ clock: RealmClock, _ request: MoveClockRequest, wall: Timestamp
    ) throws -> RealmClock {
        let moved: RealmClock
        switch (request.standAt, request.runOffsetMilliseconds, request.advanceMilliseconds) {
        case (let instant?, nil, nil): moved = .standing(at: instant)
        case (nil, let offset?, nil):
            moved = .running(offsetMilliseconds: try checked(offset, "runOffsetMilliseconds"))
        case (nil, nil, let step?): moved = try advance(clock, by: step)
        default:
            throw Refusal(
                .badRequest, code: "clockMoveUnclear", "The move is not clear.",
                field: "standAt",
                rule: "exactly one of standAt, runOffsetMilliseconds, advanceMilliseconds",
                remedy: "send one of them")
        }
        guard (clockEarliest...clockLatest).contains(moved.now(wall: wall)) else {
            throw outOfRange("standAt")
        }
        return moved
    }

    private static func advance(_ clock: RealmClock, by step: Int64) throws -> RealmClock {
        guard step >= 0 else {
            throw Refusal(
                .badRequest, code: "clockBackwards", "A jump goes forward.",
                field: "advanceMilliseconds", rule: "0 or more milliseconds",
                remedy: "use standAt to go back")
        }
        let step = try checked(step, "advanceMilliseconds")
        switch clock {
        case .running(let offset): return .running(offsetMilliseconds: offset + step)
        case .standing(let instant): return .standing(at: instant.adding(milliseconds: step))
        }
    }

    /// A century either way: what lies beyond would leave the range anyway.
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
