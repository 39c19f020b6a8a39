// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension Realm {
    /// How long a worker sleeps at most: another process may have left
    /// something, and did not live to ring here.
    static let workSleepMax = Duration.seconds(10)

    /// Does what falls due, inner and outer, until it is cancelled or the
    /// realm closes. One caller a realm and process: see ``Store/work()``.
    func work() async {
        await withDiscardingTaskGroup { group in
            for index in clusters.all.indices {
                group.addTask { await self.work(in: index) }
            }
        }
    }

    /// On one cluster, with lanes of its own: none waits for another's.
    private func work(in index: Int) async {
        let (lanes, bell) = (RunningLanes(), bells[index])
        var prunes = ports.wall.now.adding(seconds: Self.pruneStartSeconds)
        var tidies = ports.wall.now
        var watch = WallWatch(tidies)
        // An earlier process may have put things off by a clock that ran ahead.
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
                        // Another machine's clock may have put something off.
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
                    // A worker that is told to stop reads nothing more: that is no fault.
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

    /// How often a cluster is looked at for what has still to come to it, or
    /// from it; wall time.
    static let tidyPauseSeconds: Int64 = 10

    /// Brings what is on its way between the home and another cluster.
    func tidy(_ index: Int) async throws {
        try await Self.bringHouse(from: home, to: clusters[index])
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

    /// Does everything that is due now, and what that makes due, and returns
    /// how much it was: for tests, and for jumps of a clock. Waits for no date.
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

    /// Frees what an earlier process held, where none but this one has the
    /// database. The fences stay where they are.
    static func releaseLeft(in storage: any Storage) async throws {
        let isHeld = try await storage.read { try $0.first(Statement.Errands.anyHeld) != nil }
        guard isHeld else { return }
        try await storage.write { try $0.execute(Statement.Errands.releaseAll, []) }
    }

    /// Whether anything is left to do, now or later; a cluster that does not
    /// answer may have something.
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

    /// Takes what is due and has room, and tells how long until more is; nil
    /// where nothing is known of.
    func claim(
        _ running: RunningLanes, in index: Int
    ) async throws -> (errands: [Errand], next: Duration?) {
        let (kinds, wall, leases) = (handlers.keys.sorted(), ports.wall.now, leases)
        let storage = clusters[index]
        // Looking costs no commit; only where something is due is one made.
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
        // A lane that gave all it was asked for may have more.
        return (claimed, claimed.isEmpty ? pause : .zero)
    }

    /// The time in which this call's leases are reckoned.
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

    /// Runs one errand and settles it, and tells whether it is done. What goes
    /// wrong is logged: the lease ends, and the errand is run again.
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

    /// What was done is written down also where the worker is about to end:
    /// in a task of its own, which nobody cancels.
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

    /// An errand that met a fault is tried again later and later. Where not even
    /// that can be written, it is tried again when its lease is over.
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

    /// A worker that ends leaves its errand to the others, who are told.
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

    /// Sleeps until the bell rings, and no longer than `pause`.
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
