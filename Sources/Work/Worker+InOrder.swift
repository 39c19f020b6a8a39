// SPDX-License-Identifier: Apache-2.0

package import Commerce
import Storage

extension Worker {
    /// Runs the errands of a clock's lanes in order, until none of them is due or the
    /// caller is cancelled. Those that another worker runs are waited for. Returns what
    /// this process's came to since `before`, because its workers may have begun.
    package func workInOrder(
        of clock: ClockID, since before: LaneTally
    ) async throws -> LaneTally {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in context.databases.indices {
                group.addTask { try await workInOrder(of: clock, in: index) }
            }
            try await group.waitForAll()
        }
        return tally(of: clock) - before
    }

    /// What this process's errands in a clock's lanes in order came to since it began.
    package func tally(of clock: ClockID) -> LaneTally {
        context.lanes.reduce(LaneTally()) { $0 + $1.tally(of: clock) }
    }

    private func workInOrder(of clock: ClockID, in index: Int) async throws {
        let lanes = context.lanes[index]
        while !Task.isCancelled {
            let leave = lanes.nextLeave()
            let errands = try await claim(lanes, in: index, onlyInOrderOf: clock).errands
            if errands.isEmpty {
                guard try await owesInOrder(of: clock, in: index) else { return }
                await rest(until: leave)
            }
            await withDiscardingTaskGroup { group in
                for errand in errands { group.addTask { await run(errand, in: lanes) } }
            }
        }
    }

    /// Whether lanes in order have errands that are due, leased or not.
    private func owesInOrder(of clock: ClockID, in index: Int) async throws -> Bool {
        let (kinds, wall, leases) = (
            context.errandHandlers.keys.sorted(), context.wall, context.leases
        )
        return try await context.databases[index].read { reading in
            guard let now = try Context.clock(reading, of: clock)?.now(wall: wall) else {
                return false
            }
            let lease = try leases.now(reading)
            for kind in kinds {
                for lane in try Errands.names(ofLanes: kind, at: lease, reading)
                where Errands.isInOrder(lane) && Errands.clock(ofLane: lane) == clock {
                    let first = try Errands.first(
                        kind, lane: lane, now: now, lease: lease, reading)
                    if first != nil { return true }
                }
            }
            return false
        }
    }

    /// Waits until an errand of this process ends, or a moment for one of another
    /// process.
    private func rest(until leave: AsyncStream<Void>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in leave { return } }
            group.addTask { try? await context.sleep(.milliseconds(100)) }
            await group.next()
            group.cancelAll()
        }
    }
}
