// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension Realm {
    /// The longest sleep of a worker. Another process may have left work and
    /// died before it could ring here.
    static let workSleepMax = Duration.seconds(10)

    /// Does due work, inner and outer, until it is cancelled or the realm is
    /// closed. Called once for each realm and process: see ``Store/work()``.
    func work() async {
        await withDiscardingTaskGroup { group in
            for index in clusters.all.indices {
                group.addTask { await self.work(in: index) }
            }
        }
    }

    /// The same for one cluster, with lanes of its own, so that clusters do not
    /// wait for each other.
    private func work(in index: Int) async {
        let (lanes, bell) = (RunningLanes(), bells[index])
        var prunes = ports.wall.now.adding(seconds: Self.pruneStartSeconds)
        var tidies = ports.wall.now
        var watch = WallWatch(tidies)
        // An earlier process may have postponed work by a clock that ran ahead.
        await bringForwardQuietly(in: index)
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, !bell.isClosed {
                if watch.hasGoneBack(ports.wall.now) {
                    (prunes, tidies) = (ports.wall.now, ports.wall.now)
                    await bringForwardQuietly(in: index)
                }
                if ports.wall.now >= prunes {
                    prunes = ports.wall.now.adding(seconds: Self.prunePauseSeconds)
                    group.addTask {
                        await self.pruneQuietly(in: index)
                        // The clock of another machine may have postponed work.
                        await self.bringForwardQuietly(in: index)
                    }
                }
                if index > 0, ports.wall.now >= tidies {
                    tidies = ports.wall.now.adding(seconds: Self.tidyPauseSeconds)
                    await tidyQuietly(index)
                }
                var pause = Self.workSleepMax
                do {
                    let due = try await workDue(in: index)
                    if Task.isCancelled { break }
                    let (errands, next) = try await claim(lanes, in: index)
                    if Task.isCancelled {
                        for errand in errands { await release(errand) }
                        break
                    }
                    for errand in errands {
                        group.addTask {
                            lanes.leave(errand, wentWell: await self.run(errand))
                            bell.ring()
                        }
                    }
                    for next in [next, due.next] {
                        if let next { pause = min(next, pause) }
                    }
                } catch {
                    // A stopping worker does not read any more. That is not a
                    // fault.
                    if !bell.isClosed, !Task.isCancelled {
                        ports.log(
                            .error, "work could not be claimed", nil,
                            ["cluster": clusters.name(index), "fault": "\(error)"])
                    }
                }
                if pause > .zero { await rest(pause, bell) }
            }
            group.cancelAll()
        }
    }

    /// How often a worker checks what must be copied to or from another
    /// cluster. In wall time.
    static let tidyPauseSeconds: Int64 = 10

    /// Completes what is on its way between the home and another cluster.
    func tidy(_ index: Int) async throws {
        try await Self.bringHouse(from: home, to: clusters[index], at: ports.wall.now)
        try await settleArrivals(in: index)
        try await carryAudit(from: index)
    }

    private func tidyQuietly(_ index: Int) async {
        do { try await tidy(index) } catch {
            guard !isClosed else { return }
            ports.log(
                .warning, "a cluster could not be brought up to date", nil,
                ["cluster": clusters.name(index), "fault": "\(error)"])
        }
    }

    /// Does all work that is due now, and the work that this makes due. Returns
    /// how much it was. For tests and for jumps of a clock. Does not wait for
    /// any date.
    @discardableResult
    public func workOnce() async throws -> Int {
        var count = 0
        while true {
            var done = 0
            for index in clusters.all.indices { done += try await workOnce(in: index) }
            count += done
            if done == 0 || clusters.isOne { return count }
        }
    }

    private func workOnce(in index: Int) async throws -> Int {
        if index > 0 { try await tidy(index) }
        var count = 0
        while true {
            let due = try await workDue(in: index).count
            let (errands, _) = try await claim(RunningLanes(start: Errands.laneMax), in: index)
            if errands.isEmpty, due == 0 { return count }
            count += errands.count + due
            await withDiscardingTaskGroup { group in
                for errand in errands { group.addTask { _ = await self.run(errand) } }
            }
        }
    }

    /// Releases the leases of an earlier process, if only this process uses the
    /// database. The fences do not change.
    static func releaseLeft(in storage: any Storage) async throws {
        let isHeld = try await storage.read { try $0.first(Statement.Errands.anyHeld) != nil }
        guard isHeld else { return }
        try await storage.write { try $0.execute(Statement.Errands.releaseAll, []) }
    }

    /// Whether there is any work, due now or later. A cluster that does not
    /// answer may have some.
    func owesWork() async throws -> Bool {
        do {
            return try await clusters.readAll { reading in
                if try reading.first(Statement.Errands.any) != nil { return true }
                return try reading.first(Statement.DueWorks.any) != nil
            }.contains(true)
        } catch let fault as StorageFault where !clusters.isOne && Self.isAway(fault) {
            return true
        }
    }

    /// Leases due errands for which there is room. Returns them with the time
    /// until more are due, or nil if none are known.
    func claim(
        _ running: RunningLanes, in index: Int
    ) async throws -> (errands: [Errand], next: Duration?) {
        let (kinds, wall, leases) = (handlers.keys.sorted(), ports.wall.now, leases)
        let storage = clusters[index]
        // Reading costs no commit. One is made only if something is due.
        let (open, clock) = try await storage.read { reading in
            let clock = try Self.clock(reading)
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
                let now = try Self.now(writing, wall: wall)
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

    /// The time for the leases of this call.
    var leases: LeaseClock {
        LeaseClock(wall: ports.wall.now, isDatabases: ports.places.leasesInDatabaseTime)
    }

    static func now(_ reading: any Reading, wall: Timestamp) throws -> Timestamp {
        try clock(reading).now(wall: wall)
    }

    static func clock(_ reading: any Reading) throws -> RealmClock {
        guard let row = try reading.first(Statement.Realms.clock) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        return try ClockRow(row, hasLastEvent: false).clock
    }

    /// Runs one errand and settles it. Returns whether it is done. Errors are
    /// logged: the lease ends, and the errand is run again.
    @discardableResult
    func run(_ errand: Errand) async -> Bool {
        guard let handler = handlers[errand.kind] else { return false }
        do {
            let report = try await handler.perform(errand, in: self)
            try await settle(errand, report)
            return [.done, .settled(isDone: true)].contains(report.outcome)
        } catch is CancellationError {
            await release(errand)
        } catch is Errands.LeaseLost {
            ports.log(.warning, "an errand took longer than its lease", nil, facts(errand))
        } catch {
            ports.log(
                .error, "an errand failed", nil,
                facts(errand).merging(["fault": "\(error)"]) { $1 })
            await postpone(errand)
        }
        return false
    }

    /// Writes the result in a separate task that is never cancelled, so that it
    /// is recorded even if the worker is about to end.
    private func settle(_ errand: Errand, _ report: ErrandReport) async throws {
        guard let write = report.writeInLine else {
            return try await uncancelled(errand.customer) {
                try Errands.settle(errand, report, $0)
            }
        }
        _ = try await uncancelledLine(of: errand.customer) { line -> Ending<Void> in
            try write(line)
            try Errands.settle(errand, report, line.writing)
            return .commit(())
        }
    }

    /// Postpones an errand after a fault, each time by a longer pause. If this
    /// cannot be written either, the errand is retried when its lease is over.
    private func postpone(_ errand: Errand) async {
        do {
            let now = try await now(for: errand.customer)
            try await settle(errand, Self.retry(errand, at: now))
        } catch is Errands.LeaseLost {
            // The handler has settled it.
        } catch {
            ports.log(
                .warning, "an errand could not be postponed", nil,
                facts(errand).merging(["fault": "\(error)"]) { $1 })
        }
    }

    /// Releases the errand of a worker that ends, and wakes the others.
    private func release(_ errand: Errand) async {
        let storage = storage(of: errand.customer)
        let key = errand.key + [.integer(errand.fence)]
        let released = await Task {
            try await storage.write { try $0.execute(Statement.Errands.release, key) }
        }.result
        if case .success = released { wakeWorkers() }
    }

    private func facts(_ errand: Errand) -> [String: String] {
        ["kind": errand.kind, "attempt": "\(errand.attempt)"]
    }

    /// Sleeps until the bell rings, but no longer than `pause`.
    private func rest(_ pause: Duration, _ bell: WorkBell) async {
        let sleep = ports.sleep
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await bell.wait() }
            group.addTask { try? await sleep(pause) }
            await group.next()
            group.cancelAll()
        }
    }
}
