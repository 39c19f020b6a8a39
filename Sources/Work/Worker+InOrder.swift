// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension Worker {
    /// Runs the errands of lanes in order, until none of them is due or the caller is
    /// cancelled. Those that another worker runs are waited for. Returns what this
    /// process's came to since `before`, because its workers may have begun.
    package func workInOrder(since before: LaneTally) async throws -> LaneTally {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in context.databases.indices {
                group.addTask { try await workInOrder(in: index) }
            }
            try await group.waitForAll()
        }
        return tally - before
    }

    /// What this process's errands in order came to since it began.
    package var tally: LaneTally { context.lanes.reduce(LaneTally()) { $0 + $1.tally } }

    private func workInOrder(in index: Int) async throws {
        let lanes = context.lanes[index]
        while !Task.isCancelled {
            let leave = lanes.nextLeave()
            let errands = try await claim(lanes, in: index, onlyInOrder: true).errands
            if errands.isEmpty {
                guard try await owesInOrder(in: index) else { return }
                await rest(until: leave)
            }
            await withDiscardingTaskGroup { group in
                for errand in errands { group.addTask { await run(errand, in: lanes) } }
            }
        }
    }

    /// Whether lanes in order have errands that are due, leased or not.
    private func owesInOrder(in index: Int) async throws -> Bool {
        let (kinds, wall, leases) = (
            context.errandHandlers.keys.sorted(), context.wall, context.leases
        )
        return try await context.databases[index].read { reading in
            let now = try Context.clock(reading).now(wall: wall)
            let lease = try leases.now(reading)
            for kind in kinds {
                for lane in try Errands.names(ofLanes: kind, at: lease, reading)
                where Errands.isInOrder(lane) {
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
