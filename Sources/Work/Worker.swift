// SPDX-License-Identifier: Apache-2.0

import Commerce
package import Storage

/// Does the inner and outer work of a context.
package struct Worker<Context: WorkContext>: Sendable {
    let context: Context

    package init(_ context: Context) { self.context = context }

    /// Does due work, inner and outer, until it is cancelled or the bells are
    /// closed. Called once for each context and process.
    package func work() async {
        await withDiscardingTaskGroup { group in
            for index in context.databases.indices {
                group.addTask { await work(in: index) }
            }
        }
    }

    /// The same for one database, with lanes of its own, so that databases do not
    /// wait for each other.
    private func work(in index: Int) async {
        let (lanes, bell) = (context.lanes[index], context.bells[index])
        let chores = context.chores.filter { $0.concerns(index) }
        var times = ChoreTimes(chores, at: context.wall)
        var watch = WallWatch(context.wall)
        // An earlier process may have postponed work by a clock that ran ahead.
        await bringForwardQuietly(in: index)
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, !bell.isClosed {
                if watch.hasGoneBack(context.wall) {
                    times.reset(to: context.wall)
                    await bringForwardQuietly(in: index)
                }
                for chore in times.due(of: chores, at: context.wall) {
                    if chore.isApart {
                        group.addTask { await chore.perform(context, index) }
                    } else {
                        await chore.perform(context, index)
                    }
                }
                let pause = await turn(in: index, lanes, bell, &group)
                if Task.isCancelled { break }
                if pause > .zero { await rest(pause, bell, watch, times) }
            }
            group.cancelAll()
        }
    }

    /// Does the inner work that is due, and begins the outer work for which there
    /// is room. Returns the time until there may be more.
    private func turn(
        in index: Int, _ lanes: RunningLanes, _ bell: WorkBell,
        _ group: inout DiscardingTaskGroup
    ) async -> Duration {
        do {
            let due = try await workDue(in: index)
            if Task.isCancelled { return .zero }
            let (errands, next) = try await claim(lanes, in: index)
            if Task.isCancelled {
                for errand in errands { await release(errand) }
                return .zero
            }
            for errand in errands {
                group.addTask {
                    await run(errand, in: lanes)
                    bell.ring()
                }
            }
            return [looksAfter, next, due.next].compactMap { $0 }.min() ?? workSleepMax
        } catch {
            // A stopping worker does not read any more. That is not a fault.
            if !bell.isClosed, !Task.isCancelled {
                context.report(
                    .error, "work could not be claimed",
                    ["cluster": context.name(ofDatabase: index), "fault": "\(error)"])
            }
            return workSleepMax
        }
    }

    /// Does all work of a database that is due now, and the work that this makes
    /// due. Returns how much it was. Does not wait for any date.
    package func workOnce(in index: Int) async throws -> Int {
        let lanes = RunningLanes(start: Errands.laneMax)
        var count = 0
        while true {
            let due = try await workDue(in: index).count
            let (errands, _) = try await claim(lanes, in: index)
            if errands.isEmpty, due == 0 { return count }
            count += errands.count + due
            await withDiscardingTaskGroup { group in
                for errand in errands { group.addTask { await run(errand, in: lanes) } }
            }
        }
    }

    /// Whether a database has any work, due now or later.
    package static func owesWork(_ reading: any Reading) throws -> Bool {
        if try reading.first(Statement.Errands.any) != nil { return true }
        return try reading.first(Statement.DueWorks.any) != nil
    }

    /// Sleeps until the bell rings, `pause` is over, or a chore is due. Every
    /// ``workSleepMax`` it compares the wall clock, which may have been set or have gone on
    /// while the machine slept: that costs no look at the database. Where nothing is due
    /// for long, it does so once a minute, because a thousand realms may be idle.
    private func rest(
        _ pause: Duration, _ bell: WorkBell, _ watch: WallWatch, _ times: ChoreTimes
    ) async {
        let end = context.wall.adding(milliseconds: pause.wholeMilliseconds)
        var watch = watch
        let tickMax = pause < looksAfter ? workSleepMax : idleTickMax
        while !Task.isCancelled, !bell.isClosed {
            let wall = context.wall
            let left = end.milliseconds(since: wall)
            guard left > 0, !watch.hasGoneBack(wall), !times.hasDue(at: wall) else { return }
            let tick = min(.milliseconds(left), tickMax)
            let isRung = await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    await bell.wait()
                    return true
                }
                group.addTask {
                    try? await context.sleep(tick)
                    return false
                }
                let isRung = await group.next() ?? true
                group.cancelAll()
                return isRung
            }
            // A sleep that ends early is a test's.
            if isRung || tick < tickMax || !context.isAlone { return }
        }
    }

    /// The longest time between two looks. Where other processes work too, one of them
    /// may have left work and died before it could ring here.
    private var looksAfter: Duration { context.isAlone ? .seconds(3600) : workSleepMax }
}

extension Duration {
    /// Rounded up.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

/// The longest sleep of a worker.
package let workSleepMax = Duration.seconds(10)

/// The longest time between two looks at the wall clock.
private let idleTickMax = Duration.seconds(60)
