// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Runs outer work: takes leases, calls the handlers, and settles.
extension Worker {
    /// Leases due errands for which there is room. Returns them with the time
    /// until more are due, or nil if none are known.
    ///
    /// `onlyInOrder`: whether other lanes are left out.
    package func claim(
        _ running: RunningLanes, in index: Int, onlyInOrder: Bool = false
    ) async throws -> (errands: [Errand], next: Duration?) {
        // Reading costs no commit. One is made only if something is due.
        let look = try await look(in: index)
        let wanted = look.lanes.compactMap { lane -> (lane: OpenLane, room: Int)? in
            guard Errands.isInOrder(lane.lane) || !onlyInOrder else { return nil }
            let isDue = lane.dueAt <= look.now && !(look.holds && Errands.isInOrder(lane.lane))
            let room = running.enter(lane.kind, lane.lane, isDue: isDue)
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
        return try await context.databases[index].read { reading in
            let clock = try Context.clock(reading)
            // A jump runs these itself, in order.
            let isJumping = try !held.isEmpty && ClockJump.current(reading) != nil
            let kinds = isJumping ? known.filter { !held.contains($0) } : known
            let lanes = try kinds.flatMap { kind in
                try Errands.lanes(kind, at: leases.now(reading), reading)
                    .map { OpenLane(kind: kind, lane: $0.lane, dueAt: $0.dueAt) }
            }
            let isOrdered = lanes.contains { Errands.isInOrder($0.lane) }
            let jump = isOrdered ? try ClockJump.current(reading) : nil
            return LaneLook(
                lanes: lanes.sorted { $0.dueAt < $1.dueAt }, clock: clock,
                now: clock.now(wall: wall), holds: jump.map { !$0.isPassed } ?? false)
        }
    }

    private func claim(
        _ wanted: [(lane: OpenLane, room: Int)], in index: Int
    ) async throws -> [Errand] {
        let (wall, leases) = (context.wall, context.leases)
        return try await context.databases[index].write { writing in
            let now = try Context.clock(writing).now(wall: wall)
            return try wanted.flatMap { lane, room in
                let lease = try leases.now(writing)
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
        do {
            let wall = context.wall
            let now = try await context.database(of: errand.customer).read { reading in
                try Context.clock(reading).now(wall: wall)
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
}

/// What a look at the lanes of a database found.
private struct LaneLook: Sendable {
    let lanes: [OpenLane]
    let clock: RealmClock
    let now: Timestamp
    /// Whether lanes in order wait, because a jump has not done its work.
    let holds: Bool

    /// The time until more is due.
    var pause: Duration? {
        lanes.map(\.dueAt).filter { $0 > now }.min().map {
            Duration.milliseconds(clock.wallMilliseconds(from: now, to: $0))
        }
    }
}
