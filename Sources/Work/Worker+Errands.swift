// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Runs outer work: takes leases, calls the handlers, and settles.
extension Worker {
    /// Leases due errands for which there is room. Returns them with the time
    /// until more are due, or nil if none are known.
    package func claim(
        _ running: RunningLanes, in index: Int
    ) async throws -> (errands: [Errand], next: Duration?) {
        let (kinds, wall, leases) = (
            context.errandHandlers.keys.sorted(), context.wall, context.leases
        )
        let storage = context.databases[index]
        // Reading costs no commit. One is made only if something is due.
        let (open, clock) = try await storage.read { reading in
            let clock = try Context.clock(reading)
            let lanes = try kinds.flatMap { kind in
                try Errands.lanes(kind, at: leases.now(reading), reading)
                    .map { (kind: kind, lane: $0.lane, dueAt: $0.dueAt) }
            }
            return (lanes.sorted { $0.dueAt < $1.dueAt }, clock)
        }
        let now = clock.now(wall: wall)
        let room = open.map { ($0, running.enter($0.kind, $0.lane, isDue: $0.dueAt <= now)) }
        let wanted = room.filter { $0.1 > 0 }
        let later = open.filter { $0.dueAt > now }.map(\.dueAt).min()
        let pause = later.map {
            Duration.milliseconds(clock.wallMilliseconds(from: now, to: $0))
        }
        if wanted.isEmpty { return ([], pause) }
        let claimed: [Errand]
        do {
            claimed = try await storage.write { writing in
                let now = try Context.clock(writing).now(wall: wall)
                return try wanted.flatMap { lane, limit in
                    try Errands.claim(
                        lane.kind, lane: lane.lane, limit: limit, now: now,
                        lease: leases.now(writing), writing)
                }
            }
        } catch {
            for (lane, limit) in wanted { running.give(back: limit, lane.kind, lane.lane) }
            throw error
        }
        for (lane, limit) in wanted {
            let taken = claimed.count { $0.kind == lane.kind && $0.lane == lane.lane }
            running.give(back: limit - taken, lane.kind, lane.lane)
        }
        // If a lane returned as many as requested, it may have more.
        return (claimed, claimed.isEmpty ? pause : .zero)
    }

    /// Runs one errand and settles it. Returns whether it is done. Errors are
    /// logged: the lease ends, and the errand is run again.
    @discardableResult
    package func run(_ errand: Errand) async -> Bool {
        guard let handler = context.errandHandlers[errand.kind] else { return false }
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
