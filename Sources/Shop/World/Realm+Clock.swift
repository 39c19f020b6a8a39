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
    public func clock() async throws -> ClockDescription { try await clock(.realm) }

    /// The same of any clock. Refusal: `clockNotFound`.
    func clock(_ id: ClockID) async throws -> ClockDescription {
        let (clock, jump) = try await readHouse {
            (try Self.clock($0, of: id), try ClockJump.current($0, of: id))
        }
        guard let clock else { throw Self.clockNotFound }
        let others = await farClocks(clock, of: id, asksAway: true)
        return described(id, clock, jump, away: others?.away ?? [])
    }

    /// Corrects what a customer's former clock has dated too late for the present one.
    func bringForward(of id: ClockID, for customer: CustomerID) async {
        await worker.bringForwardQuietly(
            of: id, in: clusters.map.cluster(of: customer.value))
    }

    /// The clock that a customer has.
    func clockID(of customer: CustomerID) async throws -> ClockID {
        try await read(of: customer) { try Self.clockID($0, of: customer) }
    }

    static func clockID(_ reading: any Reading, of customer: CustomerID) throws -> ClockID {
        ClockID(
            try reading.first(Statement.Clocks.ofCustomer, [.integer(customer.value)])?
                .optionalInteger("clock_id") ?? 0)
    }

    static let clockNotFound = Refusal(
        .notFound, code: "clockNotFound", "There is no such clock.", field: "clockId",
        rule: "a clock that a customer has", remedy: "list the clocks")

    /// Moves a sandbox's clock or changes its speed. Returns when the work that
    /// fell due by then is done, and its notifications are sent if they are
    /// awaited. Wall time, and with it every token and session, does not change.
    /// The answer is the clock as it is then, because another move may have come
    /// in between. The audit records the old and the new clock. Refusals, in
    /// order: `sandboxOnly`, `notificationsUnclear`, `clockMoveUnclear`,
    /// `clockRateInvalid`, `timeRateUnknown`, `clockBackwards`, `noJump`, `clockOutOfRange`.
    public func moveClock(
        _ request: MoveClockRequest, _ context: RequestContext
    ) async throws -> ClockDescription { try await moveClock(.realm, request, context) }

    /// The same of any clock. Only what falls due by it is done. Further refusal:
    /// `clockNotFound`.
    func moveClock(
        _ id: ClockID, _ request: MoveClockRequest, _ context: RequestContext
    ) async throws -> ClockDescription {
        try checkClocksMove()
        let move = ClockMove(
            clock: id, request: request, notifications: try Self.notifications(request),
            otherwise: ports.jumpNotifications, farThrough: try await haltJump(id, request))
        for lanes in lanes { lanes.forgetFailures(of: id) }
        let before = worker.tally(of: id)
        let (isBack, jump) = try await write(move, context)
        if isBack {
            for index in clusters.all.indices {
                await worker.bringForwardQuietly(of: id, in: index)
            }
        }
        wakeWorkers()
        do { _ = try await worker.workDue(of: id) } catch {
            // The clock has been moved. A worker will do the rest of the due
            // work.
            ports.log(.error, "due work was not done", context, ["fault": "\(error)"])
        }
        let sent =
            jump?.notifications == .awaited
            ? await sendJumps(of: id, since: before, context) : nil
        wakeWorkers()
        var described = try await clock(id)
        described.notifications = sent
        ports.log(.info, "clock moved", context, ["now": described.now.description])
        return described
    }

    /// If it cannot be written, clusters that were halted go on.
    private func write(
        _ move: ClockMove, _ context: RequestContext
    ) async throws -> (isBack: Bool, jump: LastJump?) {
        do { return try await house(.clock, context) { .commit(try move.write($0)) } } catch {
            if move.farThrough != nil { await bringHouse() }
            throw error
        }
    }

    /// Throws unless the realm's clocks may be moved. Refusal: `sandboxOnly`.
    func checkClocksMove() throws {
        guard !isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly", "A production realm's clock is never moved.",
                field: "realm", rule: "clocks are moved in sandboxes only",
                remedy: "create a sandbox")
        }
    }

    /// Lets what happens at an instant in a customer's past count as part of a jump of
    /// the customer's clock to its present time, so that its notifications are sent in
    /// order, or not at all. Refusal: `clockNotFound`.
    func beginPast(
        _ id: ClockID, _ notifications: JumpNotifications?, _ context: RequestContext
    ) async throws -> LastJump {
        let choice = notifications ?? ports.jumpNotifications
        for lanes in lanes { lanes.forgetFailures(of: id) }
        return try await house(.clock, context) { house in
            guard let row = try Self.clockRow(house.writing, of: id) else {
                throw Self.clockNotFound
            }
            let now = row.clock.now(wall: house.wall)
            let jump = LastJump(target: now, notifications: choice)
            if let last = row.jump, last.notifications == choice, last.target >= now {
                return .leave(last)
            }
            try Self.putClock(id, row.clock, jump: jump, house.writing)
            return .commit(jump)
        }
    }

    /// Sends the notifications of a clock's jumps. What is not sent now is left to the
    /// workers.
    func sendJumps(
        of id: ClockID, since before: LaneTally, _ context: RequestContext
    ) async -> SentInJump? {
        do {
            let tally = try await worker.workInOrder(of: id, since: before)
            return SentInJump(
                delivered: tally.done, failed: tally.failed, unsent: tally.skipped)
        } catch {
            ports.log(.error, "notifications were not awaited", context, ["fault": "\(error)"])
            return nil
        }
    }

    private static func notifications(_ request: MoveClockRequest) throws -> JumpNotifications? {
        try notifications(request.notifications)
    }

    /// Refusal: `notificationsUnclear`.
    static func notifications(_ text: String?) throws -> JumpNotifications? {
        guard let text else { return nil }
        guard let notifications = JumpNotifications(rawValue: text) else {
            throw Refusal(
                .badRequest, code: "notificationsUnclear",
                "Notifications are not treated like this.", field: "notifications",
                rule: JumpNotifications.allCases.map { "`\($0.rawValue)`" }
                    .joined(separator: ", "),
                remedy: "leave it out for the store's own choice")
        }
        return notifications
    }

    /// Writes the new clock, and the jump that its move begins. The realm's row is
    /// locked. The audit has both values. `jump`: the clock's last jump.
    static func setClock(
        _ id: ClockID, from before: RealmClock, to clock: RealmClock, jump: LastJump?,
        _ house: HouseLine
    ) throws {
        try putClock(id, clock, jump: jump, house.writing)
        try ClockJump.note(
            of: id, from: before.now(wall: house.wall), to: clock.now(wall: house.wall),
            house.writing)
        try house.audit(
            "clock.move", id == .realm ? "clock" : "clock/\(id)",
            before: before.audited(wall: house.wall),
            after: clock.audited(wall: house.wall))
    }

    static func putClock(
        _ id: ClockID, _ clock: RealmClock, jump: LastJump?, _ writing: any Writing
    ) throws {
        try writing.execute(
            Statement.Realms.setClock,
            RealmSchema.clocks.row([
                "clock_id": .integer(id.value), "clock_ahead": .integer(clock.aheadMilliseconds),
                "clock_stands_at": .optional(clock.standsAt), "clock_rate": .integer(clock.rate),
                "clock_since": .integer(clock.since.milliseconds),
                "clock_tempo": .optional(clock.tempo?.rawValue),
                "jumped_to": .optional(jump?.target),
                "jump_notifications": .optional(jump?.notifications.rawValue),
            ]))
    }

    func described(
        _ id: ClockID, _ clock: RealmClock, _ jump: ClockJump?, away: [String]
    ) -> ClockDescription {
        let wall = ports.wall.now
        let now = clock.now(wall: wall)
        let isStanding = clock.standsAt != nil
        return ClockDescription(
            now: now, isStanding: isStanding,
            offsetMilliseconds: isStanding ? nil : now.milliseconds(since: wall),
            rate: clock.rate == 1 ? nil : clock.rate, timeRate: clock.tempo?.rawValue,
            jump: jump.map { JumpDescription(target: $0.target, reached: $0.reached) },
            clustersAway: away.isEmpty ? nil : away,
            clockId: id == .realm ? nil : id.description)
    }
}

extension RealmClock {
    /// The text for the audit: the clock's time at the change, and how it
    /// continued.
    fileprivate func audited(wall: Timestamp) -> AuditFields {
        [
            "now": "\(now(wall: wall))", "state": standsAt == nil ? "running" : "standing",
            "rate": "\(rate)", "timeRate": tempo?.rawValue,
        ]
    }
}
