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
    /// fell due by then is done, and its notifications are sent if they are
    /// awaited. Wall time, and with it every token and session, does not change.
    /// The answer is the clock as it is then, because another move may have come
    /// in between. The audit records the old and the new clock. Refusals, in
    /// order: `sandboxOnly`, `notificationsUnclear`, `clockMoveUnclear`,
    /// `clockRateInvalid`, `clockBackwards`, `noJump`, `clockOutOfRange`.
    public func moveClock(
        _ request: MoveClockRequest, _ context: RequestContext
    ) async throws -> ClockDescription {
        guard !isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly", "A production realm's clock is never moved.",
                field: "realm", rule: "clocks are moved in sandboxes only",
                remedy: "create a sandbox")
        }
        let move = ClockMove(
            request: request, notifications: try Self.notifications(request),
            otherwise: ports.jumpNotifications, farThrough: try await farThrough(request))
        for lanes in lanes { lanes.forgetFailures() }
        let before = worker.tally
        let (isBack, jump) = try await house(.clock, context) { .commit(try move.write($0)) }
        if isBack {
            for index in clusters.all.indices { await worker.bringForwardQuietly(in: index) }
        }
        wakeWorkers()
        do { _ = try await worker.workDue() } catch {
            // The clock has been moved. A worker will do the rest of the due
            // work.
            ports.log(.error, "due work was not done", context, ["fault": "\(error)"])
        }
        let sent = jump?.notifications == .awaited ? await sendJumps(since: before, context) : nil
        wakeWorkers()
        var described = try await clock()
        described.notifications = sent
        ports.log(.info, "clock moved", context, ["now": described.now.description])
        return described
    }

    /// Sends the notifications of jumps. What is not sent now is left to the workers.
    private func sendJumps(
        since before: LaneTally, _ context: RequestContext
    ) async -> SentInJump? {
        do {
            let tally = try await worker.workInOrder(since: before)
            return SentInJump(
                delivered: tally.done, failed: tally.failed, unsent: tally.skipped)
        } catch {
            ports.log(.error, "notifications were not awaited", context, ["fault": "\(error)"])
            return nil
        }
    }

    /// For a jump that is stopped: where its work has come to on other clusters.
    private func farThrough(_ request: MoveClockRequest) async throws -> Timestamp? {
        guard request.stopsJump == true, !clusters.isOne else { return nil }
        return try await readAll { try ClockJump.current($0)?.through }.compactMap { $0 }.max()
    }

    private static func notifications(_ request: MoveClockRequest) throws -> JumpNotifications? {
        guard let text = request.notifications else { return nil }
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
        from before: RealmClock, to clock: RealmClock, jump: LastJump?, _ house: HouseLine
    ) throws {
        try putClock(clock, jump: jump, house.writing)
        try ClockJump.note(
            from: before.now(wall: house.wall), to: clock.now(wall: house.wall), house.writing)
        try house.audit(
            "clock.move", "clock", before: before.audited(wall: house.wall),
            after: clock.audited(wall: house.wall))
    }

    static func putClock(
        _ clock: RealmClock, jump: LastJump?, _ writing: any Writing
    ) throws {
        try writing.execute(
            Statement.Realms.setClock,
            RealmSchema.clocks.row([
                "clock_id": .integer(0), "clock_ahead": .integer(clock.aheadMilliseconds),
                "clock_stands_at": .optional(clock.standsAt), "clock_rate": .integer(clock.rate),
                "clock_since": .integer(clock.since.milliseconds),
                "jumped_to": .optional(jump?.target),
                "jump_notifications": .optional(jump?.notifications.rawValue),
            ]))
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
