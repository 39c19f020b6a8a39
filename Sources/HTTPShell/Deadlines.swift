// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The time-outs of all requests. Time-outs of equal length share a timer that
/// ticks eight times in this length and stops while there are none. A time-out
/// ends up to an eighth late and never early. A class, because all requests
/// share it.
final class Deadlines: Sendable {
    static let ticksInLimit = 8

    /// What is to end at one length of time.
    private struct Ring {
        var tick = 0
        var isTicking = false
        var nextNumber = 0
        /// By the tick that ends it, then by number.
        var actions: [Int: [Int: @Sendable () -> Void]] = [:]

        /// Returns whether it must begin to tick.
        mutating func add(
            _ action: @escaping @Sendable () -> Void, _ limit: Duration
        ) -> (Ticket, starts: Bool) {
            // The current tick may be nearly over, so it is not counted.
            let end = tick + Deadlines.ticksInLimit + 1
            let ticket = Ticket(limit: limit, tick: end, number: nextNumber)
            defer { isTicking = true }
            nextNumber += 1
            actions[end, default: [:]][ticket.number] = action
            return (ticket, !isTicking)
        }
    }

    /// A time-out that was set.
    struct Ticket: Sendable {
        fileprivate let limit: Duration
        fileprivate let tick: Int
        fileprivate let number: Int
    }

    private let sleep: @Sendable (Duration) async throws -> Void
    private let rings = Mutex<[Duration: Ring]>([:])

    init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.sleep = sleep
    }

    /// How long the timer of a time-out sleeps at once.
    static func tick(of limit: Duration) -> Duration { limit / ticksInLimit }

    /// Calls `action` once, after `limit`, unless it is removed before. It is called while
    /// the time-outs are locked, so that it is not running once ``remove(_:)`` has returned:
    /// it must be brief, and set or remove none.
    func set(_ limit: Duration, _ action: @escaping @Sendable () -> Void) -> Ticket {
        let (ticket, starts) = rings.withLock { rings in
            rings[limit, default: Ring()].add(action, limit)
        }
        if starts { Task { await self.run(limit) } }
        return ticket
    }

    /// Returns whether the time-out was over, and its action called.
    func remove(_ ticket: Ticket) -> Bool {
        rings.withLock { rings in
            rings[ticket.limit]?.actions[ticket.tick]?.removeValue(forKey: ticket.number) == nil
        }
    }

    /// Ticks until no time-out is left.
    private func run(_ limit: Duration) async {
        repeat {
            // Never ends early, because this task is never cancelled.
            try? await sleep(Self.tick(of: limit))
        } while ticked(limit)
    }

    /// Ends what is over. Returns whether any time-outs are left.
    private func ticked(_ limit: Duration) -> Bool {
        rings.withLock { rings in
            var ring = rings.removeValue(forKey: limit) ?? Ring()
            defer { rings[limit] = ring }
            ring.tick += 1
            for action in (ring.actions.removeValue(forKey: ring.tick) ?? [:]).values { action() }
            ring.isTicking = ring.actions.values.contains { !$0.isEmpty }
            if !ring.isTicking { ring.actions = [:] }
            return ring.isTicking
        }
    }
}
