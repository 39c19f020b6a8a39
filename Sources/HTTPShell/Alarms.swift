// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Calls functions after a time. Alarms of equal length are due in the order in
/// which they were set, so that they share one task, which sleeps until the
/// first of them: thousands of devices wait equally long. A class, because all
/// requests share it.
final class Alarms: Sendable {
    /// An alarm that was set.
    struct Number: Sendable {
        fileprivate let length: Duration
        fileprivate let place: Int
    }

    private struct Alarm {
        let due: Duration
        let action: @Sendable () -> Void
    }

    /// The alarms of one length. It stays when all are over, because the place of
    /// an alarm names it for ever: a request removes its alarm also after it was
    /// called, and must not remove another one. Requests wait for whole seconds, so there are
    /// few lengths.
    private struct Queue {
        /// Whether a task sleeps for them.
        var isRunning = false
        /// No alarm before this place is left.
        var first = 0
        var end = 0
        var alarms: [Int: Alarm] = [:]

        /// Returns the first alarm that is left.
        mutating func next() -> (place: Int, due: Duration)? {
            while first < end {
                if let alarm = alarms[first] { return (first, alarm.due) }
                first += 1
            }
            return nil
        }
    }

    private let sleep: @Sendable (Duration) async throws -> Void
    private let monotonic: @Sendable () -> Duration
    private let queues = Mutex<[Duration: Queue]>([:])

    init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        monotonic: @escaping @Sendable () -> Duration
    ) {
        (self.sleep, self.monotonic) = (sleep, monotonic)
    }

    /// Calls `action` once, after `length`, unless it is removed before.
    func set(_ length: Duration, _ action: @escaping @Sendable () -> Void) -> Number {
        let due = monotonic() + length
        let (place, starts) = queues.withLock { queues in
            var queue = queues.removeValue(forKey: length) ?? Queue()
            defer { queues[length] = queue }
            queue.alarms[queue.end] = Alarm(due: due, action: action)
            queue.end += 1
            defer { queue.isRunning = true }
            return (queue.end - 1, !queue.isRunning)
        }
        if starts { Task.detached { await self.run(length) } }
        return Number(length: length, place: place)
    }

    func remove(_ number: Number) { _ = take(number) }

    /// Whether a task sleeps for alarms of a length.
    func isRunning(_ length: Duration) -> Bool {
        queues.withLock { $0[length]?.isRunning == true }
    }

    private func take(_ number: Number) -> Alarm? {
        queues.withLock { $0[number.length]?.alarms.removeValue(forKey: number.place) }
    }

    /// Runs until no alarm of the length is left.
    private func run(_ length: Duration) async {
        var pause = length
        while let place = first(length) {
            // Never ends early, because this task is never cancelled.
            try? await sleep(pause)
            take(Number(length: length, place: place))?.action()
            pause = untilNext(length)
        }
    }

    private func first(_ length: Duration) -> Int? {
        queues.withLock { queues in
            let place = queues[length]?.next()?.place
            if place == nil { queues[length]?.isRunning = false }
            return place
        }
    }

    private func untilNext(_ length: Duration) -> Duration {
        let now = monotonic()
        let due = queues.withLock { $0[length]?.next()?.due } ?? now
        return min(max(due - now, .zero), length)
    }
}
