// SPDX-License-Identifier: Apache-2.0

package import Commerce
import Storage

/// Runs outer work: takes leases, calls the handlers, and settles.
extension Worker {
    /// Leases due errands for which there is room. Returns them with the time
    /// until more are due, or nil if none are known.
    ///
    /// `clock`: whose lanes in order are not left out. Nil for all lanes.
    package func claim(
        _ running: RunningLanes, in index: Int, onlyInOrderOf clock: ClockID? = nil
    ) async throws -> (errands: [Errand], next: Duration?) {
        // Reading costs no commit. One is made only if something is due.
        var look = try await look(in: index)
        let inTurn = kindsInTurn
        if look.lanes.contains(where: { inTurn.contains($0.kind) && $0.isDue }) {
            try await followUp(in: index, waits: false)
            look = try await self.look(in: index)
        }
        let wanted = look.lanes.compactMap { lane -> (lane: OpenLane, room: Int)? in
            if inTurn.contains(lane.kind) { return nil }
            if let clock {
                guard Errands.isInOrder(lane.lane), Errands.clock(ofLane: lane.lane) == clock
                else { return nil }
            }
            let room = running.enter(lane.kind, lane.lane, isDue: lane.isDue)
            return room > 0 ? (lane, room) : nil
        }
        if wanted.isEmpty { return ([], look.pause) }
        let claimed: [Errand]
        do { claimed = try await claim(wanted, in: index) } catch {
            for (lane, room) in wanted { running.give(back: room, lane.kind, lane.lane) }
            throw error
        }
        for (lane, room) in wanted {
            let taken = claimed.count { $0.kind == lane.kind && $0.lane == lane.lane }
            running.give(back: room - taken, lane.kind, lane.lane)
        }
        // If a lane returned as many as requested, it may have more.
        return (claimed, claimed.isEmpty ? look.pause : .zero)
    }

    private func look(in index: Int) async throws -> LaneLook {
        let (known, held, wall, leases) = (
            context.errandHandlers.keys.sorted(), heldKinds, context.wall, context.leases
        )
        let isAlone = context.isAlone
        return try await context.databases[index].read { reading in
            let clock = try Context.clock(reading)
            // A jump runs these itself, in order.
            let isJumping = try !held.isEmpty && ClockJump.current(reading) != nil
            let kinds = isJumping ? known.filter { !held.contains($0) } : known
            var times = LaneTimes(clock, wall: wall)
            let lanes = try kinds.flatMap { kind in
                try Errands.lanes(kind, at: leases.now(reading), reading).map { found in
                    let isInOrder = Errands.isInOrder(found.lane)
                    let time = try times.time(of: found.lane, Context.self, reading)
                    return OpenLane(
                        kind: kind, lane: found.lane, dueAt: found.dueAt, clock: time.clock,
                        now: time.now, isHeld: isInOrder && time.holds)
                }
            }
            return LaneLook(
                lanes: lanes.sorted { $0.dueAt < $1.dueAt },
                // A caller that holds a lease may fail without a word.
                hasLeased: try isAlone && reading.first(Statement.Errands.any) != nil
                    && reading.first(Statement.Errands.anyHeld) != nil)
        }
    }

    private func claim(
        _ wanted: [(lane: OpenLane, room: Int)], in index: Int
    ) async throws -> [Errand] {
        let (wall, leases) = (context.wall, context.leases)
        return try await context.databases[index].write { writing in
            var times = LaneTimes(try Context.clock(writing), wall: wall)
            return try wanted.flatMap { lane, room in
                let lease = try leases.now(writing)
                let now = try times.time(of: lane.lane, Context.self, writing).now
                if Errands.isInOrder(lane.lane) {
                    return try Errands.claimFirst(
                        lane.kind, lane: lane.lane, now: now, lease: lease, writing)
                }
                return try Errands.claim(
                    lane.kind, lane: lane.lane, limit: room, now: now, lease: lease, writing)
            }
        }
    }

    /// Runs one errand of its lane, or skips it.
    func run(_ errand: Errand, in lanes: RunningLanes) async {
        if lanes.skips(errand) {
            await skip(errand)
            lanes.leaveSkipped(errand)
        } else {
            lanes.leave(errand, wentWell: await run(errand))
        }
    }

    private func skip(_ errand: Errand) async {
        guard let handler = context.errandHandlers[errand.kind] else { return }
        do {
            try await settle(errand, try await handler.skip(errand, in: context))
        } catch is Errands.LeaseLost {
            // Another worker has it.
        } catch {
            context.report(
                .error, "an errand failed",
                facts(errand).merging(["fault": "\(error)"]) { $1 })
            await postpone(errand)
        }
    }

