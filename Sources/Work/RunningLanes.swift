// SPDX-License-Identifier: Apache-2.0

package import Commerce
import Synchronization

/// Counts how many errands of each lane this process runs, and how many it may
/// run. A lane begins with one at a time. Each success doubles its share, up to
/// ``Errands/laneMax``, and each failure returns it to one. So any number of
/// dead endpoints need little room, however long their time-outs are.
///
/// A lane in order has one at a time. After ``Errands/failuresMax`` failures in a
/// row, its errands that are due by then are skipped.
///
/// A class, because errands end in separate tasks.
package final class RunningLanes: Sendable {
    private struct Lane {
        var running = 0
        var share: Int
    }

    /// The failures in a row of a lane in order.
    private struct Failures {
        let clock: ClockID
        var count = 0
        /// What was due by then is skipped, once there are enough of them.
        var until: Timestamp?
    }

    private struct State {
        var lanes: [String: Lane] = [:]
        var failures: [String: Failures] = [:]
        var tallies: [ClockID: LaneTally] = [:]
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    private let start: Int
    private let state = Mutex(State())

    package init(start: Int = 1) {
        self.start = start
    }

    /// Takes all the room that a lane has, and returns how much. None if
    /// nothing is due.
    package func enter(_ kind: String, _ lane: String, isDue: Bool) -> Int {
        guard isDue else { return 0 }
        return state.withLock { state in
            let all = state.lanes.values.reduce(0) { $0 + $1.running }
            var found = state.lanes[Self.key(kind, lane)] ?? Lane(share: start)
            let share = Errands.isInOrder(lane) ? 1 : found.share
            let room = max(min(share - found.running, Errands.runningMax - all), 0)
            found.running += room
            state.lanes[Self.key(kind, lane)] = found
            return room
        }
    }

    /// Returns room that was taken and not needed.
    package func give(back room: Int, _ kind: String, _ lane: String) {
        leave(Self.key(kind, lane), room: room) { $0 }
    }

    package func leave(_ errand: Errand, wentWell: Bool) {
        if Errands.isInOrder(errand.lane) { count(errand, wentWell: wentWell) }
        leave(Self.key(errand.kind, errand.lane), room: 1) { share in
            wentWell ? min(share * 2, Errands.laneMax) : 1
        }
    }

    /// Leaves with an errand that was skipped.
    package func leaveSkipped(_ errand: Errand) {
        let clock = Errands.clock(ofLane: errand.lane)
        state.withLock { $0.tallies[clock, default: LaneTally()].skipped += 1 }
        leave(Self.key(errand.kind, errand.lane), room: 1) { $0 }
    }

    /// Whether an errand is to be skipped.
    func skips(_ errand: Errand) -> Bool {
        state.withLock { state in
            let key = Self.key(errand.kind, errand.lane)
            guard let failures = state.failures[key], failures.count >= Errands.failuresMax,
                let until = failures.until, let dueAt = errand.dueAt,
                let leasedAt = errand.leasedAt
            else { return false }
            if dueAt <= until, leasedAt >= until { return true }
            // It belongs to a later jump, or the clock was set back.
            state.failures[key] = nil
            return false
        }
    }

    /// Another jump of a clock begins, so that each of its lanes is tried again.
    package func forgetFailures(of clock: ClockID) {
        state.withLock { state in
            state.failures = state.failures.filter { $0.value.clock != clock }
        }
    }

    /// What happened in a clock's lanes in order since the process began.
    package func tally(of clock: ClockID) -> LaneTally {
        state.withLock { $0.tallies[clock] ?? LaneTally() }
    }

    /// Returns a stream that yields when the next errand leaves.
    func nextLeave() -> AsyncStream<Void> {
        let (stream, wake) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.waiting.append(wake) }
        return stream
    }

    private func count(_ errand: Errand, wentWell: Bool) {
        let clock = Errands.clock(ofLane: errand.lane)
        state.withLock { state in
            let key = Self.key(errand.kind, errand.lane)
            guard !wentWell else {
                state.tallies[clock, default: LaneTally()].done += 1
                state.failures[key] = nil
                return
            }
            state.tallies[clock, default: LaneTally()].failed += 1
            state.failures[key, default: Failures(clock: clock)].count += 1
            state.failures[key]?.until = errand.leasedAt
        }
    }

    private func leave(_ key: String, room: Int, _ change: (Int) -> Int) {
        let waiting = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            defer { state.waiting = [] }
            guard var lane = state.lanes[key] else { return state.waiting }
            lane.running -= room
            lane.share = change(lane.share)
            // A lane in its initial state need not be remembered.
            state.lanes[key] = lane.running == 0 && lane.share == start ? nil : lane
            return state.waiting
        }
        for wake in waiting { wake.yield() }
    }

    private static func key(_ kind: String, _ lane: String) -> String { "\(kind)/\(lane)" }
}

/// What the errands of lanes in order came to.
package struct LaneTally: Hashable, Sendable {
    package var done = 0
    package var failed = 0
    package var skipped = 0

    package static func - (one: LaneTally, other: LaneTally) -> LaneTally {
        LaneTally(
            done: one.done - other.done, failed: one.failed - other.failed,
            skipped: one.skipped - other.skipped)
    }

    package static func + (one: LaneTally, other: LaneTally) -> LaneTally {
        LaneTally(
            done: one.done + other.done, failed: one.failed + other.failed,
            skipped: one.skipped + other.skipped)
    }
}
