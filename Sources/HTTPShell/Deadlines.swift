// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The time-outs of all requests. Time-outs of equal length share a timer that
/// ticks eight times in this length and stops while there are none. A time-out
/// ends up to an eighth late and never early. A class, because all requests
/// share it.
final class Deadlines: Sendable {
    static let ticksInLimit = 8

    /// The waiting tasks with one length of time.
    private struct Ring {
        var tick = 0
        var isTicking = false
        var nextNumber = 0
        /// By the tick that ends the wait, then by number. Nil until the task
        /// is suspended.
        var waiting: [Int: [Int: CheckedContinuation<Void, Never>?]] = [:]
    }

    private struct Ticket: Sendable {
        let limit: Duration
        let tick: Int
        let number: Int
    }

    private let sleep: @Sendable (Duration) async throws -> Void
    private let rings = Mutex<[Duration: Ring]>([:])

    init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.sleep = sleep
    }

    /// How long the timer of a time-out sleeps at once.
    static func tick(of limit: Duration) -> Duration { limit / ticksInLimit }

    /// Returns after `limit`, or at once when the task is cancelled.
    func wait(_ limit: Duration) async {
        let ticket = take(limit)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if !put(continuation, ticket) { continuation.resume() }
            }
        } onCancel: {
            remove(ticket)?.resume()
        }
    }

    private func take(_ limit: Duration) -> Ticket {
        let (ticket, starts) = rings.withLock { rings in
            var ring = rings[limit] ?? Ring()
            // The current tick may be nearly over, so it is not counted.
            let tick = ring.tick + Self.ticksInLimit + 1
            let ticket = Ticket(limit: limit, tick: tick, number: ring.nextNumber)
            let starts = !ring.isTicking
            ring.nextNumber += 1
            ring.waiting[tick, default: [:]].updateValue(nil, forKey: ticket.number)
            ring.isTicking = true
            rings[limit] = ring
            return (ticket, starts)
        }
        if starts { Task { await self.run(limit) } }
        return ticket
    }

    /// Returns false if the wait is over already.
    private func put(_ continuation: CheckedContinuation<Void, Never>, _ ticket: Ticket) -> Bool {
        rings.withLock { rings in
            let places = rings[ticket.limit]?.waiting[ticket.tick]
            guard places?[ticket.number] != nil else { return false }
            rings[ticket.limit]?.waiting[ticket.tick]?
                .updateValue(continuation, forKey: ticket.number)
            return true
        }
    }

    private func remove(_ ticket: Ticket) -> CheckedContinuation<Void, Never>? {
        rings.withLock { rings in
            rings[ticket.limit]?.waiting[ticket.tick]?.removeValue(forKey: ticket.number) ?? nil
        }
    }

    /// Ticks until no task waits.
    private func run(_ limit: Duration) async {
        repeat {
            // Never ends early, because this task is never cancelled.
            try? await sleep(Self.tick(of: limit))
        } while ticked(limit)
    }

    /// Ends the waits that are over. Returns whether any are left.
    private func ticked(_ limit: Duration) -> Bool {
        let (over, isOn) = rings.withLock { rings in
            var ring = rings[limit] ?? Ring()
            ring.tick += 1
            let over = ring.waiting.removeValue(forKey: ring.tick) ?? [:]
            ring.isTicking = ring.waiting.values.contains { !$0.isEmpty }
            if !ring.isTicking { ring.waiting = [:] }
            rings[limit] = ring
            return (over.values.compactMap { $0 }, ring.isTicking)
        }
        for continuation in over { continuation.resume() }
        return isOn
    }
}