    /// Runs one errand and settles it. Returns whether it is done. Errors are
    /// logged: the lease ends, and the errand is run again.
    @discardableResult
    package func run(_ errand: Errand) async -> Bool {
        guard let handler = context.errandHandlers[errand.kind] else { return false }
        defer { if handler.holdsUpDueWork { for turn in context.jumpTurns { turn.noteEnd() } } }
        do {
            let report = try await handler.perform(errand, in: context)
            try await settle(errand, report)
            return [.done, .settled(isDone: true)].contains(report.outcome)
        } catch is CancellationError {
            await release(errand)
        } catch is Errands.LeaseLost {
            context.report(.warning, "an errand took longer than its lease", facts(errand))
        } catch {
            context.report(
                .error, "an errand failed",
                facts(errand).merging(["fault": "\(error)"]) { $1 })
            await postpone(errand)
        }
        return false
    }

    /// Writes the result in a separate task that is never cancelled, so that it
    /// is recorded even if the worker is about to end.
    private func settle(_ errand: Errand, _ report: ErrandReport<Context.Line>) async throws {
        guard let write = report.writeInLine else {
            let storage = context.database(of: errand.customer)
            return try await Task {
                try await storage.write { try Errands.settle(errand, report, $0) }
            }.value
        }
        try await context.uncancelledLine(of: errand.customer) { line in
            try write(line)
            try Errands.settle(errand, report, line.writing)
        }
    }

    /// Postpones an errand after a fault, each time by a longer pause. If this
    /// cannot be written either, the errand is retried when its lease is over.
    private func postpone(_ errand: Errand) async {
        // Another date would let what comes after it overtake it. Its lease runs out.
        if Errands.isInOrder(errand.lane) { return }
        do {
            let wall = context.wall
            let lane = errand.lane
            let now = try await context.database(of: errand.customer).read { reading in
                var times = LaneTimes(try Context.clock(reading), wall: wall)
                return try times.time(of: lane, Context.self, reading).now
            }
            try await settle(errand, .retry(errand, at: now))
        } catch is Errands.LeaseLost {
            // The handler has settled it.
        } catch {
            context.report(
                .warning, "an errand could not be postponed",
                facts(errand).merging(["fault": "\(error)"]) { $1 })
        }
    }

    /// Releases the errand of a worker that ends, and wakes the others.
    func release(_ errand: Errand) async {
        let storage = context.database(of: errand.customer)
        let key = errand.key + [.integer(errand.fence)]
        let released = await Task {
            try await storage.write { try $0.execute(Statement.Errands.release, key) }
        }.result
        if case .success = released { context.wakeWorkers() }
    }

    private func facts(_ errand: Errand) -> [String: String] {
        ["kind": errand.kind, "attempt": "\(errand.attempt)"]
    }
}

/// A lane that has errands, with the date of the first one that is not leased.
private struct OpenLane: Sendable {
    let kind: String
    let lane: String
    let dueAt: Timestamp
    /// By which its errands fall due.
    let clock: RealmClock
    let now: Timestamp
    /// Whether it waits, because its clock's jump has not done its work.
    let isHeld: Bool

    var isDue: Bool { dueAt <= now && !isHeld }
}

/// The clocks of lanes, each of which is read once.
private struct LaneTimes {
    struct Time {
        let clock: RealmClock
        let now: Timestamp
        /// Whether lanes in order wait.
        let holds: Bool
    }

    private let first: RealmClock
    private let wall: Timestamp
    private var known: [ClockID: Time] = [:]

    init(_ first: RealmClock, wall: Timestamp) { (self.first, self.wall) = (first, wall) }

    /// After the last instant of a clock that was removed, everything is due.
    mutating func time<Context: WorkContext>(
        of lane: String, _ context: Context.Type, _ reading: any Reading
    ) throws -> Time {
        guard Errands.isInOrder(lane) else {
            return Time(clock: first, now: first.now(wall: wall), holds: false)
        }
        let id = Errands.clock(ofLane: lane)
        if let time = known[id] { return time }
        let clock =
            id == .realm
            ? first
            : try Context.clock(reading, of: id) ?? .standing(at: RealmClock.latest)
        let jump = try ClockJump.current(reading, of: id)
        let time = Time(
            clock: clock, now: clock.now(wall: wall), holds: jump.map { !$0.isPassed } ?? false)
        known[id] = time
        return time
    }
}

/// What a look at the lanes of a database found.
private struct LaneLook: Sendable {
    let lanes: [OpenLane]
    /// Whether a worker that looks seldom must look soon, because another task holds a
    /// lease on an errand.
    let hasLeased: Bool

    /// The time until more is due.
    var pause: Duration? {
        let pauses = lanes.filter { $0.dueAt > $0.now }.map {
            Duration.milliseconds($0.clock.wallMilliseconds(from: $0.now, to: $0.dueAt))
        }
        return (hasLeased ? pauses + [workSleepMax] : pauses).min()
    }
}
