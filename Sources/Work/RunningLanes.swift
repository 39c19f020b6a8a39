// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts how many errands of each lane this process runs, and how many it may
/// run. A lane begins with one at a time. Each success doubles its share, up to
/// ``Errands/laneMax``, and each failure returns it to one. So any number of
/// dead endpoints need little room, however long their time-outs are.
///
/// A class, because errands end in separate tasks.
package final class RunningLanes: Sendable {
    private struct Lane {
        var running = 0
        var share: Int
    }

    private let start: Int
    private let lanes = Mutex<[String: Lane]>([:])

    package init(start: Int = 1) {
        self.start = start
    }

    /// Takes all the room that a lane has, and returns how much. None if
    /// nothing is due.
    package func enter(_ kind: String, _ lane: String, isDue: Bool) -> Int {
        guard isDue else { return 0 }
        return lanes.withLock { lanes in
            let all = lanes.values.reduce(0) { $0 + $1.running }
            var found = lanes[Self.key(kind, lane)] ?? Lane(share: start)
            let room = max(
                min(found.share - found.running, Errands.runningMax - all), 0)
            found.running += room
            lanes[Self.key(kind, lane)] = found
            return room
        }
    }

    /// Returns room that was taken and not needed.
    package func give(back room: Int, _ kind: String, _ lane: String) {
        leave(Self.key(kind, lane), room: room) { $0 }
    }

    package func leave(_ errand: Errand, wentWell: Bool) {
        leave(Self.key(errand.kind, errand.lane), room: 1) { share in
            wentWell ? min(share * 2, Errands.laneMax) : 1
        }
    }

    private func leave(_ key: String, room: Int, _ change: (Int) -> Int) {
        lanes.withLock { lanes in
            guard var lane = lanes[key] else { return }
            lane.running -= room
            lane.share = change(lane.share)
            // A lane in its initial state need not be remembered.
            lanes[key] = lane.running == 0 && lane.share == start ? nil : lane
        }
    }

    private static func key(_ kind: String, _ lane: String) -> String { "\(kind)/\(lane)" }
}
